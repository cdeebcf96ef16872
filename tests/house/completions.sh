#!/bin/bash
# SPDX-License-Identifier: MIT
# The completions are loaded by their shells, and complete what the table of verbs has. A shell that
# is not installed is skipped.
cd "$(dirname "$0")/../.." || exit 2
: "${B:=build}"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
make -s B="$B" pages >"$work/log" 2>&1 || { cat "$work/log" && exit 2; }
at=$(cd "$B/pages/completions" && pwd)
touch "$work/apples.tamis" "$work/apples.txt"
n=0
say() { # "" or "not ", what
    n=$((n + 1))
    echo "$1ok $n - $2"
    [ -z "$1" ] || code=1
}

# A line up to the cursor, and what it becomes; words that no other completion starts with.
cases='tamis che|check
tamis inser|
tamis check --inv|--invert-match
tamis join --out|--output
tamis build x.tamis --kind casc|cascade
tamis build x.tamis --kind=casc|cascade
tamis build -k casc|cascade
tamis check --color al|always
tamis kinds casc|cascade
tamis formats guav|guava
tamis convert --from guav|guava
tamis check --keys uint32b|uint32be
tamis build x.tamis --hash sip|sip13
tamis build x.tamis --canon doma|domain
tamis build x.tamis --canon trim,doma|trim,domain
tamis convert --to guav|guava
tamis help inter|intersect
tamis help numb|numbers
tamis help mor|more
tamis check app|apples.tamis
tamis build x.tamis --label name apples.tx|apples.txt
tamis check -n app|apples.tamis
tamis create -n 10 app|apples.tamis'

# shellcheck disable=SC2016 # the other shell expands these
by_bash() {
    cd "$work" && COMP_LINE=$1 bash --norc --noprofile -c '
        source "$0/tamis.bash" || exit 2
        compopt() { :; } # only works while the shell itself completes
        # As readline does it: = is a word of its own.
        read -ra COMP_WORDS <<<"${COMP_LINE//=/ = }"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _tamis && echo "${COMPREPLY[*]}"' "$at"
}
by_fish() {
    cd "$work" && fish --no-config -c "source $at/tamis.fish; and complete -C '$1'" |
        head -n 1 | cut -f 1 | sed 's/.*=//'
}
# zsh completes only at a terminal of its own. What it prints there is the rest of the word.
# shellcheck disable=SC2016
by_zsh() {
    cd "$work" && line=$1 want=$2 at=$at timeout 60 zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1=; unset zle_bracketed_paste; fpath=($at \$fpath)"
        zpty -w shell "autoload -Uz compinit; compinit -u -d $PWD/dump; echo loa\"\"ded"
        zpty -r shell seen "*loaded*" || exit 1
        zpty -n -w shell "$line"$'"'\\t'"'
        zpty -r shell seen "*$want*" && echo "$want"
        zpty -d shell'
}

for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        n=$((n + 1))
        echo "ok $n - $shell # SKIP $shell is not installed"
        continue
    fi
    if [ $shell = zsh ] && ! zsh -f -c 'zmodload zsh/zpty && zpty one true' >/dev/null 2>&1; then
        n=$((n + 1))
        echo "ok $n - zsh # SKIP no pseudo-terminal can be opened here"
        continue
    fi
    while IFS='|' read -r line want; do
        # To wait at a terminal for nothing would be a matter of time.
        [ -z "$want" ] && [ $shell = zsh ] && continue
        got=$(case $shell in
            bash) by_bash "$line" ;;
            zsh) by_zsh "$line" "$want" ;;
            fish) by_fish "$line" ;;
            esac 2>&1 </dev/null)
        if [ "$got" = "$want" ]; then say "" "$shell: $line"; else
            say "not " "$shell: $line"
            echo "# expected \"$want\", not \"$got\""
        fi
    done <<<"$cases"
done
echo "1..$n"
exit "${code:-0}"
