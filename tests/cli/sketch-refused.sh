# SPDX-License-Identifier: MIT
# What sketch refuses, and that nothing is left behind.
seq 1 300000 >a
try() { tamis sketch "$@"; echo "exit $?"; }
try
try out.tamis a --similar --differences 5
try out.tamis a --counts --similar
try out.tamis a --bins 100
try out.tamis a --error 1%
try out.tamis a --similar --bins 3
try out.tamis a --differences 0
try out.tamis a --spec blocked:capacity=100
try out.tamis a --spec iblt:cells=8 --differences 5
try out.tamis a --memory 64k
try out.tamis a --memory 1M
try out.tamis nowhere
echo here >there.tamis
try there.tamis a
try missing/out.tamis a
tamis sketch - a >/dev/full; echo "exit $?"
ls
