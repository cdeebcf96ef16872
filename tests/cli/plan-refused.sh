# SPDX-License-Identifier: MIT
# A wish that is unclear, and one that no kind can fulfil.
tamis plan; echo $?
tamis plan --fpr 1%; echo $?
tamis plan blocked; echo $?
tamis plan blocked:capacity=10 --fpr 1%; echo $?
tamis plan --capacity 2^56 --fpr 1e-12; echo $?
tamis plan capacity=many; echo $?
tamis plan --kind classic --capacity 2^56 --fpr 1e-12 2>/dev/null; echo $?
