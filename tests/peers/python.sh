#!/bin/bash
# SPDX-License-Identifier: MIT
# The test suites of rbloom and pybloom_live, from their archives on PyPI, with our classes in the place of theirs; and our tests
# that read their files. What fails there and why:
#
#     rbloom     circular_ref: gc.get_referents of a class of Python names the class too
#                api_suite: its first line is the exact text of a filter, whose bits are whole bytes there and whole words here
#     pybloom    TestMakeHashFuncs: how it chooses its digests is not part of the class
. "$(dirname "$0")/common"
python=${PYTHON:-python3}
tree=${PYTHONPATH:-$PWD/$B/python/tree}
[ -e "$tree/tamis/_tamis.abi3.so" ] || tree=$B/python/tree
[ -e "$tree/tamis/_tamis.abi3.so" ] || skip python "the module is not built: make python-ready"
"$python" -m venv "$work/venv" >"$work/venv.log" 2>&1 || skip python "no venv"
"$work/venv/bin/pip" install -q pytest rbloom pybloom-live >>"$work/venv.log" 2>&1 || skip python "PyPI cannot be reached"
for package in rbloom==1.5.4 pybloom-live==4.0.0; do
    "$work/venv/bin/python" "$here/archive.py" "$package" "$work" >>"$work/venv.log" 2>&1 || skip python "no archive of $package"
done

# A module of their name that has our class.
mkdir -p "$work/ours/pybloom_live"
echo 'from tamis.compat.rbloom import Bloom' >"$work/ours/rbloom.py"
echo 'from tamis.compat.pybloom_live import BloomFilter, ScalableBloomFilter' >"$work/ours/pybloom_live/__init__.py"
cat >"$work/ours/pybloom_live/pybloom.py" <<'EOF'
from tamis.compat.pybloom_live import BloomFilter, ScalableBloomFilter
make_hashfuncs = None
EOF
cp "$work"/pybloom_live-*/pybloom_live/utils.py "$work/ours/pybloom_live/"
cp "$work"/pybloom_live-*/pybloom_live/test_pybloom.py "$work/test_pybloom.py"
cat >"$work/rbloom_api.py" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import api_test as t
from rbloom import Bloom
t.test_bloom(Bloom(13242, 0.0000001))
t.test_bloom(Bloom(98741, 0.01, hash_func=t.sha_based))
t.test_bloom(Bloom(2837, 0.5))
t.operations_with_self()
assert Bloom(1140, 0.999).hash_func == hash
assert Bloom(102, 0.01, hash_func=hash).hash_func is hash
assert Bloom(103100, 0.51, hash_func=t.sha_based).hash_func is t.sha_based
EOF
suite_of_rbloom() { (cd "$work" && PYTHONPATH=$work/ours:$tree "$work/venv/bin/python" rbloom_api.py "$work"/rbloom-*/tests); }
suite_of_pybloom() {
    (cd "$work" && PYTHONPATH=$work/ours:$tree "$work/venv/bin/python" -m pytest -q -p no:cacheprovider test_pybloom.py \
        --deselect test_pybloom.py::TestMakeHashFuncs)
}
files() { (cd "$here/../python-binding" && PYTHONPATH=$tree "$work/venv/bin/python" -m pytest -q -p no:cacheprovider --noconftest test_compat.py); }
step "python: rbloom's tests with our Bloom" suite_of_rbloom
step "python: pybloom_live's tests with our BloomFilter and ScalableBloomFilter" suite_of_pybloom
step "python: files of both" files
exit $code
