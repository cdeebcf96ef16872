# SPDX-License-Identifier: MIT
# Places that cannot be written to are told before the first key is read.
echo key >keys
tamis build nowhere/image keys; echo $?
tamis build image keys --temp-dir nowhere; echo $?
tamis build image keys --temp-dir keys; echo $?
ls
[ "$(id -u)" != 0 ] && mkdir shut && chmod 555 shut && {
    tamis build shut/image keys 2>&1 | sed 's/^/# /' >words
    tamis build image keys --temp-dir shut 2>&1 | sed 's/^/# /' >>words
    grep -c 'Permission denied' words | grep -vx 2
}
ls image 2>/dev/null
echo "# a folder of one's own"
mkdir temp
seq 1 2500000 | tamis build -q image --temp-dir temp --memory 20M --verify && ls temp
seq 1 2500000 | tamis check -c image
