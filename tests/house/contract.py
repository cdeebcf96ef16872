#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contract.py: docs/design.md lists every field of the kind descriptor and of its groups, and no other."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "support"))
import console

tap = console.Tap()


def fields_of(header, struct):
    """The members of a struct with their types, in a dictionary."""
    body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (struct, struct), header, re.S).group(1)
    fields = {}
    for member in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";")[:-1]:
        name = re.search(r"\(\*(\w+)\)", member) or re.search(r"(\w+)(\[\w+\])?$", member)
        fields[name.group(1)] = member
    return fields


def structs_of(header):
    """tamis_kind, and every group that a field of it points to."""
    fields = fields_of(header, "tamis_kind")
    groups = [re.search(r"const (tamis_\w+) \*\w+$", member) for member in fields.values()]
    return {"tamis_kind", *(g.group(1) for g in groups if g)}


def rows_of(section):
    """The table: each struct with the names in the last column of its rows."""
    rows, struct = {}, None
    for row in re.findall(r"^\| (?:`(tamis_\w+)` )?\|[^|]*\|([^|]*)\|$", section, re.M):
        struct = row[0] or struct
        rows.setdefault(struct, set()).update(re.findall(r"`(\w+)`", row[1]))
    return rows


def differences(header, section):
    """What page and structs do not agree on, a line each."""
    rows = rows_of(section)
    count = re.search(r"struct of (\d+) fields", section).group(1)
    fields = {struct: set(fields_of(header, struct)) for struct in structs_of(header)}
    if int(count) != len(fields["tamis_kind"]):
        yield f"tamis_kind has {len(fields['tamis_kind'])} fields, the page says {count}"
    for struct in sorted(set(rows) | set(fields)):
        for name in sorted(rows.get(struct, set()) ^ fields.get(struct, set())):
            yield f"{struct}.{name} is only {'on the page' if name in rows.get(struct, ()) else 'in kind.h'}"


header = (ROOT / "src" / "kinds" / "kind.h").read_text()
page = (ROOT / "docs" / "design.md").read_text()
section = page[page.index("\n## 5. "):page.index("\n## 6. ")]
found = list(differences(header, section))
tap.result(not found, "the table of the design is the kind contract", found)
for name, old, new in (("a field that the page lacks", "`similarity` |", "|"),
                       ("a field that is gone", "`similarity` |", "`similarity`, `press` |"),
                       ("a wrong number of fields", "struct of ", "struct of 1")):
    tap.result(list(differences(header, section.replace(old, new))), f"the checker catches {name}")
sys.exit(tap.end())
