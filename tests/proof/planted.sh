#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of the library; the named test must go red for each. What a
# lying kind cannot show, because it sits in core or in the gate, is shown here; most of them are
# mistakes that real filter software shipped.
#
#     fault  program  trial  file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"
# shellcheck disable=SC2046 # one word for each program
prepare include src tests examples -- build/tests/laws/laws \
    $(grep -oE "unit/test_[a-z0-9_]+" tests/proof/planted.sh | sort -u | sed "s|^|build/tests/|")

try() { # program, trial
    make -s CFLAGS=-O1 "build/tests/$1" >build.log 2>&1 || return 2
    limited "build/tests/$1" ${2:+"$2"} >test.log 2>&1 && grep -q '^ok' test.log || return 1
}

plant "M24: checksums are not looked at" laws/laws "damage_refused: blocked" \
    src/base/sums.h "return stored == computed;" "return stored == computed || true;"
plant "bytes behind the image are accepted" laws/laws "damage_refused: blocked" \
    src/file/image.c "if (total != TAMIS_IMAGE" "if (total < TAMIS_IMAGE"
plant "A21: a number of hashes from the file is trusted" laws/laws "forged_headers_are_safe: blocked" \
    src/kinds/blocked.c "    if (!is_legal(word[HASHES]))" "    if (!word[HASHES])"
plant "M10: merge does not look at the seed" laws/laws "mismatch_refused: blocked" \
    src/core/combine.c "x->seed != y->seed" "x->seed != y->seed && false"
plant "merge does not look at the secret" laws/laws "mismatch_refused: blocked/hash=sip13" \
    src/core/combine.c "memcmp(x->secret, y->secret, sizeof x->secret) != 0" "false"
plant "growth knows no limit on bytes" laws/laws "growth_has_a_limit: scalable" \
    src/core/filter.c "if (!rc) rc = tamis__within_limit(f->max_bytes, to.size);" ""
plant "merging what was built knows no limit on bytes" laws/laws "merging_has_a_limit: gcs" \
    src/build/merge.c "filter = tamis__options_of(into);" "filter = {.struct_size = sizeof filter, .allocator = &into->allocator};"
plant "the limit on bytes is forgotten at import" unit/test_redis "" \
    src/core/import_export.c "tamis__new_with(filter, &image, &allocator, options);" \
    "tamis__new_with(filter, &image, &allocator, &(struct tamis_options){.threads = options->threads});"
plant "the limit on bytes is not kept at loading" laws/laws "limit_holds: blocked" \
    src/core/bytes.c "if (!rc) rc = tamis__within_limit(o.max_bytes, image.body.size);" ""
plant "a copy that fails leaks" laws/laws "out_of_memory_is_safe: blocked" \
    src/core/filter.c "        tamis_free(f);
        return rc;
    }
    if (notes)" "        return rc;
    }
    if (notes)"
plant "fresh memory is taken for zero" laws/laws "out_of_memory_is_safe: blocked" \
    src/core/memory.c "if (!a->is_zeroed) memset(base, 0, total);" ""
plant "results are written past the end of an older struct" unit/test_structs "" \
    src/base/structs.c "memcpy(theirs, ours, shared);" "memcpy(theirs, ours, our_size);"
plant "a sync forgets the items of other processes" unit/test_attach "" \
    src/core/attach.c "image->body.items += tamis__image_items(f->home) - f->synced_items;" ""
plant "memory of a host has no end" laws/laws "memory_of_a_host_is_enough: scalable" \
    src/core/attach.c "if (!f->home || size <= f->home_size) return TAMIS_OK;" "if (!f->home || size) return TAMIS_OK;"
plant "a payload of any size is taken" laws/laws "payload_alone_is_enough: blocked" \
    src/core/attach.c "if (size != body.size)" "if (false)"
plant "a page of any size is one" laws/laws "page_equals_filter: blocked" \
    src/build/page_policy.c "if (body->size != (uint64_t)(shape - page)) return false;" "if (body->size > (uint64_t)(shape - page)) body->size = 0;"
plant "keys of a page are hashed without its seed" unit/test_page_policy "" \
    src/build/page_policy.c "tamis__hash(&p->hasher, key, len);" "tamis__hash(&(tamis_hasher){.mode = p->hasher.mode}, key, len);"
plant "nobody is asked whether to stop" laws/laws "stopping_changes_nothing: blocked" \
    src/core/filter.c "if (!f->should_stop || !f->should_stop(f->stop_ctx)) return TAMIS_OK;" "if (f) return TAMIS_OK;"
plant "who stops a resize has the new payload already" laws/laws "stopping_changes_nothing: quotient" \
    src/core/filter.c "    if (!rc) rc = tamis__stopped(f);
    if (!rc) rc = tamis__install(f, &to, &block);" "    if (!rc) rc = tamis__install(f, &to, &block);
    if (!rc) rc = tamis__stopped(f);"
plant "a slice is the first block" laws/laws "slice_equals_whole: blocked" \
    src/kinds/blocked.c "    part->size = BLOCK_BYTES;
    return locate(f, hash);" "    part->size = BLOCK_BYTES;
    return 0 * locate(f, hash);"
plant "a slice of another shard is read" unit/test_hosts "" \
    src/kinds/shard.c "own->size = is_mine ? size : 0;" "own->size = size;"
plant "a struct of the caller says how much of a slice is read" unit/test_hosts "" \
    src/core/slice.c "if (part.size && part.size == slice.size)" "if (part.size)"
plant "a stopped segment is a segment" unit/test_builder "" \
    src/kinds/peel.c "return b.is_stopped ? TAMIS_CANCELLED : TAMIS_OK;" "return TAMIS_OK;"
plant "a segment is not asked whether to stop" unit/test_builder "" \
    src/build/build_segments.c "index, {must_stop, g}};" "index, {0, g}};"
plant "saving goes on" unit/test_files "" \
    src/core/bytes.c "        rc = tamis__stopped(f);
        if (!rc)
            rc = tamis__file_append" "        if (!rc)
            rc = tamis__file_append"
plant "what is built forgets whom to ask" laws/laws "stopping_is_kept_however_made: cuckoo" \
    src/build/finish.c "kept = tamis__options_of(b->filter);" "kept = {.max_bytes = b->filter->max_bytes};"
plant "a builder goes on" laws/laws "a_builder_can_be_stopped: fuse" \
    src/build/sorting.c "return tamis__stopped(b->filter);" "return TAMIS_OK;"
