# SPDX-License-Identifier: MIT
# The published tables: three bands, and cells that everybody knows.
tamis plan --table >table
grep -c . table
grep 'm/n' table
grep -E '^ *(2|10|30) ' table
awk 'length > 100' table
