#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of the module for Redis; the named test of tests/redis must go
# red for each.
#
#     fault  test  file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"
prepare include src cli engines tests -- build/tamis build/tamis-redis.so build/tests/unit/test_redis_api build/tests/unit/test_redis_clock

try() { # test of tests/redis, or one of tests/unit
    case $1 in test_redis_*)
        make -s -j2 CFLAGS=-O1 "build/tests/unit/$1" >build.log 2>&1 || return 2
        limited "build/tests/unit/$1" >test.log 2>&1 || return 1
        return
    esac
    command -v redis-server >test.log || return 3
    make -s -j2 CFLAGS=-O1 build/tamis-redis.so >build.log 2>&1 || return 2
    TAMIS=build/tamis TAMIS_REDIS=$PWD/build/tamis-redis.so limited "tests/redis/${1%.py}.py" >test.log 2>&1 || return 1
}

plant "a cell that stopped is told as a count" cms.py \
    engines/redis/cms.c "if (count < UINT32_MAX)" "if (count <= UINT32_MAX)"
plant "numbers are looked at while items are added" cms.py \
    engines/redis/cms.c 'return "CMS: Cannot parse number";' "return NULL;"
plant "sketches are made however large" cms.py \
    engines/redis/cms.c "creation_plan(&c, spec, (size_t)len) || c.bytes > bounds_filter_bytes()" \
    "creation_plan(&c, spec, (size_t)len)"
plant "a merge does not ask for the secret" cms.py \
    engines/redis/cms_merge.c "if (!why) return false;" "if (!why || true) return false;"
plant "a merge does not wait for who works on its sources" cms.py \
    engines/redis/commands.c "finds_keys_itself(c) ? r->argc - 1 : c->last < 0" "c->last < 0"
plant "M19: a merge is not replicated" cms.py \
    engines/redis/cms_merge.c 'request_changed(r, "cms.merge");' 'request_notify(r, "cms.merge");'
plant "an encoding of tomorrow is read" cms.py \
    engines/redis/origin_cms.c "if (encoding != ORIGIN_CMS_ENCODING)" "if (false)"
plant "the counter of a sketch is not saved" cms.py \
    engines/redis/origin_cms.c "i < FIELDS; i++) redis.SaveUnsigned(io, le_get(payload + 8 * i, 8));" \
    "i < FIELDS; i++) redis.SaveUnsigned(io, i < 2 ? le_get(payload + 8 * i, 8) : 0);"
plant "half a cuckoo filter says no" cf.py \
    engines/redis/many.c "if (request_is_coming(r)) return REDIS_OK;
    if (r->value) return many_ask" "if (r->value && r->value->filter) return many_ask"
plant "removed items are not counted" cf.py engines/redis/cf.c "v->facts.deleted++;" ""
plant "a cuckoo filter has no bits to grow with" cf.py \
    engines/redis/cf_new.c "return STAY + doublings;" "return STAY + doublings - doublings;"
plant "a replica keeps to limits of its own" cf.py \
    engines/redis/cf_add.c "return bounds_bind() ? (uint64_t)" "return true ? (uint64_t)"
plant "replicas get what did not go in" cf.py \
    engines/redis/cf_add.c "if (a->result[i] != NO_ROOM) kept[n++]" "if (n < found) kept[n++]"
plant "a larger filter is not put in place" cf.py \
    engines/redis/cf_add.c "if (j->result) job_replace(j);" "tamis_free(j->result);"
plant "any number of buckets is believed" cf.py \
    engines/redis/cf_info.c "!is_power_of_two(s->buckets) ||" ""
plant "compacting does not begin to count anew" cf.py \
    engines/redis/cf_compact.c "s->deleted = 0;" ""
plant "sub-filters of a file may have any number of buckets" cf.py \
    engines/redis/origin_cuckoo.c "size == cells && buckets == cells / s->bucket_size" "size == cells"
plant "removals are not saved" cf.py \
    engines/redis/origin_cuckoo.c "s.items,    s.deleted," "s.items,    0 * s.deleted,"
plant "half a Bloom filter says no" bf.py \
    engines/redis/many.c "if (request_is_coming(r)) return REDIS_OK;
    if (r->value) return many_ask" "if (r->value && r->value->filter) return many_ask"
plant "an expansion of 0 scales" bf.py \
    engines/redis/bf.c "if (n.params.expansion == 0) n.params.is_fixed = true;" ""
