# SPDX-License-Identifier: MIT
"""Our side of tests/peers/parquet.sh, on the shared library.

    check < CASES            filters that a peer wrote: read, compared with ours of the same keys
    make SEED N              prints cases with filters that we wrote
    patch SEED < CASES       puts filters of ours into the peer's files, and prints cases of those
    sizes WRITER < LINES     "size KEYS RATE BYTES", as the peer has it
    duckdb SEED FOLDER       DuckDB's files and answers, both ways
    pyarrow SEED FOLDER      pyarrow's files

A case is lines of text, bytes in hex:

    filter HEX                       header and bitset; or, in a file,
    file COLUMN GROUP NAME PATH
    add HEX                          every key that is in it
    ask ANSWER HEX                   0 or 1
    end
"""
import ctypes
import math
import os
import random
import struct
import sys

# ---- The library ---------------------------------------------------------------------------------

lib = ctypes.CDLL(os.environ["TAMIS_SO"])


class Found(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "choose", "kind", "keys")] + [
        ("offset", ctypes.c_uint64), ("size", ctypes.c_uint64)]


PUT = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
EACH = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.POINTER(Found))
pointer, text, size_t = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
for name, result, arguments in (
        ("why", text, []),
        ("create", ctypes.c_int, [pointer, text]),
        ("import", ctypes.c_int, [pointer, text, text, size_t]),
        ("export", ctypes.c_int, [pointer, text, PUT, pointer]),
        ("find", ctypes.c_int, [text, text, size_t, EACH, pointer]),
        ("add", ctypes.c_int, [pointer, text, size_t]),
        ("has", ctypes.c_bool, [pointer, text, size_t]),
        ("free", None, [pointer]),
        ("parquet_bytes", ctypes.c_uint64, [text, ctypes.c_uint64, ctypes.c_double])):
    function = getattr(lib, "tamis_" + name)
    function.restype, function.argtypes = result, arguments


def demand(is_true, *words):
    if not is_true:
        print("differs:", *words)
        sys.exit(1)


def well(status):
    demand(status == 0, lib.tamis_why().decode())


class Filter:
    """A filter of ours, new by its size in bytes or from a format's bytes."""

    def __init__(self, size=None, format=None, data=None):
        self.handle = pointer()
        if size:
            spec = b"split:capacity=1000,hash=xxh64,index=parquet,size=%d" % size
            well(lib.tamis_create(ctypes.byref(self.handle), spec))
        else:
            well(lib.tamis_import(ctypes.byref(self.handle), format.encode(), data, len(data)))

    def __del__(self):
        lib.tamis_free(self.handle)

    def add(self, keys):
        for key in keys:
            well(lib.tamis_add(self.handle, key, len(key)))
        return self

    def has(self, key):
        return lib.tamis_has(self.handle, key, len(key))

    def export(self, format):
        parts = []
        put = PUT(lambda ctx, data, size: parts.append(ctypes.string_at(data, size)) or True)
        well(lib.tamis_export(self.handle, format, put, None))
        return b"".join(parts)


def find(data):
    found = []

    def each(ctx, at):
        f = at.contents
        found.append((f.choose.decode(), f.keys.decode() if f.keys else None, f.offset, f.size))
        return True
    well(lib.tamis_format_scan(b"parquet", data, len(data), EACH(each), None))
    return found


# ---- Comparing -----------------------------------------------------------------------------------

tally = {"filters": 0, "answers": 0}


def compare(f, filter_bytes, keys, asks, where):
    """One filter of a peer: it goes out as it came, is ours of the same keys, answers alike."""
    demand(f.export(b"parquet-filter") == filter_bytes, where, "goes out as other bytes")
    bitset = f.export(b"parquet-bitset")
    demand(filter_bytes.endswith(bitset), where, "the bitset")
    if keys is not None:
        demand(Filter(len(bitset)).add(keys).export(b"parquet-bitset") == bitset, where, "made anew")
        for key in keys:
            demand(f.has(key), where, "lost", key)
    for answer, key in asks:
        demand(f.has(key) == answer, where, "answers otherwise about", key)
    tally["filters"] += 1
    tally["answers"] += len(asks) + len(keys or ())


