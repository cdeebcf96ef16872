# SPDX-License-Identifier: MIT
"""One filter by Spark: every executor hashes and routes its keys, one task builds each shard.

    spark-submit examples/shards/spark.py DIR SHARDS SPEC FILE...
    spark-submit examples/shards/spark.py /shared/parts 24 split:capacity=100M,fpr=1% 'keys/*.txt'

`tamis` must be on the PATH of the executors, and all of them must share DIR. Tasks may be repeated
and run twice at once (speculation): both make the same bytes, and an image gets its name when it is
complete. At the end: tamis assemble DIR/*.tamis -o whole.tamis
"""
import os
import shlex
import sys

from pyspark import SparkContext

REDUCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reduce.sh")


def main():
    folder, shards, wish, *files = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    context = SparkContext(appName="tamis shards")
    env = {"PATH": os.environ["PATH"]}  # the piped command starts with an empty environment
    words = {"wish": shlex.quote(wish), "shards": int(shards), "folder": shlex.quote(folder)}
    images = (context.textFile(",".join(files))
              .pipe("tamis partition --spec {wish} --shards {shards}".format(**words), env,
                    checkCode=True)
              .map(lambda line: line.split("\t", 1))
              .partitionBy(int(shards), int)
              .map("\t".join)
              .pipe("{reduce} {folder} {shards} {wish}".format(reduce=shlex.quote(REDUCE), **words), env,
                    checkCode=True)
              .collect())
    print(f"{len(images)} of {shards} shards")
    context.stop()


if __name__ == "__main__":
    main()
