# SPDX-License-Identifier: MIT
# Too few and too many operands, and empty names.
tamis build
echo $?
tamis union one.tamis -o out.tamis
tamis union one.tamis two.tamis
tamis kinds classic blocked
tamis check ''
echo $?
