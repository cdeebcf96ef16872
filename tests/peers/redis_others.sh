#!/bin/bash
# SPDX-License-Identifier: MIT
# Moving from RedisBloom and back (TAMIS_REDISBLOOM=redisbloom.so), and our module in other servers than
# Debian's (TAMIS_REDIS_SERVERS=/path/valkey-server:...). What is not named is skipped.
here=$(cd "$(dirname "$0")" && pwd)
code=0
for program in "$here/redis_moving.py" "$here/redis_servers.py" "$here/../redis/differ.py"; do
    python3 "$program" || code=1
done
exit $code
