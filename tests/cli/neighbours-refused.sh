# SPDX-License-Identifier: MIT
# Messages and folders that are none; a table stays as it was.
tamis create -q b.tamis --spec counting:capacity=100,log=yes
seq 1 50 | tamis add -q b.tamis && tamis announce -q b.tamis -o good
tamis neighbours -q peers --receive b good && cp peers/b.tamis before
seq 51 60 | tamis add -q b.tamis && tamis announce -q b.tamis -o next
: >empty; seq 1 10 >text; head -c 20 next >short; { cat next; echo; } >long
{ head -c 30 next; printf X; tail -c +32 next; } >wrong
for bad in empty text short long wrong missing; do tamis neighbours peers --receive b $bad; echo $?; done
cmp peers/b.tamis before
tamis neighbours peers --receive ../b good; echo $?
tamis neighbours peers --receive '' good; echo $?
tamis neighbours peers --receive .b good; echo $?
tamis neighbours peers text --receive b good; echo $?
tamis neighbours peers --receive b; echo $?
tamis neighbours peers text --list; echo $?
tamis neighbours peers --json; echo $?
tamis neighbours nowhere text; echo $?
tamis neighbours text text; echo $?
tamis neighbours text --receive b good; echo $?
tamis neighbours; echo $?
cp b.tamis peers/own.tamis; tamis neighbours peers text; echo $?
tamis neighbours peers --receive own good; echo $?
tamis neighbours peers --list
