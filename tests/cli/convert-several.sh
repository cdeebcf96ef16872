# SPDX-License-Identifier: MIT
# A file with several filters: listed, and one of them chosen.
ln -s "$(dirname "$0")/../vectors/parquet" theirs
tamis info --from parquet theirs/duckdb_types.parquet
tamis info --from parquet theirs/duckdb_small.parquet --json
tamis info --from parquet:column=n,group=1 theirs/duckdb_types.parquet | grep -e spec -e note
echo "-- the file tells what its keys are"
printf '%s\n' 7 41 | tamis check --from parquet:column=n,group=0 theirs/duckdb_types.parquet
printf '%s\n' 1.5 100 | tamis check --from parquet:column=d,group=all theirs/duckdb_types.parquet
printf '%s\n' 7 | tamis check --from parquet:column=n,group=0 theirs/duckdb_types.parquet --keys int64
printf '%s\n' key-7 key-50 | tamis check --from parquet:column=s,group=all theirs/duckdb_types.parquet
tamis convert theirs/duckdb_types.parquet s.tamis --from parquet:column=s,group=0 -q
tamis convert s.tamis s.bits --to parquet-bitset -q
printf '%s\n' key-7 key-50 | tamis check --from parquet-bitset s.bits
tamis doctor -q --from parquet:column=s,group=0 theirs/duckdb_types.parquet && echo healthy
echo "-- which one?"
tamis convert theirs/duckdb_types.parquet x.tamis --from parquet
tamis check --from parquet:column=none theirs/duckdb_types.parquet s.bits
tamis doctor --from parquet:group=0 theirs/duckdb_types.parquet
tamis info --from parquet s.bits
tamis convert s.tamis x.parquet --to parquet
ls
