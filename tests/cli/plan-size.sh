# SPDX-License-Identifier: MIT
# Two of three fix the third.
tamis plan --json --kind classic --capacity 1000 --size 1250 |
    grep -Eo '"(capacity|payload_bytes|bits_per_key|probes|fpr_asked)": [0-9a-z.]*'
tamis plan --json --kind classic --size 1250 --fpr 1% |
    grep -Eo '"(payload_bytes|fpr_asked)": [0-9a-z.]*'