def report():
    print(f"{tally['filters']} filters, {tally['answers']} answers")


def cases(lines):
    case = None
    for line in lines:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "filter":
            case = {"filter": bytes.fromhex(rest), "add": [], "ask": []}
        elif word == "file":
            column, group, name, path = rest.split(" ", 3)
            case = {"file": (int(column), int(group), name, path), "add": [], "ask": []}
        elif word == "add":
            case["add"].append(bytes.fromhex(rest))
        elif word == "ask":
            answer, _, key = rest.partition(" ")
            case["ask"].append((answer == "1", bytes.fromhex(key)))
        elif word == "end":
            yield case
        else:
            demand(False, "no such line:", line)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def in_file(data, column, group, name):
    """The filter by number, which must be the one by name, and where it lies."""
    f = Filter(format=f"parquet:index={column},group={group}", data=data)
    choose = f"column={name},group={group}"
    at = [x for x in find(data) if x[0] == choose]
    demand(len(at) == 1, "found", len(at), "times:", choose)
    same = Filter(format="parquet:" + choose, data=data)
    demand(same.export(b"parquet-bitset") == f.export(b"parquet-bitset"), choose)
    return f, at[0][2], at[0][3]


def check():
    for case in cases(sys.stdin):
        if "file" in case:
            column, group, name, path = case["file"]
            data = read_file(path)
            f, offset, size = in_file(data, column, group, name)
            compare(f, data[offset:offset + size], case["add"], case["ask"], case["file"])
        else:
            f = Filter(format="parquet-filter", data=case["filter"])
            compare(f, case["filter"], case["add"], case["ask"], "a filter")
    demand(tally["filters"] > 0, "no case came")
    report()


# ---- Filters of ours -----------------------------------------------------------------------------

def random_key(r):
    return r.randbytes(r.choice((0, 1, 2, 4, 8, 12, r.randrange(40), r.randrange(300))))


def random_keys(r, most=3000):
    return [random_key(r) for _ in range(r.choice((0, 1, 2, r.randrange(30), r.randrange(300), r.randrange(most))))]


def print_case(head, f, keys, r):
    print(head)
    for key in keys:
        print("add", key.hex())
    for key in [random_key(r) for _ in range(40)] + r.sample(keys, min(5, len(keys))):
        print("ask", int(f.has(key)), key.hex())
    print("end")


def make(seed, n):
    r = random.Random(seed)
    for i in range(n):
        blocks = r.choice((1, 2, 1 << r.randrange(8), r.randrange(1, 100)))
        keys = random_keys(r, 300)
        f = Filter(32 * blocks).add(keys)
        print_case("filter " + f.export(b"parquet-filter").hex(), f, keys, r)


def patch_one(data, offset, size, r, keys):
    """Puts a filter of ours, of the same size, in the place of one in a file."""
    old = Filter(format="parquet-filter", data=bytes(data[offset:offset + size]))
    f = Filter(len(old.export(b"parquet-bitset"))).add(keys)
    data[offset:offset + size] = f.export(b"parquet-filter")
    return f


def patch(seed):
    r = random.Random(seed)
    by_path = {}
    for case in cases(sys.stdin):
        by_path.setdefault(case["file"][3], []).append(case["file"])
    for path, files in by_path.items():
        data, made = bytearray(read_file(path)), []
        for column, group, name, _ in files:
            _, offset, size = in_file(bytes(data), column, group, name)
            keys = random_keys(r, 100)
            made.append((f"file {column} {group} {name} {path}", patch_one(data, offset, size, r, keys), keys))
        with open(path, "wb") as file:
            file.write(data)
        for head, f, keys in made:
            print_case(head, f, keys, r)


def sizes(writer):
    n = 0
    for line in sys.stdin:
        _, keys, rate, size = line.split()
        ours = lib.tamis_parquet_bytes(writer.encode(), int(keys), float(rate))
        demand(ours == int(size), line, "ours", ours)
        n += 1
    demand(n > 0, "no size came")
    print(n, "sizes")


