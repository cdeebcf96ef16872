#!/bin/bash
# Faults planted one by one into a copy of what reads and writes other systems' filters; the named
# unit test must go red for each.
#
#     fault  test  file  what to replace  by what
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
# With their times: what is compiled already need not be compiled again.
cp -a Makefile include src tests "$work" || exit 2
find build/src build/tests build/libtamis.a -name '*.[oda]' -exec cp -a --parents -t "$work" {} + 2>/dev/null
cd "$work" || exit 2
export CMOCKA_MESSAGE_OUTPUT=TAP
n=0

try() { # test: builds and runs it, with several times the processor time that it takes when green
    make -s -j2 CFLAGS=-O1 "build/tests/unit/$1" >build.log 2>&1 || return 2
    (ulimit -t 100 && exec timeout 200 "build/tests/unit/$1") >test.log 2>&1 || return 1
}

# A test that is red without a fault would seem to catch all of them. Once for each is enough.
declare -A is_green
must_be_green() { # test
    [ "${is_green[$1]}" ] && return
    try "$1" && grep -q '^ok' test.log && is_green[$1]=yes
}

plant() { # name, test, file, old, new
    n=$((n + 1))
    must_be_green "$2" || { echo "not ok $n - planted: $1: $2 is red without it" && code=1 && return; }
    cp "$3" saved
    python3 - "$3" "$4" "$5" <<'END' || { echo "not ok $n - planted: $1: there is no such place" && code=1 && return; }
import sys
path, old, new = sys.argv[1:]
text = open(path).read()
assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
open(path, "w").write(text.replace(old, new))
END
    try "$2"
    case $? in
    0) echo "not ok $n - planted: $1 is not caught by $2" && code=1 ;;
    1) echo "ok $n - planted: $1 is caught by $2" ;;
    *) echo "not ok $n - planted: $1: does not compile" && sed 's/^/# /' build.log && code=1 ;;
    esac
    cp saved "$3"
}

plant "a link of RedisBloom is not halved in rate" test_redis \
    src/foreign/redisbloom.c "last->error * tightening, link)" "last->error, link)"
plant "a link may have more hashes than its bits per key say" test_redis \
    src/foreign/redisbloom.c "link->hashes != hashes_for(link->bpe)" "link->hashes > 1u << 20"
plant "fingerprints that found no place stay where they were pushed" test_redis \
    src/foreign/rediscuckoo.c "swap(&bucket_of(t, bucket)[victim], &value);
    }
    return false;" "(void)victim;
    }
    return false;"
plant "sub-filters of CF may have any size in a dump" test_redis \
    src/foreign/redisdump.c "(s.length != cells || buckets != cells / h.bucket_size)" "s.length != cells"
plant "LZF goes back to before its start" test_redis \
    src/foreign/lzf.c " || now.back > *length" ""
plant "an add of many that is full leaves what it added" test_redis \
    src/core/change.c "    if (rc) {
        const tamis_block changed" "    if (rc == TAMIS_NOMEM) {
        const tamis_block changed"
echo "1..$n"
exit ${code:-0}
