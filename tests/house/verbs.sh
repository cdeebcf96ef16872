#!/bin/bash
# SPDX-License-Identifier: MIT
# The guide lists the commands that there are, under the titles and in the order of the help.
cd "$(dirname "$0")/../.." || exit 2
tamis=${TAMIS:-build/tamis}

in_help() {
    "$tamis" help more | awk '
        /^Topics:$/ { exit }
        /^[A-Z][A-Za-z ]*:$/ { title = substr($0, 1, length($0) - 1); next }
        /^  [a-z-]+  +[a-z]/ && title { print title ": " $1; next }
        { title = "" }'
}
in_guide() {
    awk -F ' *[|] *' '
        $3 == "commands" { within = 1; next }
        within && /^[|]---/ { next }
        within && !/^[|]/ { within = 0 }
        within { n = split($3, verb, /[` ]+/); for (i = 1; i <= n; i++) if (verb[i] != "") print $2 ": " verb[i] }' "$1"
}

n=0
result() { # exit code, what
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else
        echo "not ok $n - $2"
        code=1
    fi
}
[ "$(in_help | wc -l)" -gt 20 ]
result $? "the help has sections with commands"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
in_help >"$work/help"
in_guide docs/guide.md | diff - "$work/help" >"$work/log"
result $? "the guide has the same"
sed 's/^/# /' "$work/log"
sed 's/ .doctor.//' docs/guide.md >"$work/guide.md"
! in_guide "$work/guide.md" | diff - "$work/help" >/dev/null
result $? "a command that is missing is noticed"
echo "1..$n"
exit "${code:-0}"
