#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes one place of a source file at a time, as a slip of the hand would, and runs the tests that
cover the file: a test must go red for each change.

    tests/proof/mutants.py                      every file of the table below
    tests/proof/mutants.py src/file/notes.c     one file
    tests/proof/mutants.py --sample 30          so many mutants in all, spread over the files
    tests/proof/mutants.py --each 0             every mutant of a file, not only the usual number
    tests/proof/mutants.py --again              tries those again that survived the last time
    tests/proof/mutants.py --places             runs nothing; are the survivors of docs/proof.md still there?

What came out goes to build/mutants.txt, a line for each mutant; a run that was stopped goes on where
it was, and a mutant whose line is there is not tried again. The last lines are the table of
docs/proof.md. A mutant that compiles to the object code of the original is equal to it; survivors
that change nothing for another reason stand in docs/proof.md with that reason, and are read from
there. Any other survivor is a hole in the tests, and the run is red.

The work is done in a copy, by the commands of the Makefile: a mutant is compiled by itself and linked
before the library, which then keeps its own object back.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

SEED = 20
EACH = 20           # mutants of a file, unless told otherwise
EACH_READER = 12    # of one of the many readers of other systems' files
RESULTS = "build/mutants.txt"
PAGE = "docs/proof.md"

# The tests of a file, quickest first. A program of tests/unit or tests/fuzz stands by its name, a law
# behind "laws", a case of the command behind "cli". Where names of functions follow the colon, only
# those are changed: a format's reader, not its arithmetic, which vectors of its origin pin.
READERS = r"read|open|take|check|audit|parse|find|next|scan|locate|skip|header|load|unpack|is_"
TABLE = {
    "src/file/image.c": ["test_image", "test_golden", "test_files", "test_decisions", "laws save_load_same: blocked"],
    "src/file/notes.c": ["test_notes", "test_golden", "test_files"],
    "src/file/ranges.c": ["test_patch"],
    "src/file/patch.c": ["test_patch"],
    "src/file/disk.c": ["test_files", "test_edit", "test_temporary", "test_power"],
    "src/file/spill.c": ["test_temporary", "test_builder"],
    "src/file/replace.c": ["test_files", "test_edit", "test_temporary", "test_power"],
    "src/file/temp.c": ["test_temporary", "test_edit", "test_files", "test_power"],
    "src/file/place.c": ["test_files", "test_edit", "test_temporary", "test_power"],
    "src/core/edit.c": ["test_edit", "test_files", "test_power"],
    "src/core/bytes.c": ["test_files", "test_golden", "test_shard", "laws limit_holds: blocked",
                         "laws file_is_the_image: blocked", "laws out_of_memory_is_safe: blocked"],
    "src/build/records.c": ["test_temporary", "test_builder"],
    "src/hash/hash.c": ["test_hash", "test_golden"],
    "src/jobs/frames.c": ["test_frames", "test_session"],
    "cli/images/seal.c": ["test_seal", "cli diff-signed"],
    "cli/files/files.c": ["test_command_files", "cli secret", "cli build-places", "cli data", "cli output-full",
                    "cli build-keeps-existing", "cli diff"],
    "engines/redis/settings.c": ["test_redis_settings", "test_redis_api"],
    "engines/redis/persist.c": ["test_redis_api", "test_redis_persist", "fuzz/replay_rdb"],
}
# A reader: the word of its lines in tests/golden/decisions.txt, and its unit tests.
for name, word, tests in (line.split(maxsplit=2) for line in """
    base64 json test_base64 test_bits_and_blooms test_encode
    binaryfuse binary-fuse test_binaryfuse
    bip158 bip158 test_bip158
    bip37 bip37 test_bip37
    bits_and_blooms bits-and-blooms test_bits_and_blooms
    bits_and_blooms_json json test_bits_and_blooms
    cassandra cassandra test_cassandra
    datasketches datasketches test_datasketches
    dcso dcso test_dcso
    filter_block leveldb test_leveldb
    fps fps test_fps
    guava guava test_guava
    hadoop hadoop test_hadoop
    hadoop_counting hadoop-counting test_hadoop
    hadoop_dynamic hadoop-dynamic test_hadoop
    hadoop_retouched hadoop-retouched test_hadoop
    icp icp test_summary
    leveldb leveldb test_leveldb
    leveldb_table leveldb-table test_leveldb
    libbloom libbloom test_libbloom
    lzf redis-dump test_redis
    orc orc test_orc
    parquet parquet- test_parquet
    parquet_file parquet test_parquet_files
    redisbloom redisbloom test_redis
    rediscms rediscms test_rediscms
    rediscuckoo rediscuckoo test_redis
    redisdump redis-dump test_rediscms test_redis
    ribbon128 ribbon test_ribbon128
    rocksdb rocksdb test_rocksdb
    rocksdb_sst rocksdb-sst test_rocksdb
    spark spark test_spark
    squid squid test_squid
    sstable -sst test_sstable test_rocksdb test_leveldb
    thrift parquet test_parquet_files test_parquet""".strip().splitlines()):
    TABLE[f"src/foreign/{name}.c"] = [f"test_decisions {word}", *tests.split(), "test_shapes"]