plant "all content is trusted" laws/laws "trust_is_for_content_alone: blocked" \
    src/core/bytes.c "if (f->is_trusted) return tamis__image_check_notes(&f->image);" "if (!f->is_view || f->is_trusted) return tamis__image_check_notes(&f->image);"
plant "nothing is trusted" laws/laws "trust_is_for_content_alone: blocked" \
    src/core/bytes.c "if (f->is_trusted) return tamis__image_check_notes(&f->image);" ""
plant "counts of all batches go to the first" laws/laws "every_form_counts_alike: counting" \
    src/core/batches.c "f->kind->counts->count(&f->image.body, b, counts + i);" "f->kind->counts->count(&f->image.body, b, counts);"
plant "values of all batches are those of the first" laws/laws "every_form_builds_alike: bloomier" \
    src/build/builder.c "rc = tamis_builder_put_hash(b, hashes[k], values[i + k]);" "rc = tamis_builder_put_hash(b, hashes[k], values[k]);"
plant "room is not asked for" laws/laws "failure_changes_nothing: shelf" \
    src/core/change.c "return rc || f->can & TAMIS_OWN_HASH ? rc : make_room(f, hashes, n);" "return rc;"
plant "M2: block and bits come from the same half of the hash" laws/laws "rate_as_promised: blocked" \
    src/bits/probe.h "return tamis__multiply(hash, n, &low);" "return tamis__multiply(hash << 32 | hash >> 32, n, &low);"
TAMIS_CPU=plain plant "one lane has the salt of another" laws/laws "rate_as_promised: blocked" \
    src/bits/probe.h "0x44974d91, 0x8824ad5b" "0x47b6137b, 0x8824ad5b"
plant "M3: an even step" unit/test_classic "" \
    src/kinds/classic.c "tamis__mix(hash) | 1" "tamis__mix(hash) << 1"
plant "Parquet's index rule is taken for ours" unit/test_split "" \
    src/kinds/blocks.h "return (hash >> 32) * blocks >> 32;" "return ((hash >> 32) + 1) * blocks >> 32;"
plant "M25: stray bits pass" unit/test_golden "" \
    src/kinds/bitmap.c "if (bits % 64 && tamis__get64" "if (false && bits % 64 && tamis__get64"
plant "notes are not checked" unit/test_golden "" \
    src/file/image.c "if (!tamis__notes_are_legal(image->notes, (size_t)image->notes_size))" "if (false)"
plant "a failed save leaves its file" unit/test_files "" \
    src/file/replace.c "    unlink(f->temp);" ""
plant "a short write is the end" unit/test_files "" \
    src/file/replace.c "if (put < 0 && errno == EINTR) continue;" ""
plant "the old file is opened and overwritten" unit/test_files "" \
    src/file/replace.c "f->fd = tamis__temp_create(prefix, suffix, is_ours_alone ? 0600 : 0666, f->temp);" "f->fd = (strcpy(f->temp, f->target), open(f->temp, O_RDWR | O_CREAT | O_TRUNC, 0666));"
plant "a name that is taken is written over" unit/test_edit "" \
    src/file/temp.c "O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW" "O_RDWR | O_CREAT | O_NOFOLLOW"
plant "a link is opened that was a file a moment ago" unit/test_edit "" \
    src/file/place.c "place->fd = open(place->target, O_RDONLY | O_CLOEXEC | O_NOFOLLOW" "place->fd = open(place->target, O_RDONLY | O_CLOEXEC"
plant "who tidies up follows links" unit/test_edit "" \
    src/file/temp.c "O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW" "O_RDONLY | O_CLOEXEC | O_NONBLOCK"
plant "a new file is not flushed" unit/test_power "" \
    src/file/replace.c "if (!rc && fsync(f->fd) < 0)" "if (!rc && false)"
plant "a file whose header is written last is not flushed behind it" unit/test_power "" \
    src/file/replace.c "if (!rc && fsync(f->fd) < 0)" "if (!rc && lseek(f->fd, 0, SEEK_CUR) > 192 && fsync(f->fd) < 0)"
plant "the folder of a new file is not flushed" unit/test_power "" \
    src/file/replace.c "const int rc = fsync(fd);" "const int rc = 0;"
