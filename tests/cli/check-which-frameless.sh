# SPDX-License-Identifier: MIT
# Filters of other systems that do not say what they are cannot be found in a directory.
mkdir days
seq 1 100 | tamis build -q - --kind guava --keys int64 | tamis convert -q - days/1.bin --to guava
seq 101 200 | tamis build -q - --kind guava --keys int64 | tamis convert -q - days/2.bin --to guava
echo 100 | tamis check --which --from guava --keys int64 days/; echo $?
echo 100 | tamis check --which --from guava --keys int64 --image days/1.bin --image days/2.bin
echo 100 | tamis check --which --from parquet --keys int64 days/; echo $?
