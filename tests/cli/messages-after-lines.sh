# SPDX-License-Identifier: MIT
# What is said about lines comes after them, however output and messages are joined, and whether the
# lines came from a file or from a pipe that was still open.
printf '192.0.2.1\n' | tamis build -q hosts.tamis --canon ip
printf '192.0.2.1\nx\n192.0.2.1\n' >lines
echo "-- a warning at the end"
tamis check hosts.tamis lines 2>&1
(cat lines) | tamis check hosts.tamis 2>&1
echo "-- an error on the way"
tamis check --strict hosts.tamis lines 2>&1
echo "-- a file that is missing, after one that is there"
tamis check hosts.tamis lines missing 2>&1
echo "-- a summary"
tamis sketch -q seen.tamis lines --counts --error 0.1% --error-prob 1%
tamis count seen.tamis lines 2>&1
tamis uniq lines 2>&1