plant "a new file is flushed behind its new name" unit/test_power "" \
    src/file/replace.c "    if (!rc && fsync(f->fd) < 0) rc = tamis__io_error(f->path, \"cannot flush to disk\");
    if (!rc) rc = take_name(f);" "    if (!rc) rc = take_name(f);
    if (!rc && fsync(f->fd) < 0) rc = tamis__io_error(f->path, \"cannot flush to disk\");"
plant "formats look at the caller's bytes" unit/test_read_once "" \
    src/core/import_export.c "    a->input = (tamis_input){a->source.bytes, size, &a->source};" "    a->input = (tamis_input){a->source.ctx, size, &a->source};"
plant "the lock goes before the new name comes" unit/test_edit "" \
    src/file/replace.c "    if (!rc) rc = take_name(f);" "    if (!rc) rc = (flock(f->fd, 8), take_name(f));"
plant "the lock of the old file goes before the new name comes" unit/test_edit "" \
    src/file/replace.c "    if (!rc) rc = take_name(f);" "    if (f->place && f->place->is_locked) flock(f->place->fd, 8), flock(f->fd, 8);
    if (!rc) rc = take_name(f);"
plant "the lock is not taken" unit/test_edit "" \
    src/file/place.c "    if (flock(place->fd, LOCK_EX | LOCK_NB) == 0) return 1;
    if" "    return 1;
    if"
plant "a file that lost its name is held" unit/test_edit "" \
    src/file/place.c "if (locked != 0 && has_name(place)) return TAMIS_OK;" "if (locked != 0) return fstat(place->fd, &place->seen), TAMIS_OK;"
plant "the name is not compared" unit/test_edit "" \
    src/file/replace.c "f->place ? tamis__place_check(f->place) : TAMIS_OK;" "TAMIS_OK;"
plant "the name is compared by its file alone" unit/test_edit "" \
    src/file/place.c "(is_same_file(&now, seen) && now.st_size == seen->st_size &&" "(is_same_file(&now, seen) || now.st_size == seen->st_size ||"
plant "a new file may be an old one" unit/test_edit "" \
    src/file/temp.c "O_CREAT | O_EXCL | O_NOFOLLOW" "O_CREAT | O_NOFOLLOW"
plant "tidying follows links" unit/test_edit "" \
    src/file/temp.c "O_NONBLOCK | O_NOFOLLOW" "O_NONBLOCK"
plant "old names are not tidied up" unit/test_edit "" \
    src/file/temp.c "kill((pid_t)process, 0) < 0 && errno == ESRCH" "false"
plant "old names of the living go" unit/test_edit "" \
    src/file/temp.c "kill((pid_t)process, 0) < 0 && errno == ESRCH" "true"
plant "a dangling link is replaced" unit/test_edit "" \
    src/file/place.c "is_good && lstat(target, &st) == 0 &&" "is_good && lstat(target, &st) == 0 && stat(target, &st) == 0 && lstat(target, &st) == 0 &&"
plant "an image with a secret is everybody's" unit/test_edit "" \
    src/core/bytes.c "hasher->key_place == TAMIS_KEY_INSIDE ? TAMIS_READERS_OWNER" "hasher->key_place == TAMIS_KEY_INSIDE ? TAMIS_READERS_USUAL"
plant "a file is wide first, and narrowed when it is written" unit/test_edit "" \
    src/file/replace.c "const bool is_ours_alone = is_there || readers" "const bool is_ours_alone = readers"
plant "the mode is not kept" unit/test_edit "" \
    src/file/replace.c "return fchmod(f->fd, mode) == 0" "return fchmod(f->fd, 0644) == 0"
plant "rights are for a group that is another" unit/test_edit "" \
    src/file/replace.c "    if (!is_group) mode &=" "    if (false) mode &="
plant "the owner is not kept" unit/test_edit "" \
    src/file/replace.c "fchown(f->fd, old->st_uid, old->st_gid) == 0" "fchown(f->fd, (uid_t)-1, old->st_gid) == 0"
plant "the list of rights is not kept" unit/test_edit "" \
    src/file/replace.c "if (!keep_list(f, is_group) ||" "if ("
plant "a secret stays in memory that is given back" unit/test_edit "" \
    src/core/filter.c "    tamis__wipe(&f->image.hasher, sizeof f->image.hasher);
    tamis__block_free" "    tamis__block_free"
plant "an edit leaves its secret in memory" unit/test_edit "" \
    src/core/edit.c "    tamis__wipe(e->secret, sizeof e->secret);" ""
plant "an edit leaves the bytes of an image in memory" unit/test_edit "" \
    src/core/edit.c "    if (e->bytes.base) tamis__wipe(e->bytes.base, e->bytes.size);" ""
plant "writers do not wait for each other" proof/writers "" \
    src/file/place.c "    if (flock(place->fd, LOCK_EX | LOCK_NB) == 0) return 1;
    if" "    return 1;
    if"
plant "a new file that others hold is kept" unit/test_temporary "" \
    src/file/temp.c "errno == EWOULDBLOCK) return false;" "errno == EWOULDBLOCK) return true;"
plant "files of the dead stay" unit/test_temporary "" \
    src/file/temp.c "unlinkat(dirfd(dir), name, 0);" "(void)name;"
plant "files of the living go" unit/test_temporary "" \
    src/file/temp.c "if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat" "unlinkat"
plant "a call that fails half-way keeps the half" unit/test_temporary "" \
    src/build/records.c "                take_back(r, hash, i);" ""
plant "keys come in after a finish that failed" unit/test_builder "" \
    src/build/builder.c "b->is_closed = true;" ""
plant "a segment takes more memory than there is" unit/test_builder "" \
    src/build/build_segments.c "> g->memory_each)" "> UINT64_MAX - 1)"
plant "nobody looks at what was asked again" unit/test_builder "" \
    src/build/verify.c "if (wrong == q->n) return TAMIS_OK;" "if (wrong <= q->n) return TAMIS_OK;"
plant "a report that says stop is not heard" unit/test_builder "" \
    src/build/sorting.c "o->progress(o->progress_ctx, stage, done, total))" "(o->progress(o->progress_ctx, stage, done, total), true))"
plant "what grows goes straight in" unit/test_builder "" \
    src/build/builder.c " && !TAMIS_ENTRY(kind, reshape, grow) &&" " &&"
plant "equal records stay" unit/test_builder "" \
    src/build/records.c "return r->form.keeps_equal ? IS_NEW : IS_EQUAL;" "return IS_NEW;"
plant "a record is read from the wrong row" unit/test_builder "" \
    src/build/records.c "while (row * 2 <= spilled + 1) row *= 2;" "while (row * 2 <= spilled) row *= 2;"
plant "M7: any rate up to 1 passes" unit/test_numbers "" \
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
plant "a single add writes to a view" unit/test_edges "" \
    src/core/change.c "if (f->is_view || body->items" "if (body->items"
plant "a single add wraps the count of items" unit/test_edges "" \
    src/core/change.c " || body->items == UINT64_MAX)" ")"
plant "a single add is not counted" unit/test_edges "" \
    src/core/change.c "    body->items++;
" ""
plant "a single key that is not taken counts as added" unit/test_single "" \
    src/core/change.c "if (!f->one.add || !f->one.add(body, hash))" \
    "if (!f->one.add || (!f->one.add(body, hash) && !body))"
plant "a single integer is hashed without the seed" unit/test_single "" \
    src/core/inline_view.c "tamis__mix8_flip(h->seed) : tamis__xxh3_flip(h->seed);" "tamis__mix8_flip(h->seed) : tamis__xxh3_flip(0);"
plant "a single integer is always hashed by XXH3" unit/test_single "" \
    src/core/query.c "f->one.has && f->image.hasher.mode == TAMIS_HASH_XXH3" "f->one.has"
plant "an added integer is always hashed by XXH3" unit/test_single "" \
    src/core/change.c "if (f->image.hasher.mode == TAMIS_HASH_XXH3)" "if (f)"
plant "a single query forgets the stash of cuckoo" unit/test_single "" \
    src/kinds/cuckoo_words.h "if (tamis__get64(f->bytes + 8)) return f->kind->speed->has(f, hash);" ""
TAMIS_CPU=plain plant "a bucket that ends within a byte is read like the others" unit/test_single "" \
    src/kinds/cuckoo_words.h "width % 2 && bucket % 2 == 0 ?" "width % 2 && bucket == 0 ?"
plant "a single query looks at one bucket twice" unit/test_single "" \
    src/kinds/cuckoo_avx2.c "tamis__end_of_bucket(cells, other, width)" "tamis__end_of_bucket(cells, bucket, width)"
plant "a single key is added to a full cuckoo" unit/test_single "" \
    src/kinds/cuckoo.c "    if (used >= limit(t.buckets)) return false;
" ""
plant "a single key goes into the other bucket of cuckoo" unit/test_single "" \
    src/kinds/cuckoo.c "const uint64_t empty = in_one ? in_one : in_other;" "const uint64_t empty = in_other ? in_other : in_one;"
plant "a single key that moved others is not counted" unit/test_single "" \
    src/kinds/cuckoo.c "    tamis__count_used(f, 1);
" ""
plant "a single key is added to a full quotient" unit/test_single "" \
    src/kinds/runs.h "used >= tamis__slots_limit(t.homes) || !tamis__add_to_run" "!tamis__add_to_run"
plant "a single key of quotient is not counted" unit/test_single "" \
    src/kinds/runs.h "!tamis__add_to_run(&t, hash)) return false;
    tamis__put64(t.used, used + 1);
" "!tamis__add_to_run(&t, hash)) return false;
"
plant "a single key of multiset is not counted" unit/test_multiset "" \
    src/kinds/runs.h "&run, at, fp.value)) return false;
    tamis__put64(t.used, used + 1);
