#!/bin/bash
# Faults planted one by one into a copy of the library; the named test must go red for each. What a
# lying kind cannot show, because it sits in core or in the gate, is shown here; most of them are
# mistakes that real filter software shipped.
#
#     fault  program  trial  file  what to replace  by what
in_short=5
. "$(dirname "$0")/../help/planted.inc"
prepare include src tests -- build/tests/laws/laws \
    build/tests/unit/test_{builder,counters,files,fingerprint,golden,kinds,layers,numbers,streams,symbols,talk,temporary}

try() { # program, trial
    make -s CFLAGS=-O1 "build/tests/$1" >build.log 2>&1 || return 2
    limited "build/tests/$1" ${2:+"$2"} >test.log 2>&1 && grep -q '^ok' test.log || return 1
}

plant "checksums are not looked at" laws/laws "damage_refused: blocked" \
    src/base/sums.h "return stored == computed;" "return stored == computed || true;"
plant "bytes behind the image are accepted" laws/laws "damage_refused: blocked" \
    src/file/image.c "if (total != TAMIS_IMAGE" "if (total < TAMIS_IMAGE"
plant "a number of hashes from the file is trusted" laws/laws "forged_headers_are_safe: blocked" \
    src/kinds/blocked.c "    if (!is_legal(word[HASHES]))" "    if (!word[HASHES])"
plant "merge does not look at the seed" laws/laws "mismatch_refused: blocked" \
    src/core/combine.c "x->seed != y->seed" "x->seed != y->seed && false"
plant "merge does not look at the secret" laws/laws "mismatch_refused: blocked/hash=sip13" \
    src/core/combine.c "memcmp(x->secret, y->secret, sizeof x->secret) != 0" "false"
plant "the limit on bytes is not kept at loading" laws/laws "limit_holds: blocked" \
    src/core/bytes.c "if (!rc) rc = tamis__within_limit(&o, image.body.size);" ""
plant "a copy that fails leaks" laws/laws "out_of_memory_is_safe: blocked" \
    src/core/filter.c "        tamis_free(g);
        return rc;" "        return rc;"
plant "fresh memory is taken for zero" laws/laws "out_of_memory_is_safe: blocked" \
    src/core/memory.c "if (a->alloc != plain_alloc && a->alloc != large_alloc) memset(base, 0, total);" ""
plant "room is not asked for" laws/laws "failure_changes_nothing: shelf" \
    src/core/change.c "return rc || f->kind->add_keys ? rc : make_room(f, hashes, n);" "return rc;"
plant "block and bits come from the same half of the hash" laws/laws "rate_as_promised: blocked" \
    src/bits/probe.h "return tamis__multiply(hash, n, &low);" "return tamis__multiply(hash << 32 | hash >> 32, n, &low);"
TAMIS_CPU=plain plant "one lane has the salt of another" laws/laws "rate_as_promised: blocked" \
    src/bits/probe.h "0x44974d91, 0x8824ad5b" "0x47b6137b, 0x8824ad5b"
plant "an even step" unit/test_kinds "" \
    src/kinds/classic.c "tamis__mix(hash) | 1" "tamis__mix(hash) << 1"
plant "Parquet's index rule is taken for ours" unit/test_kinds "" \
    src/kinds/split.h "(hash >> 32) * f->word[BLOCKS] >> 32" "((hash >> 32) + 1) * f->word[BLOCKS] >> 32"
plant "stray bits pass" unit/test_golden "" \
    src/kinds/bitmap.c "if (bits % 64 && tamis__get64" "if (false && bits % 64 && tamis__get64"
plant "notes are not checked" unit/test_golden "" \
    src/file/image.c "if (!tamis__notes_are_legal(image->notes, (size_t)image->notes_size))" "if (false)"
plant "a failed save leaves its file" unit/test_files "" \
    src/file/replace.c "    unlink(f->temp);" ""
plant "a short write is the end" unit/test_files "" \
    src/file/replace.c "if (put < 0 && errno == EINTR) continue;" ""
plant "the old file is opened and overwritten" unit/test_files "" \
    src/file/replace.c "f->fd = tamis__temp_create(prefix, suffix, 0666, f->temp);" "f->fd = (strcpy(f->temp, f->target), open(f->temp, O_RDWR | O_CREAT | O_TRUNC, 0666));"
plant "the lock goes before the new name comes" unit/test_temporary "" \
    src/file/replace.c "else if (rename(" "else if (close(f->fd), rename("
plant "a new file that others hold is kept" unit/test_temporary "" \
    src/file/temp.c "errno == EWOULDBLOCK) return false;" "errno == EWOULDBLOCK) return true;"
plant "files of the dead stay" unit/test_temporary "" \
    src/file/temp.c "unlinkat(dirfd(dir), name, 0);" "(void)name;"