ONLY_READERS = {name for name in TABLE if name.startswith("src/foreign/")} - {
    f"src/foreign/{whole}.c" for whole in ("base64", "filter_block", "lzf", "redisdump", "sstable", "thrift")}

Mutant = collections.namedtuple("Mutant", "path start end new rule line key")


# ---- Making mutants ---------------------------------------------------------------------------

def masked(text):
    """The text with comments, strings, characters and directives blanked, place by place."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S | re.M)


def closing(code, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return -1


def bodies(code, only):
    """The insides of functions, of those whose names fit `only` where it is given."""
    for m in re.finditer(r"^(?!typedef|enum|struct|static const)[a-z][^;={}]*?\b(\w+)\([^;{}]*\) \{$", code, re.M):
        if not only or re.search(only, m[1]):
            yield m.end(), closing(code, m.end() - 1)


def clauses(code, start, end):
    """What && or || join at the top of a condition: (start, end) with the operator before or after."""
    depth, last, cuts = 0, start, []
    for i in range(start, end):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0 and code[i:i + 2] in ("&&", "||"):
            cuts.append((last, i, i + 2))
            last = i + 2
    if not cuts:
        return
    for left, right, after in cuts:
        yield left, after           # the clause and the operator behind it
    yield cuts[-1][1], end          # the last clause and the operator before it


def statements(code, start, end):
    """Single-line statements that do something: calls, assignments."""
    for m in re.finditer(r"^( +)((?:if \(!?\w+\) )?)((?:\*|\+\+|--)?[a-z_][\w\->.\[\]* ]*?(?:\(| [-+*/|&^%]?= | <<= | >>= |\+\+|--)[^\n]*;)$",
                         code[start:end], re.M):
        text = m[3]
        if re.match(r"(return|goto|break|continue|if|for|switch|const|static|else|case|do|while|for|uint\w+ |int |size_t |bool |char |double )\b", text):
            continue
        if re.match(r"(?:const )?(?:struct )?\w+ \**\w+(?:\[\w*\])?(?: =|;|,)", text):
            continue                # a declaration
        yield start + m.start(3), start + m.end(3), len(m[1]), bool(m[2])


def number(digits):
    return int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)


def depends(a, b):
    """Whether the order of two statements can matter: one changes what the other names, or both are
    calls that leave something behind outside the program."""
    def changed(text):
        return re.findall(r"(?:^|[(,&*] ?)([a-z_][\w\->.]*)(?:\[[^]]*\])? ?(?:[-+*/|&^%]?=(?!=)|<<=|>>=|\+\+|--)", text) + \
            re.findall(r"&([a-z_][\w\->.]*)", text)

    def names(what, text):
        return any(re.search(rf"(?<![\w>.]){re.escape(name)}(?![\w])", text) for name in what)

    outside = r"\b(fsync|rename|renameat|close|unlink|unlinkat|write|flock|free|memset|memcpy|fchmod|fchown|lseek|\w*wipe|\w*block_free)\("
    return names(changed(a), b) or names(changed(b), a) or (re.search(outside, a) and re.search(outside, b))


def sentences(code, start, end):
    """Where sentences for people are made: their numbers decide nothing."""
    for m in re.finditer(r"\b(?:tamis__fail|tamis__bad_format|tamis__foreign_fail|corrupt|fail|wrong|complain|tamis__cannot)\(", code[start:end]):
        yield start + m.end(), closing(code, start + m.end() - 1)


SWAPS = [("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="),
         ("&&", "||"), ("||", "&&"), ("+", "-"), ("-", "+"), ("+=", "-="), ("-=", "+="), ("<<", ">>"), (">>", "<<")]


def edits(code, only):
    """(start, end, new, rule) of every mutant."""
    for start, end in bodies(code, only):
        for old, new in SWAPS:
            rule = "logic" if old in "&&||" else "bound" if old[0] in "<>=!" and old not in ("<<", ">>") else "arithmetic"
            for m in re.finditer(rf"(?<= ){re.escape(old)}(?= )", code[start:end]):
                yield start + m.start(), start + m.end(), new, rule
        for m in re.finditer(r"(?<![\w.{])(0x[0-9a-f]+|\d+)(?![\w.\]}])", code[start:end]):
            yield start + m.start(), start + m.end(), str(number(m[1]) + 1), "constant"
        for m in re.finditer(r"!(?=[\w(*])", code[start:end]):
            yield start + m.start(), start + m.end(), "", "negation"
        for m in re.finditer(r"\b(?:tamis__get64|get64)\(", code[start:end]):
            for width in ("32", "16"):
                yield start + m.start(), start + m.start(), f"(uint{width}_t)", "width"
        for m in re.finditer(r"\b(?:tamis__get32)\(", code[start:end]):
            yield start + m.start(), start + m.start(), "(uint16_t)", "width"
        for m in re.finditer(r"\b(uint64_t|size_t|int64_t|uint32_t)(?= \w+(?: = |;|,))", code[start:end]):
            yield start + m.start(), start + m.end(), "uint16_t" if m[1] == "uint32_t" else "uint32_t", "width"
        for m in re.finditer(r"\((size_t|uint64_t)\)(?=[\w(])", code[start:end]):
            yield start + m.start(), start + m.end(), "(uint32_t)", "width"
        for m in re.finditer(r"\b(?:if|while) \(", code[start:end]):
            at = start + m.end() - 1
            to = closing(code, at)
            if m[0].startswith("if"):
                yield at + 1, to, "false && ({})", "lost check"
                if code[to:].lstrip(") ").startswith("{") and re.match(r"\)\s*\{[^{}]*\}\s*else", code[to:]):
                    yield at + 1, to, "true || ({})", "lost check"
            for left, right in clauses(code, at + 1, to):
                yield left, right, "", "lost clause"
        for m in re.finditer(r"\breturn ", code[start:end]):
            to = code.find(";", start + m.end())
            for left, right in clauses(code, start + m.end(), to):
                yield left, right, " ", "lost clause"
        for m in re.finditer(r" \| (?:[A-Z]\w+_)?[A-Z]+(?=[ ,;)])|(?<=[ (,])[A-Z]+_[A-Z]+ \| ", code[start:end]):
            yield start + m.start(), start + m.end(), "", "lost flag"
        for m in re.finditer(r"\brc = (?=\w+\()", code[start:end]):
            yield start + m.start(), start + m.end(), "", "lost error"
        before = None
        for left, right, indent, is_guarded in statements(code, start, end):
            yield left, right, ";", "lost statement"
            if before and before[2] == indent and not is_guarded and not before[3] and \
                    re.fullmatch(r"\n *", code[before[1]:left]) and \
                    depends(code[before[0]:before[1]], code[left:right]):
                yield before[0], right, (before[0], before[1], left, right), "order"
            before = left, right, indent, is_guarded


def are_elements(statements):
    """Two elements of one array, neither made from another: their order does not matter."""
    m = re.fullmatch(r"(\S+)\[(\S+)\] = ([^;]*);\s*\1\[(?!\2\])\S+\] = ([^;]*);", statements)
    return m and not re.search(rf"(?<![\w.>]){re.escape(m[1])}\b", m[3] + m[4])


def mutants_of(path):
    text = open(path).read()
    code = masked(text)
    seen = collections.Counter()
    spoken = [span for start, end in bodies(code, None) for span in sentences(code, start, end)]
    found = []
    for start, end, new, rule in sorted(edits(code, READERS if path in ONLY_READERS else None),
                                        key=lambda e: (e[0], e[1], e[3], str(e[2]))):
        if rule == "order":
            a, b, c, d = new
            if are_elements(text[a:d]):
                continue
            new = text[c:d] + text[b:c] + text[a:b]
        elif rule == "lost check":
            new = new.format(text[start:end])
        # Its key does not know line numbers, so that a change elsewhere in the file keeps it.
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        was, now = text[first:last], text[first:start] + new + text[end:last]
        if was == now or any(left <= start and end <= right for left, right in spoken):
            continue
        seen[was, now] += 1
        key = hashlib.sha256(f"{path}\0{was}\0{now}\0{seen[was, now]}".encode()).hexdigest()[:12]
        found.append(Mutant(path, start, end, new, rule, text.count("\n", 0, start) + 1, key))
    return text, found


def squeezed(text):
    return " ".join(text.split())


def words_of(text, m):
    """The changed lines before and after, as docs/proof.md shows them."""
    first, last = text.rfind("\n", 0, m.start) + 1, text.find("\n", m.end)
    return squeezed(text[first:last]), squeezed(text[first:m.start] + m.new + text[m.end:last])


def explained():
    """The survivors that docs/proof.md explains: (path, before, after)."""
    rows = set()
    if os.path.exists(PAGE):
        for m in re.finditer(r"^\| `(\S+\.c)` \| `(.+?)` \| `(.+?)` \| .+ \|$", open(PAGE).read(), re.M):
            rows.add(tuple(part.replace("\\|", "|") for part in m.groups()))
    return rows


def counted():
    """The files of which docs/proof.md has counts: a sample is of them."""
    return set(re.findall(r"^\| `(\S+\.c)` \| \d+ \|", open(PAGE).read(), re.M))


# ---- Trying them ------------------------------------------------------------------------------

class Workshop:
    """A copy of the project, with objects that are up to date."""

    def __init__(self, paths):
        self.root = tempfile.mkdtemp(prefix="mutants-")
        self.lock = threading.Lock()
        self.cache = {}
        for part in ("Makefile", "mk", "include", "src", "cli", "engines", "tests", "tools", "examples"):
            subprocess.run(["cp", "-a", part, self.root], check=True)
        # With their times: what is compiled already need not be compiled again.
        subprocess.run(["bash", "-c", "find build -name '*.[oda]' -exec cp -a --parents -t \"$1\" {} +", "-", self.root],
                       stderr=subprocess.DEVNULL)
        goals = {self.program(test) for path in paths for test in TABLE[path]}
        done = self.make(*sorted(goals), "build/libtamis.a")
        if done.returncode:
            sys.exit(done.stdout + done.stderr)

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def make(self, *words):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "B"}
        return subprocess.run(["make", "-j2", "--no-print-directory", *words], cwd=self.root, text=True,
                              capture_output=True, env=environment)

    @staticmethod
    def program(test):
        kind = test.split()[0]
        return {"laws": "build/tests/laws/laws", "cli": "build/tamis"}.get(
            kind, f"build/tests/{kind}" if "/" in kind else f"build/tests/unit/{kind}")

    def commands(self, newer, goal):
        """What make would run to bring `goal` up to date if `newer` had changed."""
        with self.lock:
            if (newer, goal) not in self.cache:
                lines = self.make("-n", "V=1", "-W", newer, goal, "CFLAGS=-O1").stdout.splitlines()
                self.cache[newer, goal] = [shlex.split(line) for line in lines if f" -o {goal}" in line]
            return self.cache[newer, goal]

    def compile(self, path, folder, goal, made):
        """The object of the file in `folder`, made as `goal` would be made of the one in the copy."""
        made = os.path.join(folder, made)
        for command in self.commands(path, goal):
            words = [made if w == goal else os.path.join(folder, path) if w == path else w
                     for w in command if w not in ("-MMD", "-MP")]
            done = subprocess.run([*words, "-w"], cwd=self.root, capture_output=True, text=True)
            return made if done.returncode == 0 else None
        raise RuntimeError(f"make does not say how to compile {path}")

    def link(self, path, test, made):
        """The test program with this object in the place of its own, or with its twin whose checksums
        are off."""
        goal, own = self.program(test), f"build/{path[:-2]}.o"
        out = os.path.join(os.path.dirname(made), goal.replace("/", "-"))
        main = {"cli": "build/cli/main.o", "laws": "build/tests/laws/laws.o"}.get(test.split()[0])
        main = main or goal + ".o"
        command = self.commands(main, goal)[0]
        words = [out if w == goal else w for w in command]
        twin = f"build/fuzz/{path[:-2]}.o"
        if own in words:
            words[words.index(own)] = made
        elif twin in words:
            words[words.index(twin)] = self.compile(path, os.path.dirname(made), twin, "twin.o")
        else:
            words.insert(words.index("build/libtamis.a"), made)
        done = subprocess.run(words, cwd=self.root, capture_output=True, text=True)
        return out if done.returncode == 0 else None

    def run(self, test, program, folder, seconds):
        """Whether it is green, and the processor's seconds it took. Stops at the first red line."""
        kind, _, rest = test.partition(" ")
        command = ["tests/cli/run", *rest.split()] if kind == "cli" else [program, *([rest] if rest else [])]
        room = tempfile.mkdtemp(dir=folder)
        environment = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP", "TMPDIR": room, "TAMIS": program, "TAMIS_QUICK": "1",
                       "TAMIS_VECTORS": os.environ.get("TAMIS_VECTORS", os.path.abspath("../shared/vectors"))}

        def limits():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 33, 1 << 33))

        child = subprocess.Popen(command, cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, env=environment, preexec_fn=limits)
        # Waiting is no use of the processor: a test that waits for ever is ended by the clock.
        clock = threading.Timer(20 * seconds + 60, lambda: os.killpg(child.pid, signal.SIGKILL))
        clock.start()
        is_red = is_run = False
        for line in child.stdout:
            is_run |= line.startswith(b"ok ") and b"# SKIP" not in line
            if line.startswith(b"not ok") and b"# SKIP" not in line:
                is_red = True
                break
        if is_red:
            os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        clock.cancel()
        shutil.rmtree(room, ignore_errors=True)
        return not is_red and is_run and status == 0, usage.ru_utime + usage.ru_stime