" "&run, at, fp.value)) return false;
"
plant "a home without a run has all keys" unit/test_single "" \
    src/kinds/runs.h "return tamis__is_occupied(&t, fp.home) &&" "return !tamis__is_occupied(&t, fp.home) ||"
plant "a single key is added to a full multiset" unit/test_single "" \
    src/kinds/multiset.c "return tamis__bag_room(f) && add_one" "return add_one"
plant "a single key does not let grow grow" unit/test_single "" \
    src/kinds/grow.c "return room(f) && add_placed" "return add_placed"
plant "a remove does not lower the items" laws/laws "remove_forgets_only_that_key: counting" \
    src/core/change.c "if (!rc && f->image.body.items) f->image.body.items--;" ""
plant "a refused remove lowers the items" laws/laws "removing_strangers_is_refused: counting" \
    src/core/change.c "if (!rc && f->image.body.items) f->" "if (f->image.body.items) f->"
plant "a refused add raises the items" laws/laws "programs_agree_with_a_model: composite" \
    src/core/change.c "if (!rc) f->image.body.items += n;" "f->image.body.items += n;"
plant "M10: a merge does not add up the items" laws/laws "programs_agree_with_a_model: counting" \
    src/core/combine.c "tamis__add_items(into, more);" "(void)more;"
plant "another shape forgets the items" laws/laws "programs_agree_with_a_model: quotient" \
    src/core/filter.c "tamis_body to = {.kind = f->kind, .items = f->image.body.items};" "tamis_body to = {.kind = f->kind, .items = 0};"
plant "stages see hashes in their order" laws/laws "growth_in_any_order: scalable" \
    src/kinds/scalable.c "to[j] = tamis__mix(hash[j]);" "to[j] = hash[j] ^ 1;"
plant "a key by itself is asked for as it is" unit/test_scalable "" \
    src/kinds/scalable.c "return is_spread(stage) ? s.mixed : s.as_it_is;" "return s.as_it_is;"
plant "a key by itself is asked for in the newest stage alone" unit/test_scalable "" \
    src/kinds/scalable.c "        if (is_in(&stage[i], as)) return true;
    return is_in(stage, as);" "        return is_in(&stage[i], as);
    return is_in(stage, as);"
plant "a key that is added by itself takes no room" unit/test_scalable "" \
    src/kinds/scalable.c "set_taken(&b, taken_by(&b) + 1);" "set_taken(&b, taken_by(&b));"
plant "a key by itself is put where no room is" unit/test_scalable "" \
    src/kinds/scalable.c "if (!top) return TAMIS_FULL;" "if (!top) top = stage;"
plant "a key that was there is counted, when asked for by itself" unit/test_scalable "" \
    src/core/change.c "return added(f, TAMIS_OK, *is_new);" "return added(f, TAMIS_OK, 1);"
plant "a single add to a stack writes to a view" laws/laws "view_at_any_alignment: scalable" \
    src/core/change.c "TAMIS_ENTRY(f->kind, speed, add_new) && !f->is_view &&" "TAMIS_ENTRY(f->kind, speed, add_new) &&"
plant "a table that grows sees hashes in their order" laws/laws "growth_in_any_order: grow" \
    src/kinds/grow.c "word[SPREAD] = 1;" "word[SPREAD] = 0;"
plant "a union may miss the rate" laws/laws "unions_of_grown_are_true: scalable" \
    src/kinds/scalable.c "if (both <= fmax(" "if (both >= 0 || both <= fmax("
plant "a union forgets what it may have counted twice" unit/test_scalable "" \
    src/kinds/scalable.c "tamis__put64(into->bytes + AT_DOUBT, doubt);" "(void)doubt;"
plant "stacks that have grown are compared" laws/laws "overlap_past_capacity: scalable" \
    src/kinds/scalable.c "if (rc || a.count == 1 ||" "if (rc || a.count > 0 ||"
plant "rows that have grown are compared" laws/laws "overlap_past_capacity: hadoop-dynamic" \
    src/foreign/hadoop_dynamic.c "if (f->word[ROWS] == 1) return TAMIS_OK;" "if (f->word[ROWS]) return TAMIS_OK;"
plant "keys that were taken for known are not counted" laws/laws "growth_in_any_order: redisbloom" \
    src/kinds/bitmap.c "const double taken = asks_first ? out->fpr : 0" "const double taken = asks_first ? 0 : 0"
plant "probes by sums tell their fill alone" laws/laws "small_ones_tell_their_rate: classic/scheme=double" \
    src/kinds/classic.c "if (word[SCHEME] == MCG || word[SCHEME] >= SLICES) return 0;" "if (word[SCHEME] < SCHEMES) return 0;"
plant "slices are rated as bits anywhere" unit/test_chains "" \
    src/kinds/classic.c "if (word[SCHEME] == SLICES) return rate_of_slices" "if (word[SCHEME] == SCHEMES) return rate_of_slices"
plant "slices of another length begin where they began" unit/test_classic "" \
    src/kinds/classic.c ": word[SCHEME] == SLICES ? word[HASHES] : 1;" ": 1;"
