# SPDX-License-Identifier: MIT
"""What tests of servers print."""


class Tap:
    """Counts and prints test results, as the other test programs do."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, is_good, name):
        self.count += 1
        self.failed += not is_good
        print(f"{'ok' if is_good else 'not ok'} {self.count} - {name}", flush=True)
        return is_good

    def equal(self, got, wanted, name):
        if not self.check(got == wanted and type(got) is type(wanted), name):
            print(f"#   wanted {wanted!r}\n#   got    {got!r}", flush=True)

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0
