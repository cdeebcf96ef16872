# SPDX-License-Identifier: MIT
# A line that is no pair is an error with its number, and nothing is written.
refuse() { printf "$1" >lines; tamis build -k approximator --values image.tamis lines; echo $?; }
refuse 'alice\t3\nbob\n'
refuse 'alice\t\n'
refuse 'alice\t3 \n'
refuse 'alice\t-3\n'
refuse 'alice\t3.5\n'
refuse 'alice\t0x\n'
refuse 'alice\t0x1ffffffffffffffff\n'
refuse 'alice\t18446744073709551616\n'
refuse 'alice\t3\nbob\t256\n'
refuse 'alice\t3\r\r\n'
refuse 'alice\t3\000\n'
refuse "alice\\t$(seq 1 90 | tr -d '\n')\\n"
tamis build --values --kind blocked image.tamis lines 2>&1 | sed 's/\(kinds that can\): .*/\1/'
tamis build --values --exclude lines image.tamis lines; echo $?
ls
