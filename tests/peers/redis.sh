#!/bin/sh
# SPDX-License-Identifier: MIT
# RedisBloom and Redis against us. Redis alone shows its LZF and its checksums; with the module, named
# by TAMIS_REDISBLOOM=/path/to/redisbloom.so, random BF, CF and CMS go both ways by SCANDUMP,
# LOADCHUNK, DUMP and RESTORE, and every byte and answer must agree. Needs redis-server and python3.
here=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$here/build}
if ! command -v redis-server >/dev/null || ! command -v python3 >/dev/null; then
    echo "ok 1 - redis # SKIP no redis-server or no python3"
    echo "1..1"
    exit 0
fi
mkdir -p "$B/peers" &&
    ${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$here/include" -I"$here/src" -o "$B/peers/redis_driver" \
        "$here/tests/peers/redis_driver.c" "$B/libtamis.a" -lm -lpthread || exit 1
exec python3 "$here/tests/peers/redis.py" "$B/peers/redis_driver"
