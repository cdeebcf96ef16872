#!/bin/bash
# SPDX-License-Identifier: MIT
# Our declarations of the server's functions (engines/redis/api.def) against its own header:
# REDISMODULE_H=path of redismodule.h; skipped without.
cd "$(dirname "$0")/../.." || exit 2
if [ -z "$REDISMODULE_H" ]; then
    echo "ok 1 - prototypes # SKIP no header of a server: REDISMODULE_H is not set"
    echo "1..1"
    exit 0
fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
# A header may lack newer functions; the types of the others come from their declarations.
while IFS= read -r line; do
    name=$(sed -n 's/^\(NEEDED\|WANTED\)([^,]*, \([A-Za-z]*\),.*/\2/p' <<<"$line")
    if [ -z "$name" ] || ! grep -q "(\*RedisModule_$name)" "$REDISMODULE_H"; then
        [ -z "$name" ] || echo "# the header has no $name"
        continue
    fi
    case $name in
    CreateDataType) type='redis_type *(*)(redis_ctx *, const char *, int, redis_methods *)' ;;
    SetCommandInfo) type='int (*)(redis_command *, const redis_command_info *)' ;;
    SubscribeToServerEvent) type='int (*)(redis_ctx *, redis_event, redis_on_event *)' ;;
    *) type="__typeof__(RedisModule_$name)" ;;
    esac
    echo "#define TYPE_OF_$name $type" >>"$work/present_types.h"
    echo "$line" >>"$work/present.def"
done <engines/redis/api.def
if "${CC:-cc}" -std=gnu11 -fsyntax-only -I. -I"$work" -DSERVER_HEADER="\"$(realpath "$REDISMODULE_H")\"" \
    tests/redis/prototypes.c >"$work/log" 2>&1; then
    echo "ok 1 - $(grep -c . "$work/present.def") prototypes, structs and numbers are the server's"
else
    echo "not ok 1 - prototypes, structs and numbers are the server's"
    sed 's/^/# /' "$work/log"
fi
echo "1..1"
! grep -q error "$work/log"