plant "the same item twice in a command is new twice" bf.py \
    engines/redis/bf_add.c "t->hit[i] = seen[slot] != 0;" "t->hit[i] = 0;"
plant "what does not scale takes any number" bf.py \
    engines/redis/bf_add.c "*is_done = n <= l->room && n" "*is_done = n"
plant "what seems to be there is not replicated" bf.py \
    engines/redis/bf_add.c "if (r->is_verbatim && o->done == t->count)" "if (!o->added) {} else if (r->is_verbatim)"
plant "an item by itself is not replicated" bf.py \
    engines/redis/bf_add.c "    request_replicate(r);
    if (is_new)" "    if (is_new)"
plant "an item by itself goes into what does not scale" bf.py \
    engines/redis/bf_add.c "v->hashes_itself || v->facts.expansion == 0) return false;" "v->hashes_itself) return false;"
plant "an item by itself makes a filter grow while others wait" work.py \
    engines/redis/bf_add.c "if (tamis_remaining(v->filter) == 0) return false;" ""
plant "no limit binds an item by itself" one_item.py \
    engines/redis/bf_add.c "if (tamis_remaining(v->filter) == 0) return false;" ""
plant "an item by itself does not ask what its key owes" one_item.py \
    engines/redis/commands.c "if (!is_quiet() && !may_begin(&r)) return REDIS_OK;" ""
plant "an item by itself leaves its key open" one_item.py \
    engines/redis/commands.c "        request_close(&r);
    else" "        (void)r;
    else"
plant "an item by itself is not replicated to a cuckoo filter" cf.py \
    engines/redis/cf_add.c "    request_replicate(r);
    if (!is_there)" "    if (!is_there)"
plant "an item by itself that is there is added again" cf.py \
    engines/redis/cf_add.c "const bool is_there = only_new &&" "const bool is_there = false &&"
plant "an item by itself goes into a cuckoo filter that does not grow" cf.py \
    engines/redis/cf_add.c "v->hashes_itself || v->facts.expansion == 0) return false;" "v->hashes_itself) return false;"
plant "a filter that grew is not put in place" bf.py \
    engines/redis/bf_add.c "        job_replace(j);" "        tamis_free(j->result);"
plant "A6: any rate above a quarter is taken" bf.py \
    engines/redis/bf_new.c "const double max = 0.25," "const double max = 1,"
plant "half a seed is left out" bf.py \
    engines/redis/bf_new.c "memcpy(text, seed + SECRET_BYTES, sizeof text - 1);" "memset(text, 0, sizeof text - 1);"
plant "the capacity is that of the first stage" bf.py \
    engines/redis/bf_info.c ".capacity = (first << stages) - first," ".capacity = first,"
plant "a chunk may reach into the next link" bf.py \
    engines/redis/bf_dump.c "return len > left ? \"ERR invalid chunk" "return false ? \"ERR invalid chunk"
plant "a header may say other items than its links" bf.py \
    engines/redis/bf_dump.c "return items == h.items;" "return true;"
plant "links are saved without their items" bf.py \
    engines/redis/origin_bloom.c "redis.SaveUnsigned(io, l.items);" "redis.SaveUnsigned(io, 0 * l.items);"
plant "old files have no bits" bf.py \
    engines/redis/origin_bloom.c "bits_of_old(&l);" "8;"
plant "a function that is needed may be missing" test_redis_api \
    engines/redis/api.c "if (FETCH(name) && !missing) missing = #name;" "FETCH(name);"
plant "a command that another module has is passed over" test_redis_api \
    engines/redis/commands.c "if (create(ctx, c)) return REDIS_ERR;" "create(ctx, c);"
plant "readers of a key may not ask it" server_side \
    engines/redis/commands.c "writes(c) && i == 0 ? change : read" "change"
plant "questions are not counted" server_side \
    engines/redis/module.c "counters.items[false]" "counters.items[true]"
plant "a load that has begun forgets when its key leaves" server_side \
    engines/redis/request.c "if (redis.ModuleTypeGetType(r->opened) == value_type(r->value)) return;" \
    "const bool is_old = true; if (is_old) { request_set(r, value_hold(r->value)); return; }"
plant "hashes of another shard are asked" own \
    engines/redis/own_hashes.c "if (shard[i] == info.shard) continue;" "continue;"
