# SPDX-License-Identifier: MIT
# Without arguments: a reminder on stderr, and exit 2.
tamis 2>words
echo $?
head -n 1 words
grep -c -E '^  (build|add|check|info) ' words
tamis -h | cmp - words
tamis help | head -n 1
