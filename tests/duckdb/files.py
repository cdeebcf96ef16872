#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files: images by name, mapped and opened again when they are replaced; other systems' files, Parquet's own filters; and what is
refused, above all whatever is outside TAMIS_DIRECTORY."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import duck
from duck import FILES, Tap, command, open_database, path_of

tap = Tap()
VECTORS = os.path.join(duck.ROOT, "tests", "vectors")


def names(s):
    command("build", "-q", "--keys", "int64", "seen.tamis", "-", stdin="1\n2\n3\n")
    tap.equal(s.one("SELECT count(*) FROM range(1000) r(k) WHERE tamis_has('seen.tamis', k)") >= 3, True, "a file answers by its name")
    tap.equal(s.one("SELECT tamis_open('seen.tamis')"), "seen.tamis", "tamis_open returns the name")
    tap.equal(s.one("SELECT tamis_open('seen.tamis', 'seen')"), "seen", "or another one")
    tap.equal(s.rows("SELECT tamis_has('seen', 2), tamis_items('seen')"), [(True, 3)], "which answers")
    command("build", "-q", "-f", "--keys", "int64", "-p", "1e-9", "seen.tamis", "-", stdin="7\n8\n9\n10\n")
    tap.equal(s.rows("SELECT tamis_has('seen', 2), tamis_has('seen', 7), tamis_items('seen.tamis')"), [(False, True, 4)],
              "a file that is replaced is opened again, under all its names")
    s.rows("SELECT tamis_open(tamis_build(k, 'blocked:fpr=1e-9'), 'seen') FROM range(100, 105) r(k)")
    tap.equal(s.rows("SELECT tamis_items('seen'), tamis_items('seen.tamis')"), [(5, 4)], "a name can be given to another filter")
    tap.equal(s.rows("SELECT tamis_close('seen'), tamis_close('seen')"), [(True, False)], "and taken away")
    tap.check("cannot open" in s.error("SELECT tamis_has('seen', 7)"), "then it is unknown")
    s.rows("CREATE TABLE v AS SELECT tamis_build(k) AS f FROM range(10) r(k)")
    s.rows("COPY (SELECT f FROM v) TO '" + path_of("v.parquet") + "' (FORMAT parquet)")
    tap.equal(s.one(f"SELECT tamis_items(f) FROM '{path_of('v.parquet')}'"), 10, "an image in a Parquet file is a BLOB")
    got = s.rows(f"SELECT tamis_open(content, 'read'), tamis_items(content) FROM read_blob('{path_of('seen.tamis')}')")
    tap.equal(got, [("read", 4)], "and DuckDB's read_blob returns images")
    os.remove(path_of("seen.tamis"))
    tap.check("cannot open" in s.error("SELECT tamis_has('seen.tamis', 7)"), "a file that is gone is an error")


def refusals(s):
    os.symlink("/etc/hostname", path_of("link.tamis"))
    os.mkdir(path_of("folder.tamis"))
    os.mkfifo(path_of("pipe.tamis"))
    with open(path_of("text.tamis"), "w", encoding="ascii") as file:
        file.write("not an image\n" * 100)
    for name, word in (("link.tamis", "regular"), ("folder.tamis", "regular"), ("pipe.tamis", "regular"), ("text.tamis", "not"), (".hidden", "dot"),
                       ("../text.tamis", "slash"), ("/etc/hostname", "slash"), ("x" * 300, "bytes"), ("gone.tamis", "cannot open")):
        for call in (f"tamis_has('{name}', 5)", f"tamis_open('{name}')", f"tamis_open('{name}', 'x')"):
            tap.check(word in s.error(f"SELECT {call}"), f"{call[:60]} is refused")
    outside = os.path.relpath("/etc/hostname", FILES)
    for name in ("/etc/hostname", outside, "link.tamis", "gone.parquet", "folder.tamis", "pipe.tamis", "x" * 5000):
        for call in (f"tamis_read('{name}', format := 'parquet')", f"tamis_parquet_has('{name}', 'c', 1)"):
            tap.check("tamis: " in s.error(f"FROM {call}"), f"{call[:60]} is refused")
    tap.check("outside" in s.error(f"FROM tamis_read('{outside}', format := 'parquet')"), "whatever leads out of the directory, too")
    beside = FILES + "-beside"
    os.mkdir(beside)
    with open(os.path.join(beside, "t.tamis"), "w", encoding="ascii") as file:
        file.write("something")
    tap.check("outside" in s.error(f"FROM tamis_read('{beside}/t.tamis')"), "and a directory whose name begins as that one's")
    shutil.rmtree(beside)


def foreign(s):
    with open(path_of("listed"), "w", encoding="ascii") as file:
        file.write("".join(f"host{i}.example\n" for i in range(1000)))
    command("build", "-q", "-s", "guava:capacity=1000,fpr=1%", "g.tamis", "listed")
    command("convert", "-q", "g.tamis", "filter.guava", "--to", "guava")
    rows = s.rows("SELECT format, kind FROM tamis_read('filter.guava', format := 'guava')")
    tap.equal(rows, [("guava", "guava")], "a file of Guava has a filter")
    s.rows("SELECT tamis_open(image, 'guava') FROM tamis_read('filter.guava', format := 'guava')")
    tap.equal(s.one("SELECT count(*) FROM range(1000) r(i) WHERE tamis_has('guava', 'host' || i || '.example')"), 1000, "which answers")
    tap.check("must be said" in s.error("FROM tamis_read('filter.guava')"), "nothing is guessed about its format")
    tap.check("tamis: " in s.error("FROM tamis_read('filter.guava', format := 'parquet')"), "a wrong one is refused")
    tap.check("tamis: " in s.error("FROM tamis_read('filter.guava', format := 'guavva')"), "and an unknown one")
    tap.equal(s.rows("SELECT kind, tamis_items(image) FROM tamis_read('g.tamis')"), [("guava", 1000)], "an image of ours is read, too")


