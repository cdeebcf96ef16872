#!/bin/bash
# SPDX-License-Identifier: MIT
# There is a manual page for every verb and every topic, without complaints from whoever formats it, and it fits into
# 80 columns.
cd "$(dirname "$0")/../.." || exit 2
: "${B:=build}" "${CC:=cc}"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
if ! command -v scdoc >/dev/null; then
    echo "ok 1 - manual pages # SKIP scdoc is not installed"
    echo "1..1"
    exit 0
fi
make -s B="$B" pages >"$work/log" 2>&1 || { cat "$work/log" && exit 2; }
man=$B/pages/man
n=0
check() { # what, complaints
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        echo "# ${2//$'\n'/$'\n'# }"
        code=1
    fi
}
names() { sed -n 's/^  \([a-z-]*\)  .*/\1/p'; }
verbs=$("$B/tamis" help more | sed '/^Topics:/,$d' | names)
topics=$("$B/tamis" help more | sed '1,/^Topics:/d' | names)
check "every verb has a page" \
    "$(for verb in $verbs; do [ -s "$man/tamis-$verb.1" ] || echo "$verb"; done)"
# shellcheck disable=SC2086 # they are words
check "and every page a verb or a topic" \
    "$({ echo ./tamis.1 && printf './tamis-%s.1\n' $verbs && printf './tamis-%s.7\n' $topics; } |
        sort >"$work/wanted"
        cd "$man" && printf '%s\n' ./*.[17] | sort | diff - "$work/wanted")"
check "tamis(1) names them" \
    "$(for verb in $verbs $topics; do grep -q "tamis-$verb" "$man/tamis.1" || echo "$verb"; done)"
# A mark that scdoc took for its own would be missing from the text.
check "options are written out" \
    "$("$B/tamis" check -h | sed -n 's/.* --\([a-z-]*\).*/\1/p' | while read -r option; do
        grep -q -e "--$option" "$man/tamis-check.1" || echo "$option"
    done)"
if command -v groff >/dev/null; then
    check "groff has nothing to complain about" \
        "$(for page in "$man"/*.[17]; do groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null; done)"
    # Examples are lines to copy: they stay whole, the text around them is 80 columns wide.
    check "pages are 80 columns wide" \
        "$(for page in "$man"/*.[17]; do
            groff -man -Tascii -P-cbou -rLL=80n "$page" | awk -v page="$page" \
                'length > 80 && !/^           / { print page ": " $0 }'
        done)"
fi
# Without scdoc: one line about it, completions all the same.
mkdir "$work/bin" "$work/pages"
for tool in sh rm mkdir; do ln -s "$(command -v $tool)" "$work/bin/"; done
PATH=$work/bin sh tools/pages "$B/pages/pages" "$work/pages" >"$work/words" 2>&1
check "without scdoc there are only completions" \
    "$(grep -v 'scdoc is not installed' "$work/words"
        [ -s "$work/pages/completions/_tamis" ] || echo "no completions")"
echo "1..$n"
exit "${code:-0}"
