# SPDX-License-Identifier: MIT
# The version, whatever it is, what the program was built from, and what it uses of this processor.
tamis --version | sed -e 's/^processor: [a-z0-9]*$/processor: CPU/' -e 's/[0-9][0-9.]*/N/g' -e 's/by [a-z]*/by CC/' -e 's/^input: .*/input: .../; s/^signatures: .*/signatures: .../'
TAMIS_CPU=plain tamis --version | grep '^processor'
tamis --version >long
tamis -V | cmp - long