# ---- DuckDB and pyarrow --------------------------------------------------------------------------

def random_text(r):
    return "".join(chr(r.choice((r.randrange(32, 127), r.randrange(0xa0, 0x800), 0x1f600)))
                   for _ in range(r.choice((0, 1, 5, r.randrange(30)))))


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


# Of each type: in DuckDB, how a value is made, its bytes as a key, and what the file must say.
TYPES = (
    ("INTEGER", lambda r: r.randrange(-2**31, 2**31), lambda v: struct.pack("<i", v), "int32"),
    ("BIGINT", lambda r: r.randrange(-2**63, 2**63), lambda v: struct.pack("<q", v), "int64"),
    ("FLOAT", lambda r: float32(r.uniform(-1e6, 1e6)), lambda v: struct.pack("<f", v), "float"),
    ("DOUBLE", lambda r: r.uniform(-1e9, 1e9), lambda v: struct.pack("<d", v), "double"),
    ("VARCHAR", random_text, lambda v: v.encode(), "bytes"),
    ("BLOB", lambda r: r.randbytes(r.randrange(20)), lambda v: v, "bytes"),
)


def random_columns(r, most):
    """Columns of random types with a few distinct values each: [(name, type, values)]."""
    columns = []
    for i in range(r.randrange(1, 10)):
        type = r.choice(TYPES)
        values = list({type[1](r) for _ in range(r.choice((1, 2, r.randrange(1, 60), r.randrange(1, most))))})
        columns.append((r.choice(("c", "naïve ", "Größe-", "x=y:")) + str(i), type, values))
    return columns


def probes(con, path, name, type, value):
    """DuckDB's answers, by row group."""
    rows = con.execute("SELECT row_group_id, bloom_filter_excludes FROM parquet_bloom_probe(?, ?, ?::" + type + ")",
                       [path, name, value]).fetchall()
    return {group: not excludes for group, excludes in rows}


def duckdb_file(con, r, path):
    """A file of one to three row groups; returns the values of each column and group."""
    columns = random_columns(r, 500)
    groups, rows = r.randrange(1, 4), 2048
    con.execute("CREATE OR REPLACE TABLE t (" + ", ".join(f'"{n}" {t[0]}' for n, t, _ in columns) + ")")
    import pyarrow
    arrow = {"INTEGER": pyarrow.int32(), "BIGINT": pyarrow.int64(), "FLOAT": pyarrow.float32(),
             "DOUBLE": pyarrow.float64(), "VARCHAR": pyarrow.string(), "BLOB": pyarrow.binary()}
    drawn = [[[r.choice(v) for _ in range(rows)] for _, _, v in columns] for _ in range(groups)]
    table = pyarrow.table([pyarrow.array(sum((g[i] for g in drawn), []), arrow[t[0]])
                           for i, (_, t, _) in enumerate(columns)], names=[n for n, _, _ in columns])
    con.register("source", table)
    con.execute(f"COPY (SELECT * FROM source) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {rows}, "
                "DICTIONARY_SIZE_LIMIT 2000)")
    return columns, [[set(g[i]) for i in range(len(columns))] for g in drawn]


def duckdb(seed, folder):
    import duckdb as module
    r, con, theirs = random.Random(seed), module.connect(), 0
    con.execute("SET preserve_insertion_order = true")
    while theirs < 1000:
        path = f"{folder}/duckdb.parquet"
        columns, drawn = duckdb_file(con, r, path)
        data = read_file(path)
        said = {(g, p): (o, n) for g, p, o, n in con.execute(
            "SELECT row_group_id, path_in_schema, bloom_filter_offset, bloom_filter_length "
            f"FROM parquet_metadata('{path}') WHERE bloom_filter_offset IS NOT NULL").fetchall()}
        demand(len(find(data)) == len(said), "filters in", columns)
        keys_said = {x[0]: x[1] for x in find(data)}
        for (group, name), (offset, size) in said.items():
            i = int([k for k, c in enumerate(columns) if c[0] == name][0])
            f, at, length = in_file(data, i, group, name)
            demand((at, length) == (offset, size), "place of", name)
            demand(keys_said[f"column={name},group={group}"] == columns[i][1][3], "keys of", name)
            keys = [columns[i][1][2](v) for v in drawn[group][i]]
            demand(lib.tamis_parquet_bytes(b"duckdb", len(keys), 0.01) == len(f.export(b"parquet-bitset")),
                   "size for", len(keys))
            compare(f, data[offset:offset + size], keys, duckdb_asks(con, r, path, columns[i], group), name)
            theirs += 1
        duckdb_reads(con, r, path, columns, said)
    report()


