# SPDX-License-Identifier: MIT
# -h is a list of options on stdout; it needs no operands and wins over them.
tamis check -h
tamis check --crlf image -h >again
tamis check -h | cmp - again
