#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semijoin.py: rows whose key is in a set, by DuckDB on one thread.

    semijoin.py plain|csv|jsonl SET FILE OUT
"""
import sys

import duckdb

TABLE = {
    "plain": "read_csv('%s', header=false, columns={'key': 'VARCHAR'}, delim='\\t', quote='', auto_detect=false)",
    "csv": "read_csv('%s', header=true, all_varchar=true)",
    "jsonl": "read_json('%s', format='newline_delimited')",
}
shape, keys, lines, out = sys.argv[1:]
database = duckdb.connect()
database.execute("SET threads = 1")
database.execute("COPY (FROM %s WHERE key IN (SELECT key FROM %s)) TO '%s' (HEADER false)"
                 % (TABLE[shape] % lines, TABLE["plain"] % keys, out))