def duckdb_asks(con, r, path, column, group):
    name, type, _ = column
    values = [type[1](r) for _ in range(3)]
    return [(probes(con, path, name, type[0], v)[group], type[2](v)) for v in values]


def duckdb_reads(con, r, path, columns, said):
    """Our filters in the place of DuckDB's."""
    data, made = bytearray(read_file(path)), []
    for (group, name), (offset, size) in said.items():
        column = [c for c in columns if c[0] == name][0]
        values = [column[1][1](r) for _ in range(r.choice((0, 1, 5, 100)))]
        made.append((group, column, values,
                     patch_one(data, offset, size, r, [column[1][2](v) for v in values])))
    path = path.replace(".parquet", "-ours.parquet")
    with open(path, "wb") as file:
        file.write(data)
    for group, (name, type, _), values, f in made:
        for value in r.sample(values, min(2, len(values))) + [type[1](r) for _ in range(2)]:
            demand(probes(con, path, name, type[0], value)[group] == f.has(type[2](value)),
                   "DuckDB about ours", name, value)
            tally["answers"] += 1
        tally["filters"] += 1


def pyarrow(seed, folder):
    import pyarrow as pa
    import pyarrow.parquet as pq
    r = random.Random(seed)
    arrow = {"INTEGER": pa.int32(), "BIGINT": pa.int64(), "FLOAT": pa.float32(), "DOUBLE": pa.float64(),
             "VARCHAR": pa.string(), "BLOB": pa.binary()}
    path = f"{folder}/pyarrow.parquet"
    unfolded = 0
    while tally["filters"] < 1200:
        columns, rows = random_columns(r, 2000), r.randrange(1, 3000)
        drawn = [[r.choice(v) if r.random() < 0.9 else None for _ in range(rows)] for _, _, v in columns]
        table = pa.table([pa.array(d, arrow[t[0]]) for d, (_, t, _) in zip(drawn, columns)],
                         names=[n for n, _, _ in columns])
        wish = {n: {"ndv": r.randrange(1, 4000), "fpp": r.choice((0.1, 0.05, 0.01, 0.001))} for n, _, _ in columns}
        group_rows = r.choice((rows, rows, rows // 2 + 1))
        pq.write_table(table, path, bloom_filter_options=wish, row_group_size=group_rows)
        data, meta = read_file(path), pq.read_metadata(path)
        for group in range(meta.num_row_groups):
            for i, (name, type, _) in enumerate(columns):
                chunk = meta.row_group(group).column(i)
                f, offset, size = in_file(data, i, group, name)
                demand((offset, size) == (chunk.bloom_filter_offset, chunk.bloom_filter_length), "place of", name)
                drawn_here = set(drawn[i][group * group_rows:(group + 1) * group_rows]) - {None}
                keys = [type[2](v) for v in drawn_here]
                compare(f, data[offset:offset + size], keys, [], name)
                most = lib.tamis_parquet_bytes(b"arrow", wish[name]["ndv"], wish[name]["fpp"])
                bitset = len(f.export(b"parquet-bitset"))
                demand(bitset <= most and math.log2(bitset).is_integer(), "size", bitset, most)
                unfolded += bitset == most
    print(f"{tally['filters']} filters, {tally['answers']} answers, {unfolded} of the size that Arrow starts from")


VERBS = {"check": check, "make": make, "patch": patch, "sizes": sizes, "duckdb": duckdb, "pyarrow": pyarrow}
if __name__ == "__main__":
    VERBS[sys.argv[1]](*(int(a) if a.isdigit() else a for a in sys.argv[2:]))
