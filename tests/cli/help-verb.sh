# SPDX-License-Identifier: MIT
# "help VERB" and "VERB --help" are the same page, with examples before all else.
tamis help fold
tamis fold --help >again
tamis help fold | cmp - again
