# SPDX-License-Identifier: MIT
# Without --label a set has the name of its file; what comes through a pipe is the default.
mkdir feeds
echo ant >feeds/spam.txt
echo bee >feeds/.hidden
echo cat >feeds/list.tar.gz
echo dog | tamis build -q image.tamis --kind labels feeds/spam.txt feeds/.hidden feeds/list.tar.gz -
tamis label image.tamis
echo ant | tamis build -q pipe.tamis --kind labels
tamis label pipe.tamis
tamis build -q none.tamis --kind labels </dev/null
tamis label none.tamis; echo $?
tamis label -q none.tamis first feeds/spam.txt
tamis label none.tamis