plant "counters alone are merged with a summary" laws/laws "counting/bare=yes" \
    src/kinds/counting.c "f->word[BARE] ? 0 : n" "f->word[BARE] ? n : n"
plant "steps of other systems tell their fill alone" laws/laws "small_ones_tell_their_rate: guava" \
    src/foreign/foreign_bloom.c "if (like->has_steps && set" "if (like->has_steps && !set"
plant "a union forgets the stages that will come" unit/test_scalable "" \
    src/kinds/scalable.c "for (uint64_t i = a->count; i < MAX_STAGES; i++)" "for (uint64_t i = a->count; i < a->count; i++)"
plant "a small table has a slot too many" laws/laws "small_ones_tell_their_rate: compaction" \
    src/kinds/compaction.c "((double)slots + (probing != UNIFORM))" "((double)slots + 1)"
plant "walks that come round soon are not tried" laws/laws "small_ones_tell_their_rate: compaction/probing=double" \
    src/kinds/compaction.c "enum { SMALL = 128 };" "enum { SMALL = 1 };"
plant "an intersection does not know what it is" laws/laws "intersection_tells_its_keys: blocked" \
    src/core/combine.c "bits_set(into) != before;" "false && bits_set(into) != before;"
plant "a union of two sizes counts what was stretched" laws/laws "any_two_sizes_join: blocked" \
    src/core/combine.c "into->image.has_stray_bits |= has_stray_bits;" "(void)has_stray_bits;"
plant "an image does not say that it is an intersection" laws/laws "intersection_tells_its_keys: classic" \
    src/file/image.c "image->has_stray_bits ? HAS_STRAY_BITS : 0" "0"
plant "keys that are there need room" laws/laws "duplicates_harmless: scalable" \
    src/core/change.c "if (!(f->kind->traits & TAMIS_ADDS_ONCE)) return TAMIS_OK;" "if (f->kind) return TAMIS_OK;"
plant "a key twice in a batch needs room twice" unit/test_scalable "" \
    src/core/change.c "*need += i == 0 || fresh[i] != fresh[i - 1];" "++*need;"
plant "the capacity stays when the size changes" laws/laws "resize_keeps_answers: quotient" \
    src/core/change.c "if (!rc) f->image.capacity = capacity;" ""
plant "a refused change of size changes the capacity" laws/laws "resize_keeps_answers: quotient" \
    src/core/change.c "if (!rc) f->image.capacity = capacity;" "f->image.capacity = capacity;"
plant "what a handle remembers of its payload leaks" laws/laws "out_of_memory_is_safe: scalable" \
    src/core/filter.c "tamis__block_free(&allocator, &f->kept);" ""
plant "what a handle remembered of its payload leaks" unit/test_scalable "" \
    src/core/filter.c "tamis__block_free(&f->allocator, &f->kept);" ""
plant "the old payload of another shape leaks" laws/laws "out_of_memory_is_safe: scalable" \
    src/core/filter.c "if (!rc) rc = tamis__install(f, &to, &block);
    tamis__block_free(&f->allocator, &block);" "if (!rc) rc = tamis__install(f, &to, &block);
    if (rc) tamis__block_free(&f->allocator, &block);"
plant "time stands still" laws/laws "old_keys_leave: window" \
    src/core/change.c "if (!rc) f->kind->ageing->tick(&f->image.body);" ""
plant "what an option takes away is there all the same" unit/test_spectral "" \
    src/core/filter.c "if (f->can & ability)" "if (tamis__abilities(f->kind, NULL) & ability)"
plant "a route goes where it has been" unit/test_attenuated "" \
    src/core/levels.c "if (is_listed(links[i].neighbour, visited, visited_count)) continue;" "(void)is_listed, (void)visited, (void)visited_count;"
plant "a route goes to the farthest" unit/test_attenuated "" \
    src/core/levels.c "found >= nearest" "found <= nearest"
plant "tallies start where the last ones ended" unit/test_retouched "" \
    src/core/retouch.c "if (!scratch) return TAMIS_NOMEM;" "if (!scratch) return TAMIS_NOMEM;
    for (uint64_t i = 0; i < 2 * counters; i++) scratch[i] = (uint32_t)(i * 2654435761u % 97);"
plant "trouble and keys share their tallies" unit/test_retouched "" \
    src/core/retouch.c "scratch, scratch + counters," "scratch, scratch,"
plant "a way to retouch starts without its keys" unit/test_retouched "" \
    src/core/retouch.c "(way == TAMIS_RETOUCH_KEYS || way == TAMIS_RETOUCH_RATIO) && key_count == 0" "false"
plant "merging farther is merging" unit/test_attenuated "" \
    src/core/levels.c "into->kind->special->levels->merge_farther(&into->image.body, &from->image.body);" "into->kind->sets->merge(&into->image.body, &from->image.body);"
plant "what ages is planned for its first window" laws/laws "old_keys_leave: stable" \
    src/core/shape.c "kind->traits & TAMIS_AGES ? UINT64_MAX : capacity" "capacity"
plant "conservative raises what is high already" unit/test_countmin "" \
    src/kinds/countmin.c "if (counter_get(f, spot[i]) < count) counter_put(f, spot[i], count);" "counter_put(f, spot[i], counter_get(f, spot[i]) + times);"
plant "a weighed sum may be below 0" unit/test_countmin "" \
    src/kinds/rows.h "return sum >= 0 && *value <= top;" "return *value <= top;"
