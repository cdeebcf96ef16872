# SPDX-License-Identifier: MIT
# -h is a list of options on stdout; it needs no operands and wins over them.
tamis tick -h
tamis tick --force image -h >again
tamis tick -h | cmp - again
