# SPDX-License-Identifier: MIT
"""What pytest prints here: a line for each test, as the other test programs have."""
import sys

done = []


def pytest_runtest_logreport(report):
    if report.skipped:
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        say(f"ok {number()} - {report.nodeid} # SKIP {why.removeprefix('Skipped: ')}")
    elif report.failed:
        say(f"not ok {number()} - {report.nodeid}" + (f" ({report.when})" if report.when != "call" else ""))
        for line in f"{report.longrepr}\n{report.capstdout}".splitlines()[-60:]:
            say(f"#   {line}")
    elif report.when == "call":
        say(f"ok {number()} - {report.nodeid}")


def pytest_collectreport(report):
    if report.failed:
        say(f"not ok {number()} - {report.nodeid} cannot be read")
        for line in str(report.longrepr).splitlines():
            say(f"#   {line}")


def pytest_sessionfinish():
    say(f"1..{len(done)}")


def number():
    done.append(None)
    return len(done)


def say(line):
    sys.__stdout__.write(line + "\n")
    sys.__stdout__.flush()