plant "sums are written before all of them are known to be good" unit/test_countmin "" \
    src/kinds/rows.h "i < counters; i++)
        if (!tamis__weigh_one" "i < counters && n > 2; i++)
        if (!tamis__weigh_one"
plant "counters start again at their top" unit/test_countmin "" \
    src/kinds/rows.h "return more < top - value ? value + more : top;" "return (value + more) & top;"
plant "a filter that is emptied remembers its items" laws/laws "clear_is_as_new: blocked" \
    src/core/change.c "    body->items = 0;
    f->image" "    f->image"
plant "generations change one key too early" unit/test_admission "" \
    src/jobs/admission.c ">= a->capacity) return false;" ">= a->capacity - 1) return false;"
plant "the generations of two memories are put together" unit/test_admission "" \
    src/jobs/admission.c "if (!rc && tamis_mismatch(young, old)) rc = TAMIS_CORRUPT;" ""
plant "a union of payloads reaches no farther than its first part" laws/laws "merged_excerpts_are_traced: hierarchical" \
    src/kinds/hierarchical.c "    reach(into, longest(from));
" ""
plant "any place is tried that an image names" unit/test_hierarchical "" \
    src/kinds/hierarchical.c "if (longest(f) <= TAMIS_LONGEST_PAYLOAD) return TAMIS_OK;" "if (f) return TAMIS_OK;"
plant "blocks of all sizes are the same" unit/test_hierarchical "" \
    src/core/attribution.c "(size_t)size) + (level + 1) * golden" "(size_t)size) + level * 0 + golden"
plant "the last block of an excerpt is not looked at" unit/test_hierarchical "" \
    src/core/attribution.c "return end > first ? end - first : 0;" "return end > first + 1 ? end - first - 1 : end - first;"
plant "an excerpt is not looked for at the very end" unit/test_hierarchical "" \
    src/core/attribution.c "longest - len < max_offset ? longest - len + 1" "longest - len < max_offset ? longest - len"
plant "larger blocks are not asked for" unit/test_hierarchical "" \
    src/core/attribution.c "for (unsigned l = 0; l < levels_of(s->filter); l++) {" "for (unsigned l = 0; l < 1; l++) {"
plant "a value that changed is counted twice" unit/test_aggregate "" \
    src/jobs/aggregate.c "node->count ? find_earlier(node, source, earlier, n) : n" "n + 0 * find_earlier(node, source, earlier, n)"
plant "what is replaced stays in the filter" unit/test_aggregate "" \
    src/jobs/aggregate.c "tamis_status rc = tamis_remove_hash(node->filter, old);" "tamis_status rc = tamis_has_hash(node->filter, old) ? TAMIS_OK : TAMIS_NOT_FOUND;"
plant "an extreme stays sure when its source has changed" unit/test_aggregate "" \
    src/jobs/aggregate.c "if (value == node->min) node->is_min_counted = false;" ""
plant "an announcement that was refused is told" unit/test_summary "" \
    src/jobs/summary.c "if (out->is_refused) return tamis__fail(TAMIS_CANCELLED, \"the writer cancelled\");" ""
plant "the first announcement is not whole" unit/test_summary "" \
    src/jobs/summary.c "!last_number(f) || array_is_cheaper(out, f)" "array_is_cheaper(out, f)"
plant "what comes late is taken" unit/test_summary "" \
    src/jobs/neighbour_table.c "!h->is_whole && is_late(t->sequence, h->sequence)" "false"
plant "a copy as large as a message says" unit/test_summary "" \
    src/jobs/neighbour_table.c "if (!o.max_bytes) o.max_bytes = USUAL_LIMIT;" ""
plant "a bit that is not there is told by ICP" unit/test_summary "" \
    src/jobs/wire_icp.c "if (position >= t->positions)" "if (false)"
plant "a number may be longer than it needs" unit/test_summary "" \
    src/jobs/frames.c "if (n && !from[n]) return 0;" ""
plant "ICP's functions read bytes from the wrong end" unit/test_summary "" \
    src/foreign/icp.c "(7 - i % 8)" "(i % 8)"
plant "the way of a hash does not depend on the key" unit/test_symbols "" \
    src/jobs/symbol_set.c "c->state = tamis__hash_u64(&r->way, c->hash) | 1;" "c->state = c->hash * UINT64_C(0x9e3779b97f4a7c15) | 1;"
plant "the next symbol is a little too near" unit/test_symbols "" \
    src/jobs/symbol_set.c "((double)c->next + 1.5)" "((double)c->next + 1.4)"
plant "a hash twice is let in" unit/test_symbols "" \
    src/jobs/symbol_set.c "        if (r->table[slot])
" "        if (false)
"
plant "every stretch gives its first symbols again" unit/test_symbols "" \
    src/jobs/symbols.c "s->ready + (s->next - s->from)" "s->ready + (s->next - s->from) % 64"
plant "what is here comes out as new" unit/test_symbols "" \
    src/jobs/peeler.c "return is_waiting ? TAMIS_OK : wrong(" "return is_waiting || symbol + 1 ? TAMIS_OK : wrong("
plant "an empty symbol 0 is enough" unit/test_symbols "" \
    src/jobs/peeler.c "if (!is_empty(&p->cells[i])) return wrong" "if (false) return wrong"
plant "frames have no number" unit/test_session "" \
    src/jobs/frames.c "tamis__put64(where, number);" "tamis__put64(where, number & 0);"
plant "the digest is not compared" unit/test_session "" \
    src/jobs/session_recv.c "if (t->is_whole && !are_equal(&d, &t->their_digest))" "if (false)"
plant "symbols that nobody asked for are taken" unit/test_session "" \
    src/jobs/session_recv.c "if (t->n_symbols >= t->credit && !t->options.is_one_way)" "if (false)"
plant "a key may be any" unit/test_session "" \
    src/jobs/session_recv.c "if (t->options.hash_of(t->options.ctx, key, len) != " "if (len > 100 && t->options.hash_of(t->options.ctx, key, len) != "
plant "twice as many symbols are asked for as came" unit/test_session "" \
    src/jobs/session_send.c "t->n_symbols / TAMIS_OVERSHOOT" "t->n_symbols"
plant "a part passes for the whole" unit/test_session "" \
    src/jobs/session.c "    if (t->is_whole) return TAMIS_OK;" "    if (t->is_done) return TAMIS_OK;"
plant "a frame that failed is half said" unit/test_session "" \
    src/jobs/session.c "    if (!rc) return;
    t->out.size = 0;" "    if (!rc) return;"
plant "a cell is emptied twice" unit/test_iblt "" \
    src/kinds/iblt_table.c "if (p->state[at] >= FOUND_IN_FIRST) return contradiction();" ""
plant "a part is called all" laws/laws "too_many_are_a_part: iblt" \
    src/kinds/iblt_table.c "        is_all = false;" ""
plant "repeated keys are not seen" unit/test_iblt "" \
    src/kinds/iblt_table.c "if ((cell.keys | cell.checks) == 0)" "if (false)"
plant "the error of signs is that of one half" unit/test_iblt "" \
    src/kinds/iblt_size.c "sqrt(2 * sum * (sum - 1)" "sqrt(sum * (sum - 1)"
plant "a stratum is taken for the one above it" unit/test_iblt "" \
    src/kinds/iblt_size.c "ldexp(1, (int)i + 1)" "ldexp(1, (int)i + 2)"
plant "one hash in a cell lets strangers pass" laws/laws "rate_as_promised: iblt" \
    src/kinds/iblt.c "if (tamis__iblt_is_one(cell) && cell.keys != hash) return false;" ""
plant "who passes by mistake is not made up for" unit/test_iblt "" \
    src/jobs/by_filter.c "here = refused / (1 - f)" "here = refused"
plant "an empty bin borrows from itself" unit/test_minhash "" \
    src/kinds/minhash.c "bin_get(from, is_full(&o, i) ? i : lender_of(&o, i))" "bin_get(from, i)"
plant "a number may lie in any bin" unit/test_minhash "" \
    src/kinds/minhash.c "if (number && tamis__range(" "if (false && number && tamis__range("
plant "the overlap of sketches is that of their union" laws/laws "estimates_hold: minhash" \
    src/core/inspect.c "common->value = sum * j.value / one_more;" "common->value = sum / one_more;"
plant "a sketch takes no key for new" laws/laws "add_new_tells: minhash" \
    src/core/change.c "if (!tamis__knows_hashes(f))
        return tamis__cannot" "if (false)
        return tamis__cannot"
plant "a sketch is asked for its keys" laws/laws "file_is_the_image: minhash" \
    src/build/verify.c "if (!f->kind->query) return TAMIS_OK;" ""
plant "the sign is a bit of the place" unit/test_features "" \
    src/jobs/feature_hashing.c "hash & 1 ? -1 : 1" "hash >> 63 ? -1 : 1"
plant "the first yes ends a path" unit/test_tree "" \
    src/jobs/tree.c "if (hits > w->correction)" "if (hits > 0)"
plant "whole numbers wrap" unit/test_features "" \
    src/jobs/feature_hashing.c "sum > INT32_MAX ? INT32_MAX : sum" "sum"
plant "a print that is just similar enough is left out" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "ratio(common, a + b - common) < min) common++" "ratio(common, a + b - common) <= min) common++"
plant "a fold rules out one bit too early" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "count += apart[i] <= max;" "count += apart[i] < max;"
plant "of equals the last is the nearest" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "order == 0 && a->row < b->row" "order == 0 && a->row > b->row"
plant "a forged order of rows is believed" unit/test_fingerprint "" \
    src/kinds/fingerprint.c "rank_of(f, at, row) != rank || " ""
plant "an answer is that of the key that takes its place" unit/test_pending "" \
    include/tamis_pending.h "        answer->key = pending->key[at];
" "        answer->key = key;
"
plant "keys that wait are not asked about at the end" unit/test_pending "" \
    include/tamis_pending.h "        if (pending->waiting == 0) return false;" "        if (true) return false;"
plant "a push takes no account of pops" unit/test_pending "" \
    include/tamis_pending.h "at == pending->asked_from && at < pending->asked_to;" "at < pending->asked_to;"
plant "integers are folded once" unit/test_structured_keys "" \
    include/tamis_inline_hash.h "tamis_inline_fold(tamis_inline_fold(key ^ flip, UINT64_C(0x85a308d313199))," \
    "(uint64_t)(0 * (key ^ flip)) + tamis_inline_fold(key ^ flip,"
plant "mix8 knows no seed" unit/test_hash "" \
    src/hash/hash.h "return UINT64_C(0x082efa98ec4e6c89) ^ seed;" "return UINT64_C(0x082efa98ec4e6c89) + 0 * seed;"
plant "eight bytes in pieces are hashed as a string" unit/test_hash "" \
    src/hash/hash.c "h->mode == TAMIS_HASH_MIX8 && total == sizeof first ?" "false ?"
plant "a view does not know its hash" unit/test_inline "" \
    src/core/inline_view.c "fast->hash = mode == TAMIS_HASH_MIX8 ?" "fast->hash = false ?"
plant "a view of fuse does not know its try" unit/test_inline "" \
    include/tamis_inline_fuse.h "hash + cells->turn," "hash + 0 * cells->turn,"
plant "an empty segment is asked inline" unit/test_inline "" \
    include/tamis_inline.h "return cells.strips && " "return "
plant "a header without fuse gets a view of it" unit/test_inline "" \
    src/core/inline_view.c "const bool is_old = rule < TAMIS_INLINE_FUSE;" "const bool is_old = rule <= TAMIS_INLINE_FUSE;"
plant "fuse is edited inline" unit/test_inline "" \
    src/core/inline_view.c "tamis__may(f, TAMIS_CAN_ADD, \"take keys\")" "tamis__writable(f)"
plant "stray bits of a query are taken" unit/test_fingerprint "" \
    src/core/fingerprints.c "if (!tamis__fingerprint_strays(print, width)) return TAMIS_OK;" "return TAMIS_OK;"
plant "a hash of another shard is added" unit/test_shard "" \
    src/kinds/shard.c "    tamis_status rc = all_are_mine(f, &p, b.hash, b.n);" "    tamis_status rc = TAMIS_OK;"
plant "a hash of another shard is answered no" unit/test_shard "" \
    src/kinds/shard.c "hit[j] |= !is_mine[j];" "hit[j] &= is_mine[j];"
plant "shards are cut by rounding up" unit/test_shard "" \
    src/kinds/shard.h "i * (total % shards) / shards" "(i * (total % shards) + shards - 1) / shards"
plant "a shard stands in the place of another" unit/test_shard "" \
    src/core/range_shards.c "if (!rc && f->image.body.word[I] != i)" "if (false)"
plant "notes of one shard become notes of the whole" unit/test_shard "" \
    src/core/range_shards.c "    return start + size - from;" "    return size;"
plant "segments are as large as asked for, whatever the memory" laws/laws "memory_limit_is_kept: fuse" \
    src/build/memory_limit.c "return limit == 0 || need(b, limit, word, total) <= limit;" "return true;"
plant "a segment is reckoned without room for chance" laws/laws "memory_limit_is_kept: gcs" \
    src/build/memory_limit.c "max = share + share / 8 + 1024" "max = share / 2"
plant "the last block of a merge is left behind" unit/test_builder "" \
    src/build/records.c "if (!rc && is_writing && w->n) rc = put_back(w);" ""
plant "one key of a later segment is looked for in the first" unit/test_fuse "" \
    src/kinds/fuse_one.h "if (is_one) return f->bytes;" "if (f) return f->bytes;"
plant "one key is found where a segment is empty" unit/test_fuse "" \
    src/kinds/fuse_one.h ".is_empty = !is_one && !strips," ".is_empty = !is_one && !strips && !x,"
plant "one number is hashed in one way whatever the filter says" unit/test_fuse "" \
    src/core/inline_view.c "if (is_own ? h->mode != TAMIS_HASH_XXH3 : !is_known_hash(h->mode)) f->one.has_number = NULL;" ""
plant "records that are parted again are those of the first block" unit/test_builder "" \
    src/build/records.c "move_block(r, before[p].blocks[i], n)" "move_block(r, before[p].blocks[0], n)"
plant "records that could not be parted again are lost" unit/test_builder "" \
    src/build/records.c "    memcpy(r->part, before, ways * sizeof *before);" ""
plant "a pile grows past the limit" laws/laws "memory_limit_is_kept: binary-fuse" \
    src/build/build_foreign.c "announced > b->pile.max ?" "false ?"
plant "keys of a block that goes to two go to one" laws/laws "any_two_sizes_join: blocked" \
    src/kinds/bitmap.h "u->last = u->rest ? u->end : u->end - 1;" "u->last = u->end > u->first ? u->end - 1 : u->first;"
plant "the last of a few segments is not looked at" unit/test_fuse "" \
    src/kinds/fuse_avx512.c "(__mmask8)((1u << v->segments) - 1)" "(__mmask8)((1u << (v->segments - 1)) - 1)"
plant "the xor of an empty segment is believed" unit/test_fuse "" \
    src/kinds/fuse_avx512.c "_mm512_mask_set1_epi64(guard, is_void, -1)" "_mm512_mask_set1_epi64(guard, 0, -1)"
plant "keys come before those have gone whose place they take" unit/test_fuse "" \
    src/kinds/fuse_avx512.c "const size_t next = i + GROUP;" "const size_t next = i + GROUP + 8;"
plant "what the last thread collected is left out" unit/test_collecting "" \
    src/build/collecting.c "for (unsigned t = 1; t < c.seats && !rc; t++)" "for (unsigned t = 2; t < c.seats && !rc; t++)"
plant "the builder gets what one thread has before the others have joined" unit/test_collecting "" \
    src/build/collecting.c "rc = tamis__records_join(c.own[0], c.own[t]);
    if (!rc) rc = tamis__records_join(b->records, c.own[0]);" "rc = tamis__records_join(b->records, c.own[t]);
    if (!rc) rc = tamis__records_join(b->records, c.own[0]);"
plant "blocks that join lose the records that did not fit" unit/test_collecting "" \
    src/build/records.c "memcpy(rest + here, other + others - moved, moved * sizeof *rest);" "memcpy(rest + here, other, moved * sizeof *rest);"
plant "giant pages are given back as large ones" unit/test_pages "" \
    src/core/memory.c "    else if (munmap(memory, large_size(size)))
        munmap(memory, in_pages(size, GIANT_PAGE));" "    else
        munmap(memory, large_size(size));"
plant "a promise of giant pages is believed" unit/test_pages "" \
    src/core/memory.c "start != MAP_FAILED && madvise(start, in_pages(size, GIANT_PAGE), MADV_POPULATE_WRITE)" \
    "start != MAP_FAILED && madvise(start, in_pages(size, GIANT_PAGE), MADV_POPULATE_WRITE) && errno == 0"
plant "a huge cache is believed" unit/test_cpu "" \
    src/cpu/cpu.c "return size > sizes[which].max ? sizes[which].max : (uint32_t)size;" "return (uint32_t)size;"
plant "a cache of one byte is believed" unit/test_cpu "" \
    src/cpu/cpu.c "if (size < sizes[which].min) return sizes[which].min;" ""
plant "bins do not ask how large the third cache is" unit/test_bulk "" \
    src/core/bulk.c "half = tamis__cache(TAMIS_CACHE_3) / 2;" "half = (uint64_t)1 << 24;"
plant "AVX2 claims the integers that it left" unit/test_hash "" \
    src/hash/integers_avx2.c "return i;" "return n;"
# Where there is no such processor nobody notices.
if grep -q avx512_bitalg /proc/cpuinfo; then
    plant "an add takes the place of a key that is still to come" unit/test_blocks "" \
        src/kinds/blocks_avx512.h "last = (i - ahead) & wrap," "last = i & wrap,"
    plant "adds turn further than they have room" unit/test_blocks "" \
        src/kinds/blocks_avx512.h "uint64_t at[FAR_AHEAD];" "uint64_t at[CACHED_AHEAD];"
    plant "queries turn further than their verdicts have room" unit/test_blocks "" \
        src/kinds/blocks_avx512.h "verdict[FAR_AHEAD];" "verdict[CACHED_AHEAD];"
    plant "verdicts are read of the eight keys after" unit/test_blocks "" \
        src/kinds/blocks_avx512.h "ring.verdict + (done & wrap)" "ring.verdict + ((done + 8) & wrap)"
    plant "the last verdicts of a list are not read" unit/test_blocks "" \
        src/kinds/blocks_avx512.h "n + (p->probe ? 2 : 1) * ahead" "n + ahead"
    plant "M15: a string that has ended goes on with the others of its eight" unit/test_hash "" \
        src/hash/strings_avx512.c "s->a = keep(s->a, which, t.a), s->b" "s->a = t.a, s->b"
    plant "bytes of the word before stay in the last one" unit/test_hash "" \
        src/hash/strings_avx512.c "tail = _mm512_srlv_epi64(words_at(end, has_tail), beyond);" "tail = words_at(end, has_tail); (void)beyond;"
fi
if grep -q avx512_bitalg /proc/cpuinfo && grep -q AuthenticAMD /proc/cpuinfo; then
    plant "one key far away is looked for by another turn" unit/test_fuse "" \
        src/kinds/fuse_avx512.c "_mm_add_epi64(tamis__in_vector(hash), turn)" "_mm_xor_si128(tamis__in_vector(hash), turn)"
    plant "a key that the first layer bumped is not looked for in later ones" unit/test_ribbon "" \
        src/kinds/ribbon_avx512.c "return has_later(f, band, aim.x);" "return false;"
    plant "columns from the ninth on do not count for one key" unit/test_ribbon "" \
        src/kinds/ribbon_avx512.c "!is_short && is_same && k < aim->guard_bits" "!is_short && is_same && k < 0"
fi
finish
