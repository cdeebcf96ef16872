#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of what talks to clusters; the named sections of
# tests/redis/cluster.py must go red for each, or, for `unit`, tests/unit/test_key_slots.c.
. "$(dirname "$0")/../support/planted.inc"
prepare include src cli engines tests docs -- build/tamis build/tamis-redis.so build/tests/unit/test_key_slots

try() { # sections
    if [ "$1" = unit ]; then
        make -s CFLAGS=-O1 build/tests/unit/test_key_slots >build.log 2>&1 || return 2
        limited build/tests/unit/test_key_slots >test.log 2>&1 || return 1
    else
        make -s CFLAGS=-O1 build/tamis >build.log 2>&1 || return 2
        build/tamis cluster info x --redis 127.0.0.1:1 --timeout 1 2>&1 | grep -q 'without hiredis' && return 3
        TAMIS=$PWD/build/tamis TAMIS_REDIS=$PWD/build/tamis-redis.so limited tests/redis/cluster.py "$@" >test.log 2>&1 || return 1
    fi
}

plant "empty braces count" unit cli/net/key_slots.c "close > open + 1" "close"
plant "tags lie in the slot beside" unit cli/net/key_slots.c \
    "tag[slot_crc(word, len) % SLOTS]" "tag[(slot_crc(word, len) + 1) % SLOTS]"
plant "nobody says the password" one_server cli/net/cluster_loop.c 'getenv("REDISCLI_AUTH")' "NULL"
plant "the usual hash becomes a keyed one" one_server cli/net/cluster_create.c \
    'spec_has(spec, "hash")
                           ?' '!spec_has(spec, "key")
                           ?'
plant "every chunk is the first" one_server cli/net/shard_images.c \
    "send_chunk(shards, key, at, total" "send_chunk(shards, key, 0, total"
plant "any policy will do" refusals cli/net/shard_set.c '!*policy || strcmp(policy, "noeviction") == 0' "true"
plant "what was made stays when the rest cannot be" all_or_nothing cli/net/cluster_create.c \
    "if (code) take_back(shards, is_made);" ""
plant "the form of keys is not told" forms cli/net/shard_set.c \
    "return code ? code : copy_notes(shards, info);" "return code;"
plant "ASK is taken for MOVED" under_load cli/net/cluster_redirect.c \
    "redirect(net, node, request, reply, is_moved);" "redirect(net, node, request, reply, true);"
plant "the word of a primary is enough" under_load check_all cli/net/cluster_confirm.c \
    "node->had_replicas ? keep_of(packer, node) : NULL" "NULL"
plant "what a dead primary had is forgotten" under_load check_all cli/net/cluster_confirm.c \
    "parcel_send(packer, parcel);" "parcel_free(packer, parcel);"
plant "answers come in the order of shards" under_load check_order cli/net/cluster_pack.c \
    "hit[piece->index[j]] =" "hit[j] ="
plant "info counts one shard" under_load dump_is_the_image cli/net/cluster_info.c \
    "sums->items += items;" "sums->items = items;"
plant "any secret is ours" lost_shard lost_first_shard other_secret cli/net/cluster_survey.c \
    "memcmp(reply->str, secret, SECRET_BYTES) == 0" "true"
plant "a loss needs no word" lost_shard cli/net/cluster_repair.c \
    "health == SHARD_ABSENT && repairing->accepts_loss" "health == SHARD_ABSENT"
plant "keys that came since are replaced" lost_shard stopped other_keys cli/net/cluster_image.c \
    "!is_same && !loading->replaces" "false"
plant "silence is a no" lost_shard lost_first_shard silent_shards cli/net/cluster_pack.c "bits[at / 8] >> at % 8 & 1 : 1" \
    "bits[at / 8] >> at % 8 & 1 : 0"
plant "nobody hears of maybes" lost_shard lost_first_shard silent_shards cli/net/cluster_keys.c \
    "if (packer->maybes > 0 && code != EXIT_TROUBLE) code = EXIT_MAYBE;" ""
plant "a silent node is waited for" lost_shard lost_first_shard silent_shards cli/net/cluster_loop.c \
    "now - node->received > net->silence" "now - node->received > 100 * net->silence"
plant "an add gives up before the election" under_load primary_is_dead cli/net/shard_set.c \
    "while (!fitness.code && fitness.is_silent && now_ms() < deadline" "while (fitness.code && fitness.is_silent && now_ms() < deadline"
plant "what a shard has is merged again" lost_shard lost_first_shard cli/net/cluster_repair.c "if (!lacks) return true;" ""
plant "nobody says ASKING" under_load cli/net/cluster_link.c "request->asks ? sizeof asking - 1 : 0" "0"
finish