plant "files of the living go" unit/test_temporary "" \
    src/file/temp.c "if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat" "unlinkat"
plant "a call that fails half-way keeps the half" unit/test_temporary "" \
    src/core/records.c "                tamis__records_take_back(r, hash, i);" ""
plant "keys come in after a finish that failed" unit/test_builder "" \
    src/core/builder.c "b->is_closed = true;" ""
plant "a shard takes more memory than there is" unit/test_builder "" \
    src/core/sharding.c "> g->memory_each)" "> UINT64_MAX - 1)"
plant "nobody looks at what was asked again" unit/test_builder "" \
    src/core/verify.c "if (wrong == q->n) return TAMIS_OK;" "if (wrong <= q->n) return TAMIS_OK;"
plant "a report that says stop is not heard" unit/test_builder "" \
    src/core/sorting.c "o->progress(o->progress_ctx, stage, done, total)) return" "(o->progress(o->progress_ctx, stage, done, total), true)) return"
plant "what grows goes straight in" unit/test_builder "" \
    src/core/builder.c " && !kind->grow && !b->options.verify" " && !b->options.verify"
plant "equal records stay" unit/test_builder "" \
    src/core/records.c "if (is_same && !r->form.keeps_equal) continue;" ""
plant "a record is read from the wrong row" unit/test_builder "" \
    src/core/records.c "while (row * 2 <= spilled + 1) row *= 2;" "while (row * 2 <= spilled) row *= 2;"
plant "any rate up to 1 passes" unit/test_numbers "" \
    src/core/number.c "if (!(x >= 1e-12 && x < 1)) {" "if (x > 1) {"
plant "a key that is there is added as new" laws/laws "add_new_tells: counting" \
    src/core/change.c "return was_there && !(" "return false && was_there && !("
plant "new is old and old is new" laws/laws "add_new_tells: blocked" \
    src/core/change.c "rc = add_unless(f, hash, was_there);
    if (!rc) *is_new = !was_there;" "rc = add_unless(f, hash, was_there);
    if (!rc) *is_new = was_there;"
plant "new is old and old is new, with a hash of its own" laws/laws "add_new_tells: fnv" \
    src/core/change.c ": tamis_add(f, key, len);
    if (!rc) *is_new = !was_there;" ": tamis_add(f, key, len);
    if (!rc) *is_new = was_there;"
plant "a key that is seen again is no younger" laws/laws "programs_agree_with_a_model: window" \
    src/core/change.c "return was_there && !(f->kind->traits & TAMIS_AGES) ?" "return was_there ?"
plant "a remove does not lower the items" laws/laws "remove_forgets_only_that_key: counting" \
    src/core/change.c "if (!rc && f->image.body.items) f->image.body.items--;" ""
plant "a refused remove lowers the items" laws/laws "removing_strangers_is_refused: counting" \
    src/core/change.c "if (!rc && f->image.body.items) f->" "if (f->image.body.items) f->"
plant "a refused add raises the items" laws/laws "programs_agree_with_a_model: composite" \
    src/core/change.c "if (!rc) f->image.body.items += n;" "f->image.body.items += n;"
plant "a merge does not add up the items" laws/laws "programs_agree_with_a_model: counting" \
    src/core/combine.c "if (!rc) tamis__add_items(into, more);" "(void)more;"
plant "another shape forgets the items" laws/laws "programs_agree_with_a_model: quotient" \
    src/core/filter.c "tamis_body to = {.items = f->image.body.items};" "tamis_body to = {.items = 0};"
plant "keys that are there need room" laws/laws "duplicates_harmless: scalable" \
    src/core/change.c "if (!(f->kind->traits & TAMIS_ADDS_ONCE)) return TAMIS_OK;" "if (f->kind) return TAMIS_OK;"
plant "a key twice in a batch needs room twice" unit/test_streams "" \
    src/core/change.c "*need += i == 0 || fresh[i] != fresh[i - 1];" "++*need;"
plant "the capacity stays when the size changes" laws/laws "resize_keeps_answers: quotient" \
    src/core/change.c "if (!rc) f->image.capacity = capacity;" ""
plant "a refused change of size changes the capacity" laws/laws "resize_keeps_answers: quotient" \
    src/core/change.c "if (!rc) f->image.capacity = capacity;" "f->image.capacity = capacity;"
plant "the old payload of another shape leaks" laws/laws "out_of_memory_is_safe: scalable" \
    src/core/filter.c "    tamis__give_back(&f->allocator, &f->payload);
    f->payload = block;" "    f->payload = block;"
plant "time stands still" laws/laws "old_keys_leave: window" \
    src/core/change.c "if (!rc) f->kind->tick(&f->image.body);" ""
