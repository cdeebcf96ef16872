# SPDX-License-Identifier: MIT
"""Pages about SQL engines: blocks of ```sql with what they print as ```text after them, and of ```console with commands. `sql` and
`shell` are objects whose prints(text) returns what comes."""
import difflib
import re

FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)


def commands_of(block):
    """Pairs of a command and what it must print."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        else:
            pairs[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in pairs]


def blocks_of(page):
    """What is run: sort, text, the output that is shown, and where that is in the page (start and end)."""
    found = list(FENCE.finditer(page))
    blocks = []
    for i, fence in enumerate(found):
        sort, text = fence.groups()
        if sort == "text":
            assert i > 0 and found[i - 1].group(1) == "sql" and not page[found[i - 1].end():fence.start()].strip(), \
                f"an output without statements: {text}"
            continue
        assert sort in ("sql", "console"), f"a block of another sort: {sort}"
        has_output = sort == "sql" and i + 1 < len(found) and found[i + 1].group(1) == "text"
        output = found[i + 1] if has_output else None
        blocks.append((sort, text, output.group(2).rstrip("\n") if output else "", output.span(2) if output else fence.span(2)))
    return blocks


def heading_before(page, at):
    return re.findall(r"^#+ (.*)", FENCE.sub("", page[:at]), re.M)[-1]


def compare(tap, got, wanted, name):
    if not tap.check(got == wanted, name):
        for line in difflib.unified_diff(wanted.splitlines(), got.splitlines(), "page", "run", lineterm=""):
            print(f"#   {line}", flush=True)


def run_console(shell, text):
    """What the block should look like."""
    lines = []
    for command, _ in commands_of(text):
        output = shell.prints(command)
        lines += [f"$ {command}", *([output] if output else [])]
    return "\n".join(lines) + "\n"


def run_page(tap, page, sql, shell):
    """The page with the outputs that came."""
    parts, done = [], 0
    for sort, text, wanted, (start, end) in blocks_of(page):
        name = f"{heading_before(page, start)}: {text.strip().splitlines()[0][:60]}"
        if sort == "sql":
            got = sql.prints(text)
            compare(tap, got, wanted, name)
            new = got + "\n" if got and page[start - 8:start] == "```text\n" else page[start:end]
        else:
            new = run_console(shell, text)
            compare(tap, new, text, name)
        parts += [page[done:start], new]
        done = end
    return "".join(parts) + page[done:]