def parquet(s):
    file = path_of("t.parquet")
    s.rows("CREATE TABLE p AS SELECT i // 10 AS k, 'word ' || i // 10 AS w, (i // 10)::INTEGER AS n, (i // 10)::DOUBLE / 4 - 100 AS d, "
           "(i // 10)::FLOAT AS f FROM range(60000) r(i)")
    s.rows(f"COPY p TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 20480)")
    listed = s.rows("SELECT filter, keys FROM tamis_read('t.parquet')")
    tap.equal(len(listed), 15, "a Parquet file has filters for columns and row groups")
    tap.check(listed[0][0].startswith("column k, row group 0") and {k for _, k in listed} == {"int64", "bytes", "int32", "double", "float"},
              "with the encoding of their keys")
    columns = {"k": "{}", "w": "'word {}'", "n": "{}", "d": "{}::DOUBLE / 4 - 100", "f": "{}::FLOAT"}
    for column, key in columns.items():
        missed = found = 0
        for i in range(0, 6000, 150):
            literal = key.format(i)
            groups = dict(s.rows(f"FROM tamis_parquet_has('t.parquet', '{column}', {literal})"))
            of_key = {row[0] for row in s.rows(f"SELECT DISTINCT (rowid // 20480) FROM p WHERE {column} = {literal}")}
            missed += any(not groups[g] for g in of_key)
            found += sum(groups.values()) - len(of_key)
        tap.check(missed == 0, f"{column}: the row groups of 40 keys may have them")
        tap.check(found <= 8, f"{column}: of the others {found} of 80 may")
    images = s.rows("SELECT filter, image FROM tamis_read('t.parquet') WHERE filter LIKE 'column k,%'")
    for filter_, image in images:
        group = int(filter_.split("row group ")[1].split(",")[0])
        tap.equal(s.one(f"SELECT bool_and(tamis_has(?, k)) FROM p WHERE rowid // 20480 = {group}", image), True, f"{filter_} as an image")
    for zero in ("'0.0'::DOUBLE", "'-0.0'::DOUBLE", "'-0.0'::FLOAT", "0"):
        tap.equal(dict(s.rows(f"FROM tamis_parquet_has('t.parquet', 'd', {zero})"))[0], True, f"0 and -0 are one: {zero}")
    for call, word in {"'nothing', 5": "nothing", "'w', 5": "never one of them", "'k', 'x'": "not an int64", "'k', 1.5": "int64", "'k', NULL": "NULL",
                       "'n', 3000000000": "int32", "'k', DATE '2024-01-01'": "as it is stored", "'k', [1]": "as it is stored"}.items():
        said = s.error(f"FROM tamis_parquet_has('t.parquet', {call})")
        tap.check("tamis: " in said and word in said, f"{call}: {said.splitlines()[0][:100]}")
    whole = os.path.getsize(file)
    with open(file, "rb") as source:
        bytes_ = source.read()
    for at in list(range(whole - 600, whole, 7)) + [0, 100, whole // 2]:
        with open(path_of("bad.parquet"), "wb") as target:
            target.write(bytes_[:at] + bytes([bytes_[at] ^ 0x41]) + bytes_[at + 1:])
        try:
            s.rows("SELECT * FROM tamis_read('bad.parquet')")
        except duck.duckdb.Error as e:
            assert "tamis: " in str(e), e
    tap.check(True, "damaged ones are read or refused")


def no_directory():
    """Without TAMIS_DIRECTORY no function opens a file, whatever DuckDB allows."""
    program = f"import duckdb; c = duckdb.connect(config={{'allow_unsigned_extensions': 'true'}}); c.execute(\"LOAD '{duck.BUILT}'\")\n" \
              "for q in (\"SELECT tamis_has('g.tamis', 5)\", \"SELECT tamis_open('g.tamis')\", \"FROM tamis_read('g.tamis')\",\n" \
              "          \"FROM tamis_parquet_has('t.parquet', 'k', 1)\"):\n" \
              "    try: print('answered', c.execute(q).fetchall())\n" \
              "    except duckdb.Error as e: print('directory' in str(e))\n" \
              "print(c.execute(\"SELECT tamis_open(tamis_build(5), 'x'), tamis_has('x', 5)\").fetchall()[0][0])"
    environment = {name: value for name, value in os.environ.items() if name != "TAMIS_DIRECTORY"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=FILES, check=False)
    tap.equal(done.stdout.split(), ["True"] * 4 + ["x"], "without a directory no file is opened, and names of images work")
    if done.stderr:
        print("#", done.stderr[-500:])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=FILES, check=False,
                          env={**environment, "TAMIS_DIRECTORY": path_of("is not there")})
    tap.check("TAMIS_DIRECTORY" in done.stderr and not done.stdout, "a directory that is not there is an error of LOAD")


def main():
    s = open_database(threads=2)
    for part in (names, refusals, foreign, parquet):
        part(s)
    no_directory()
    return tap.end()


sys.exit(main())
