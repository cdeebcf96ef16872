# SPDX-License-Identifier: MIT
# A window: what is new among the last three lines; a line that was there counts as just seen.
tamis build -q recent.tamis --spec window:capacity=3,generations=3,fpr=1e-9 </dev/null
{ echo ant; seq 1 2; echo ant; seq 3 4; echo ant; seq 5 20; echo ant; } >lines
tamis add -q --new recent.tamis lines | tr '\n' ' '
echo
tail -n 4 lines | tamis add -q --new recent.tamis; echo $?
tamis info recent.tamis | grep '^  items' | sed 's/about.*still/about N still/; s/inside.*/inside/'