class Trial:
    """One file: its object, and what its tests take when they are green."""

    def __init__(self, shop, path):
        self.shop, self.path = shop, path
        self.text, self.mutants = mutants_of(path)
        self.folder = tempfile.mkdtemp(dir=shop.root)
        self.good = self.object_of(self.text, self.folder)
        self.limits = []
        for test in TABLE[path]:
            program = shop.link(path, test, os.path.join(self.folder, "mutant.o"))
            is_green, seconds = shop.run(test, program, self.folder, 300) if program else (False, 0)
            if not is_green:
                raise RuntimeError(f"{test} is red, or not made, without any change of {path}")
            self.limits.append((test, int(5 * seconds) + 2))

    def object_of(self, text, folder):
        os.makedirs(os.path.join(folder, os.path.dirname(self.path)), exist_ok=True)
        with open(os.path.join(folder, self.path), "w") as f:
            f.write(text)
        made = self.shop.compile(self.path, folder, f"build/{self.path[:-2]}.o", "mutant.o")
        return open(made, "rb").read().replace(folder.encode(), b"") if made else None

    def attempt(self, m):
        """(what became of it, by which test)"""
        folder = os.path.join(self.folder, m.key)
        os.makedirs(folder)
        try:
            code = self.object_of(self.text[:m.start] + m.new + self.text[m.end:], folder)
            if code is None:
                return "not made", "-"
            if code == self.good:
                return "equal", "-"
            for test, seconds in self.limits:
                program = self.shop.link(self.path, test, os.path.join(folder, "mutant.o"))
                if not program:
                    return "not made", "-"
                if not self.shop.run(test, program, folder, seconds)[0]:
                    return "killed", test
            return "survived", "-"
        finally:
            shutil.rmtree(folder, ignore_errors=True)


