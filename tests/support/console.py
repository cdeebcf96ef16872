# SPDX-License-Identifier: MIT
"""console.py: only the tests in tests/house include this. Runs the console blocks of a page and compares their output with the page.

A page may have only three sorts of fenced blocks, so that nothing on it is untested:

    ```console         lines with "$ " are commands, typed into one shell after the other; below each
                       is its output, standard output and standard error together. A line "..."
                       stands for any number of lines, "..." at the end of a line for its rest.
    ```text FILE       the content of a file that the commands read
    ```c FILE          the same

Blocks run in order in one directory: a later one finds the files of those before it.
"""
import os
import re
import shlex
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = os.path.abspath(os.path.join(ROOT, os.environ.get("B", "build")))
TAMIS = os.path.abspath(os.environ.get("TAMIS", os.path.join(BUILT, "tamis")))
FENCE = re.compile(r"^```(.*)$")
LIMIT_SECONDS = 120


class Block:
    def __init__(self, kind, name, line):
        self.kind, self.name, self.line, self.lines = kind, name, line, []


class BadPage(Exception):
    pass


def blocks_of(text):
    """The fenced blocks of a page, in order."""
    blocks, block = [], None
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if block and fence:
            if fence.group(1):
                raise BadPage(f"line {number}: a fence inside a block")
            blocks.append(block)
            block = None
        elif block:
            block.lines.append(line)
        elif fence:
            words = fence.group(1).split()
            is_file = len(words) == 2 and words[0] in ("text", "c")
            if not is_file and words != ["console"]:
                raise BadPage(f"line {number}: a block that nothing tests: {line}")
            block = Block(words[0], words[1] if is_file else None, number)
    if block:
        raise BadPage(f"line {block.line}: a block without an end")
    return blocks


def steps_of(block):
    """[command, expected lines] of a console block."""
    steps = []
    for line in block.lines:
        if line.startswith("$ "):
            steps.append([line[2:], []])
        elif not steps:
            raise BadPage(f"line {block.line}: output before the first command")
        else:
            steps[-1][1].append(line)
    if not steps:
        raise BadPage(f"line {block.line}: no command")
    return steps


def matches(expected, actual):
    """Whether the lines are as expected, where "..." stands for any."""
    if not expected:
        return not actual
    first, rest = expected[0], expected[1:]
    if first == "...":
        return any(matches(rest, actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    is_line = actual[0].startswith(first[:-3]) if first.endswith("...") else actual[0] == first
    return is_line and matches(rest, actual[1:])


class Shell:
    """One bash for a whole page, so that $? and variables last from command to command."""

    def __init__(self, folder, environment):
        self.mark = f"=== {os.urandom(8).hex()} "
        self.process = subprocess.Popen(
            ["timeout", str(LIMIT_SECONDS), "bash", "--norc", "--noprofile"], cwd=folder,
            env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def run(self, command):
        """The lines that a command prints; None when the shell has ended."""
        # The command does not read our input, and its exit status is kept for the next one.
        self.process.stdin.write(
            f"eval {shlex.quote(command)} </dev/null\n"
            f"{{ status=$?; printf '\\n{self.mark}\\n'; (exit $status); }}\n")
        try:
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        lines = []
        for line in self.process.stdout:
            if line.startswith(self.mark):
                return lines[:-1] if lines and lines[-1] == "" else lines
            lines.append(line.rstrip("\n"))
        return None

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        return self.process.wait()


def write_file(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_place(work):
    """A directory to run in, and an environment in which tamis is as if installed."""
    folder, programs = os.path.join(work, "here"), os.path.join(work, "bin")
    for path in (folder, programs, os.path.join(work, "tmp")):
        os.mkdir(path)
    os.symlink(TAMIS, os.path.join(programs, "tamis"))
    os.symlink(os.path.join(ROOT, "tests", "vectors"), os.path.join(folder, "vectors"))
    # `cc` in pages is the compiler of the tests, by its path: its name may be cc too.
    name, *options = shlex.split(os.environ.get("CC") or "cc")
    compiler = os.path.join(programs, "cc")
    write_file(compiler, f"#!/bin/sh\nexec {shlex.join([shutil.which(name) or name, *options])} \"$@\"\n")
    os.chmod(compiler, 0o755)
    write_file(os.path.join(programs, "tamis.pc"),
               "Name: tamis\nDescription: as built\nVersion: 0\n"
               f"Cflags: -I{ROOT}/include -std=c11 -Wall -Wextra -Wpedantic -Werror\n"
               f"Libs: {BUILT}/libtamis.a -lm -pthread\n")
    return folder, {"PATH": programs + ":" + os.environ["PATH"], "LC_ALL": "C", "TERM": "dumb",
                    "HOME": folder, "TMPDIR": os.path.join(work, "tmp"),
                    "PKG_CONFIG_PATH": programs}


def run_page(text):
    """Runs a page in an empty directory. Yields (block, command, actual lines, expected lines)."""
    with tempfile.TemporaryDirectory() as work:
        yield from run_blocks(blocks_of(text), *make_place(work))


def run_blocks(blocks, folder, environment):
    shell = Shell(folder, environment)
    try:
        for block in blocks:
            if block.name:
                write_file(os.path.join(folder, block.name), "\n".join(block.lines) + "\n")
                continue
            for command, expected in steps_of(block):
                actual = shell.run(command)
                if actual is None:
                    raise BadPage(f"line {block.line}: the shell ended in: {command}")
                yield block, command, actual, expected
    finally:
        shell.end()


def rewritten(text, results):
    """The page with the actual output where it did not match. results: as run_page yields."""
    lines, by_block = text.split("\n"), {}
    for block, command, actual, expected in results:
        said = expected if matches(expected, actual) else actual
        by_block.setdefault(block.line, []).extend([f"$ {command}"] + said)
    for block in reversed(blocks_of(text)):
        if block.line in by_block:
            lines[block.line:block.line + len(block.lines)] = by_block[block.line]
    return "\n".join(lines)


class Tap:
    """The output of tests: a line for each, reasons after those that failed, their number."""

    def __init__(self):
        self.count = self.failed = 0

    def result(self, good, name, why=()):
        self.count += 1
        self.failed += not good
        print("ok" if good else "not ok", self.count, "-", name)
        for line in () if good else why:
            print("#", line)

    def end(self):
        """The exit code."""
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def check_page(tap, path):
    """Tests every command of a page; with UPDATE set, writes the actual output into it. Returns the results."""
    name, results = os.path.basename(path), []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        for step in run_page(text):
            block, command, actual, expected = step
            results.append(step)
            tap.result(matches(expected, actual), f"{name}:{block.line}: {command}",
                       ["expected:", *expected, "printed:", *actual])
    except BadPage as why:
        tap.result(False, name, [str(why)])
        return results
    if os.environ.get("UPDATE"):
        write_file(path, rewritten(text, results))
    return results
