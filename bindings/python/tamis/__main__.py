# SPDX-License-Identifier: MIT
"""python -m tamis: the command, a C program that comes with the package."""
import os
import sys


def main():
    """Becomes the command."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tamis")
    if not os.path.exists(program):
        sys.exit("tamis: this package was built without the command")
    os.execv(program, ["tamis", *sys.argv[1:]])


if __name__ == "__main__":
    main()
