#!/bin/bash
# SPDX-License-Identifier: MIT
# The terminal session in the README is what the command prints now.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
tamis=${TAMIS:-build/tamis}

if ! locale -a 2>/dev/null | grep -qiE '^C\.utf-?8$'; then
    echo "ok 1 - docs/pictures/session.svg # SKIP no locale C.UTF-8 to draw in"
    echo 1..1
    exit 0
fi
if ! python3 -c 'import os; os.openpty()' 2>/dev/null; then
    echo "ok 1 - docs/pictures/session.svg # SKIP no pseudo-terminal can be opened here"
    echo 1..1
    exit 0
fi
if tools/session "$tamis" >"$work/session.svg" && cmp "$work/session.svg" docs/pictures/session.svg; then
    echo "ok 1 - docs/pictures/session.svg"
else
    echo "not ok 1 - docs/pictures/session.svg is another session than today's"
    diff docs/pictures/session.svg "$work/session.svg" | sed -n 's/^/# /; 1,20p'
    echo "# again: tools/session $tamis > docs/pictures/session.svg, and look at it"
    code=1
fi
echo 1..1
exit "${code:-0}"
