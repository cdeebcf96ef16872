# SPDX-License-Identifier: MIT
# A file that comes by redirection is read from where it stands.
seq 1 100 >keys
{ dd bs=1 count=2 >/dev/null 2>&1; tamis build -q rest.tamis; } <keys
tamis info rest.tamis | grep 'capacity  '
echo 1 | tamis check rest.tamis
echo $?
