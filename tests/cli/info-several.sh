# SPDX-License-Identifier: MIT
# What can be told is told, the rest is reported.
echo key | tamis build -q a.tamis
cp a.tamis b.tamis
tamis info a.tamis nowhere.tamis b.tamis | grep -v '^  '
tamis info a.tamis nowhere.tamis >/dev/null 2>&1
echo $?
tamis info --json a.tamis b.tamis | grep -c '^{"file": "[ab].tamis", .*}$'