# ---- The run ----------------------------------------------------------------------------------

def known_results():
    known = {}
    if os.path.exists(RESULTS):
        for line in open(RESULTS):
            parts = line.rstrip("\n").split("\t")
            if len(parts) >= 6:
                known[parts[1]] = parts[0]
    return known


def chosen(path, each):
    """The mutants that are tried: the same ones in every run, and of each rule some."""
    _, found = mutants_of(path)
    if each is None:
        each = EACH_READER if path.startswith("src/foreign/") else EACH
    random.Random(f"{SEED} {path}").shuffle(found)
    if each and len(found) > each:
        rules = collections.defaultdict(list)
        for m in found:
            rules[m.rule].append(m)
        picked = []
        while len(picked) < each:
            for rule in sorted(rules):
                if rules[rule] and len(picked) < each:
                    picked.append(rules[rule].pop())
        found = picked
    return sorted(found, key=lambda m: m.start)


def open_ones(path, known):
    """The mutants that survived, however they were chosen, and that nothing explains."""
    text, found = mutants_of(path)
    reasons = explained()
    return [m for m in found if known.get(m.key) == "survived" and (path, *words_of(text, m)) not in reasons]


def places():
    """Every survivor of the page must still be a mutant of its file."""
    code, n = 0, 0
    for path in sorted({row[0] for row in explained()}):
        text, found = mutants_of(path)
        words = {words_of(text, m) for m in found}
        for _, before, after in sorted(row for row in explained() if row[0] == path):
            n += 1
            is_there = (before, after) in words
            print(f"{'ok' if is_there else 'not ok'} {n} - {path}: {before} has its place")
            code |= not is_there
    print(f"1..{n}")
    return code