plant "what an option takes away is there all the same" unit/test_counters "" \
    src/core/filter.c "if (tamis__abilities(f->kind, f->image.body.word) & ability)" "if (tamis__abilities(f->kind, NULL) & ability)"
plant "a route goes where it has been" unit/test_layers "" \
    src/core/rare.c "if (is_listed(links[i].neighbour, visited, visited_count)) continue;" "(void)is_listed, (void)visited, (void)visited_count;"
plant "a route goes to the farthest" unit/test_layers "" \
    src/core/rare.c "found >= nearest" "found <= nearest"
plant "tallies start where the last ones ended" unit/test_layers "" \
    src/core/rare.c "if (!scratch) return TAMIS_NOMEM;" "if (!scratch) return TAMIS_NOMEM;
    for (uint64_t i = 0; i < 2 * counters; i++) scratch[i] = (uint32_t)(i * 2654435761u % 97);"
plant "trouble and keys share their tallies" unit/test_layers "" \
    src/core/rare.c "scratch, scratch + counters," "scratch, scratch,"
plant "a way to retouch starts without its keys" unit/test_layers "" \
    src/core/rare.c "(way == TAMIS_RETOUCH_KEYS || way == TAMIS_RETOUCH_RATIO) && key_count == 0" "false"
plant "merging farther is merging" unit/test_layers "" \
    src/core/rare.c "into->kind->levels->merge_farther(&into->image.body, &from->image.body);" "into->kind->merge(&into->image.body, &from->image.body);"
plant "what ages is planned for its first window" laws/laws "old_keys_leave: stable" \
    src/core/shape.c "kind->traits & TAMIS_AGES ? UINT64_MAX : capacity" "capacity"
plant "the way of a hash does not depend on the key" unit/test_symbols "" \
    src/jobs/roster.c "c->state = tamis__hash_u64(&r->way, c->hash) | 1;" "c->state = c->hash * UINT64_C(0x9e3779b97f4a7c15) | 1;"
plant "the next symbol is a little too near" unit/test_symbols "" \
    src/jobs/roster.c "((double)c->next + 1.5)" "((double)c->next + 1.4)"
plant "a hash twice is let in" unit/test_symbols "" \
    src/jobs/roster.c "        if (r->table[slot])
" "        if (false)
"
plant "a stretch starts where the last one did" unit/test_symbols "" \
    src/jobs/symbols.c "const uint64_t from = s->to," "const uint64_t from = s->from,"
plant "what is here comes out as new" unit/test_symbols "" \
    src/jobs/peeler.c "return is_waiting ? TAMIS_OK : wrong(" "return is_waiting || symbol + 1 ? TAMIS_OK : wrong("
plant "an empty symbol 0 is enough" unit/test_symbols "" \
    src/jobs/peeler.c "if (!is_empty(&p->cells[i])) return wrong" "if (false) return wrong"
plant "frames have no number" unit/test_talk "" \
    src/jobs/frames.c "tamis__put64(where, number);" "tamis__put64(where, number & 0);"
plant "the digest is not compared" unit/test_talk "" \
    src/jobs/hearing.c "if (t->is_whole && !are_equal(&d, &t->their_digest))" "if (false)"
plant "symbols that nobody asked for are taken" unit/test_talk "" \
    src/jobs/hearing.c "if (t->n_symbols >= t->credit && !t->options.is_one_way)" "if (false)"
plant "a key may be any" unit/test_talk "" \
    src/jobs/hearing.c "if (t->options.hash_of(t->options.ctx, key, len) != " "if (len > 100 && t->options.hash_of(t->options.ctx, key, len) != "
plant "all symbols are asked for at once" unit/test_talk "" \
    src/jobs/saying.c "if (want > t->most_symbols) want" "if (want) want"
plant "a part passes for the whole" unit/test_talk "" \
    src/jobs/reconciling.c "    if (t->is_whole) return TAMIS_OK;" "    if (t->is_done) return TAMIS_OK;"
plant "a frame that failed is half said" unit/test_talk "" \
    src/jobs/reconciling.c "    if (!rc) return;
    t->out.size = 0;" "    if (!rc) return;"
plant "a print that is just similar enough is left out" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "ratio(common, a + b - common) < least) common++" "ratio(common, a + b - common) <= least) common++"
plant "a fold rules out one bit too early" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "count += apart[i] <= most;" "count += apart[i] < most;"
plant "of equals the last is the nearest" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "order == 0 && a->row < b->row" "order == 0 && a->row > b->row"
plant "a forged order of rows is believed" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "rank_of(f, at, row) != rank || " ""
plant "stray bits of a query are taken" unit/test_fingerprint "" \
    src/core/prints.c "if (!tamis__print_strays(print, width)) return TAMIS_OK;" "return TAMIS_OK;"
finish
