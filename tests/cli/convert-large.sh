# SPDX-License-Identifier: MIT
# A Parquet file that is larger than any memory: only what leads to a filter is read.
# A sanitizer keeps a byte for every eight, and has none to keep for that many.
[ -z "${TAMIS_QUICK:-}" ] || { echo "a sanitizer has no memory for files of 1 TiB"; exit 77; }
small=$(dirname "$0")/../vectors/parquet/duckdb_small.parquet
size=$(wc -c <"$small")
tail -c 8 "$small" | od -An -tu4 -N4 >length
footer=$(($(cat length) + 8))
head -c $((size - footer)) "$small" >large.parquet
truncate -s 1T large.parquet 2>/dev/null || { echo "no file of 1 TiB can be made here"; exit 77; }
tail -c "$footer" "$small" >>large.parquet
tamis info --from parquet large.parquet
tamis convert -q large.parquet large.tamis --from parquet:column=w
tamis convert -q "$small" small.tamis --from parquet:column=w
cmp large.tamis small.tamis && echo the same
tamis convert -q large.parquet x.tamis --from parquet:column=none
echo $?