def report(paths):
    """The table of docs/proof.md: all that was ever tried and is still in the files."""
    known, reasons = known_results(), explained()
    total = collections.Counter()
    holes = []
    print("| file | mutants | killed | equal object | explained | survived |\n|---|---|---|---|---|---|")
    for path in paths:
        text, found = mutants_of(path)
        tally = collections.Counter()
        for m in found:
            what = known.get(m.key)
            if what == "survived" and (path, *words_of(text, m)) in reasons:
                what = "explained"
            elif what == "survived":
                holes.append((path, m, *words_of(text, m)))
            tally[what] += 1
        tried = sum(tally[k] for k in ("killed", "equal", "explained", "survived"))
        print(f"| `{path}` | {tried} | {tally['killed']} | {tally['equal']} | {tally['explained']} | {tally['survived']} |")
        total += tally
    tried = sum(total[k] for k in ("killed", "equal", "explained", "survived"))
    print(f"| all | {tried} | {total['killed']} | {total['equal']} | {total['explained']} | {total['survived']} |")
    for path, m, before, after in holes:
        print(f"survived: {path}:{m.line} ({m.rule})\n    - {before}\n    + {after}")
    return holes


def main():
    arguments = argparse.ArgumentParser(description="mutation testing", usage=__doc__)
    arguments.add_argument("files", nargs="*")
    arguments.add_argument("--each", type=int)
    arguments.add_argument("--sample", type=int)
    arguments.add_argument("--again", action="store_true")
    arguments.add_argument("--places", action="store_true")
    arguments.add_argument("--report", action="store_true")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    args = arguments.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    if args.places:
        sys.exit(places())
    paths = args.files or list(TABLE)
    if args.report:
        sys.exit(bool(report(paths)))
    known = {} if args.sample else known_results()
    if args.again:
        work = [(path, m) for path in paths for m in open_ones(path, known)]
    else:
        work = [(path, m) for path in paths for m in chosen(path, args.each) if m.key not in known]
    if args.sample:
        work = [(path, m) for path, m in work if path in counted()]
        work = random.Random(SEED).sample(work, min(args.sample, len(work)))
    reasons, n, code = explained(), 0, 0
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    shop = Workshop({path for path, _ in work})
    try:
        with open(RESULTS, "a") as results, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for path in [p for p in paths if any(p == q for q, _ in work)]:
                try:
                    trial = Trial(shop, path)
                except RuntimeError as why:
                    n, code = n + 1, 1
                    print(f"not ok {n} - {why}", flush=True)
                    continue
                mine = [m for q, m in work if q == path]
                for m, (what, test) in zip(mine, pool.map(trial.attempt, mine)):
                    before, after = words_of(trial.text, m)
                    n += 1
                    results.write("\t".join((what, m.key, f"{path}:{m.line}", m.rule, test, before, after)) + "\n")
                    results.flush()
                    is_hole = what == "survived" and (path, before, after) not in reasons
                    code |= is_hole
                    print(f"{'not ok' if is_hole else 'ok'} {n} - {path}:{m.line} {m.rule}: {what}"
                          + (f" by {test}" if what == "killed" else f"\n#   - {before}\n#   + {after}" if is_hole else ""), flush=True)
    finally:
        shop.close()
    print(f"1..{n}")
    sys.exit(code)


main()
