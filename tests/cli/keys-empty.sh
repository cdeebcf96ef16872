# SPDX-License-Identifier: MIT
# An empty line is an empty key.
printf 'a\n\nb\n' >keys
tamis build -q with.tamis keys
printf 'a\nb\n' | tamis build -q without.tamis
printf '\n' | tamis check -n with.tamis
printf '\n' | tamis check -n without.tamis