plant "values are put up to the first that does not fit" own \
    engines/redis/own.c "if (b->number[i] > b->number[hardest]) hardest = i;" "(void)i;"
plant "the first source is left out" own \
    engines/redis/own_merge.c ".number = is_new ? 1 : 0" ".number = 1"
plant "a copy that failed is put in place" own \
    engines/redis/alter.c "rc = a->alter(j->result, a, j);" "rc = (a->alter(j->result, a, j), TAMIS_OK);"
plant "a replica says seen when all has left" own \
    engines/redis/clock.c "return due <= generations_of(v->filter);" "return true;"
plant "ticks are not told to replicas" own \
    engines/redis/clock.c "redis.Replicate(r->ctx, \"TAMIS.TICK\", \"slcl\", r->key, (long long)n," \
    "if (false) redis.Replicate(r->ctx, \"TAMIS.TICK\", \"slcl\", r->key, (long long)n,"
plant "when it ticked last is forgotten" own \
    engines/redis/value.c "v->facts.family == FAMILY_TAMIS && !v->facts.every" "v->facts.family == FAMILY_TAMIS"
plant "who waited is not replicated" work \
    engines/redis/request.c "    if (r->is_late)
        redis.Replicate(" "    if (r->is_late) return;
    if (r->is_late)
        redis.Replicate("
plant "jobs end while clients are paused" work \
    engines/redis/work.c "!redis.AvoidReplicaTraffic();" "redis.AvoidReplicaTraffic() < 2;"
plant "a replica does at once what its primary left to the worker" work \
    engines/redis/request.c "REDIS_IN_SCRIPT | REDIS_IN_MULTI | REDIS_IS_LOADING" \
    "REDIS_IN_SCRIPT | REDIS_IN_MULTI | REDIS_IS_REPLICATED | REDIS_IS_LOADING"
plant "a replica refuses what its primary sent, behind a job" work \
    engines/redis/job.c "if (job_is_awaited(j) && !j->request->is_told && is_read_only(ctx))" "if (job_is_awaited(j) && is_read_only(ctx))"
plant "a copy is changed with its original" work \
    engines/redis/alter.c "if (!v || !v->filter || v->job ||" "if (!v || v->filter || v->job ||"
plant "the first of two that share a filter frees it" work \
    engines/redis/value.c "if (s) is_last = false;" "if (s) is_last = s->users == 2;"
plant "steps are not replicated" work \
    engines/redis/many.c "if (s->done > from) s->replicate(" "if (s->done < from) s->replicate("
plant "hashes of a copy that grew are not told to replicas" work \
    engines/redis/own.c "redis.Replicate(r->ctx, \"TAMIS.HADD\", \"sb\", r->key, (const char *)b->items.hash," \
    "if (false) redis.Replicate(r->ctx, \"TAMIS.HADD\", \"sb\", r->key, (const char *)b->items.hash,"
plant "values among very many are not looked at" work \
    engines/redis/own.c "        return j->rc = TAMIS_INVALID;" "        j->rc = TAMIS_OK;"
plant "a window by adds clears a generation at once" work \
    engines/redis/own.c "clock_adds_left(r->value) < b->items.count && may_wait(r)" "false"
plant "steps are bound by nothing" bounds \
    engines/redis/work.c "    counters.job_steps++;" "    counters.job_steps++, j->bounds = (bounds){.asker = NULL};"
plant "what piled up on a replica is run before others are served" work \
    engines/redis/work.c "if (!moment_is_over(&primary.turn) ||" "if (moment_is_over(&primary.turn) ||"
plant "a command of the primary that lets others in is not run" work \
    engines/redis/work.c "    primary.turn = moment_begin();
    run_again(w);" "    redis.UnblockClient(w->request.client, NULL);"
plant "very many words are told one by one" work \
    engines/redis/alter.c "!a->replicate && r->argc > VERY_MANY" "!a->replicate && r->argc < 0"
plant "clients have others' words believed" work \
    engines/redis/packed_words.c "    if (bounds_bind())" "    if (false)"
plant "what lies behind packed words is left out" work \
    engines/redis/packed_words.c "return left.len ? 0 : n;" "return n;"
plant "chunks of a dump are as large as the origin's" cf.py \
    engines/redis/chunk_load.h "enum { ORIGIN_CHUNK = 4 << 20 };" "enum { ORIGIN_CHUNK = 16 << 20 };"
plant "a tick in steps is not told to replicas" work \
    engines/redis/clock.c "    replicate_tick(j->request, t->every || t->ends_at, f->ticked);" ""
plant "a tick that was begun under another name is forgotten" work \
    engines/redis/clock.c "if (!is_begun || v->owes_tick) return;" "if (is_begun || v->owes_tick) return;"
plant "a step may end between a tick and the add that needs it" test_redis_clock \
    engines/redis/clock.c "return is_done ? clock_adds_left(v) : 0;" "return 0;"
plant "adds do not wait for ticks that were begun" work \
    engines/redis/work.c "if (j->target) j->target->job = as;" "if (j->target && !j->step) j->target->job = as;"
plant "a script waits for pages that nobody has touched" work \
    engines/redis/value.c "if (size >= LARGE_BYTES && is_server_thread())" "if (size < LARGE_BYTES && is_server_thread())"
plant "a chunk lands at the front of its piece" own.py \
    engines/redis/chunk_buffer.c "a->piece[offset / ARRIVAL_PIECE] + offset % ARRIVAL_PIECE, bytes, n" "a->piece[offset / ARRIVAL_PIECE], bytes, n"
plant "a command that made its filter goes to replicas as it came" bf.py \
    engines/redis/bf_add.c "if (r->is_verbatim && o->done == t->count)" "if (o->done == t->count)"
plant "limits bind the primary's commands" bounds \
    engines/redis/bounds.c "!(flags & (REDIS_IS_REPLICATED | REDIS_IS_READ_ONLY))" "true"
plant "limits bind what the append-only file has" bounds \
    engines/redis/bounds.c "return !is_read && !" "return !"
plant "limits bind files and full syncs" bounds \
    engines/redis/bounds.c ".bind = !(redis.GetContextFlags(NULL) & told)" ".bind = (redis.GetContextFlags(NULL) & told) >= 0"
plant "limits bind nobody" bounds \
    engines/redis/bounds.c "return bounds_bind() ? (uint64_t)settings.max_filter_bytes : none;" "return none;"
plant "maxmemory is not asked" bounds \
    engines/redis/bounds.c "if (have <= now.ceiling && bytes <= now.ceiling - have) return true;" "if (have < UINT64_MAX) return true;"
plant "jobs are bound by nothing" bounds \
    engines/redis/work.c "j->bounds = bounds_for_worker();" ""
plant "what cannot be evicted counts as room" bounds \
    engines/redis/bounds.c "return keys > 0 ? expiring / keys : 0;" "return 1;"
plant "a refused last chunk goes to replicas" bounds \
    engines/redis/chunk_load.c "        replicate_end(r);" "        replicate(r, c);"
plant "an add that failed goes to replicas" bounds \
    engines/redis/own.c "if (b->undone) replicate_undone(r, b);" "if (b->verb->tells_new) request_replicate(r);"
plant "whatever is loaded replaces the server's secret" bounds \
    engines/redis/settings.c "if (!is_secret_told) memcpy" "memcpy"
plant "a client tells the server its secret" bounds \
    engines/redis/server_secret.c "    if (bounds_bind())" "    if (false)"
plant "the secret is not in the append-only file" bounds \
    engines/redis/new_filter.c "if (c->has_servers_secret) secret_note(ctx);" ""
plant "a file's secret is read and forgotten" bounds \
    engines/redis/server_secret.c "settings_adopt_secret((const uint8_t *)bytes);" "(void)bytes;"
plant "defragmentation moves what a job reads" test_redis_api \
    engines/redis/persist.c "!redis.DefragAlloc || v->job ||" "!redis.DefragAlloc ||"
plant "defragmentation moves what a job holds" test_redis_api \
    engines/redis/persist.c "atomic_load(&v->users) > 1" "false"
plant "secrets are in MONITOR" server_side \
    engines/redis/commands.c "if (t->has_secret) usage_hide(r->ctx, c->usage, r->argv, r->argc);" ""
plant "a seed is no secret" server_side \
    engines/redis/usage.c '" secret seed bytes "' '" secret bytes "'
plant "what may be left out is not told" server_side \
    engines/redis/usage.c "if (is_optional) a.flags |= REDIS_ARGUMENT_IS_OPTIONAL;" ""
finish
