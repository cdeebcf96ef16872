#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of the command; the named test must go red for each.
#
#     fault  test of tests/cli, or unit  file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"
prepare include src cli tests -- build/tamis build/tests/cli/power build/tests/unit/test_forms

try() { # test
    if [ "$1" = unit ]; then
        make -s CFLAGS=-O1 build/tests/unit/test_forms >build.log 2>&1 || return 2
        limited build/tests/unit/test_forms >test.log 2>&1 || return 1
    else
        make -s CFLAGS=-O1 build/tamis build/tests/cli/power >build.log 2>&1 || return 2
        TAMIS=build/tamis limited tests/cli/run "$1" >test.log 2>&1 || return 1
        ! grep -q SKIP test.log || return 3
    fi
}

plant "bytes behind the line are searched" unit \
    cli/keys/fields.c "if (line->len - at < SCAN_BYTES) places &= ((uint64_t)1 << (line->len - at)) - 1;" ""
plant "a field that is not there is empty" unit \
    cli/keys/fields.c "range->last != TO_THE_END && passed < range->last - 1" "false"
plant "letters above ASCII are changed" unit cli/keys/canon.c "& ~above & ~eight &" "& ~above &"
plant "an old address in a new one stays" unit \
    cli/keys/canon_numbers.c "memcmp(ip, mapped, sizeof mapped) == 0" "false"
plant "a URL is written over itself" unit cli/keys/canon_names.c \
    "part(room + 1, copy(room + 1, &bare))" "part(room, copy(room, &bare))"
plant "lines that are left out do not make room" keys-fields cli/keys/split_lines.c \
    "batch->line[kept] = batch->line[i];" ""
plant "lines that are left out are not counted" keys-fields cli/keys/run.c \
    "workers->keys->fieldless += block->fieldless;" ""
plant "a line without a key is an empty one" keys-fields cli/keys/query_lines.c \
    "if (!batch->key[i].bytes) batch->hit[i] = 0;" ""
plant "keys are written over each other" keys-fields cli/keys/rewrite.c \
    "page->len = at + key->len;" "(void)at;"
plant "a page is as long as a key wants it" keys-fields cli/keys/rewrite.c \
    "page->room - page->len < len" "false"
plant "the end of a block has no end" lines-behind-the-end cli/keys/split_lines.c \
    "if (left < SCAN_BYTES) ends &= ((uint64_t)1 << left) - 1;" ""
plant "any key can be rewritten" keys-long-form cli/keys/rewrite.c \
    "if (len <= MAX_REWRITTEN) return false;" "return false;"
plant "the form is not kept" keys-canon cli/images/note_option.c \
    "code ? code : form_record(args, NULL, builder)" "code"
plant "the form is not applied" keys-canon cli/keys/keys.c \
    "if (form.canon.n > 0) keys->cutting.form.canon = form.canon;" ""
plant "M17: another form is let in" keys-canon-refused cli/images/key_form.c \
    "!canon_is_same(&said.canon, &kept.canon)" "false"
plant "sets of different things are joined" keys-canon-refused cli/verbs/sets.c \
    "if (!code) code = form_is_shared(args, into, &from);" ""
plant "the encoding is forgotten" keys-encoded cli/images/key_form.c \
    "if (form.encoding) status" "if (false) status"
plant "compressed data may end anywhere" keys-compressed-damaged cli/keys/input.c \
    "raw == 0 && input->is_whole && left == 0" "raw == 0"
plant "only the first part is read" keys-compressed cli/keys/gunzip.c \
    "if (*unpacking->from == 0) {" "if (true) {"
plant "the first bytes are lost" keys-compressed cli/keys/input.c \
    "if (got <= 0 || !input->packing) return got;" \
    "if (got <= 0 || !input->packing) return read_raw(input, bytes, room, why, size);"
plant "never is always" keys-compressed cli/keys/input.c ".is_known = !decompresses" ".is_known = false"
plant "what the sketch says is not looked at" count-top cli/verbs/count_top_list.c \
    "const uint64_t count = tamis_count_hash(all->sketch, hash);" "const uint64_t count = 1;"
plant "who leaves the candidates was never counted" count-top cli/verbs/count_top_list.c \
    "one->count - one->first);" "0);"
plant "the memory of a run is lost" admit cli/verbs/admit.c \
    "if (!admitting->edit) return 0;" "return 0;"
plant "repeated lines go into a sketch of a set" sketch-made cli/verbs/sketch.c \
    "(void)sort_distinct(s->hash, &s->n, NULL);
    s->keys = s->n;" "s->keys = s->n;"
plant "the memory for hashes has no end" sketch-refused cli/verbs/sketch.c "if (needed > max)" "if (false)"
plant "a short text has no shingle" similar-texts cli/verbs/similar_sets.c \
    "if (!code) code = end_words(r);" ""
plant "words of a shingle stand in any order" similar-texts cli/verbs/similar_sets.c \
    "s->last[(s->seen + i) % s->words]" "s->last[0 * i]"
plant "lines that repeat are counted" similar cli/images/distinct.c \
    "if (kept == 0 || hash[i] != hash[kept - 1])" ""
plant "the least similar come first" similar cli/verbs/similar.c \
    "x->similarity.value > y->similarity.value ? -1 : 1" "x->similarity.value < y->similarity.value ? -1 : 1"
plant "a sketch is asked about keys" sketch cli/verbs/check.c \
    "if (!code) code = image_knows_keys(args, &image);" ""
plant "places that cancelled out are printed" features cli/verbs/features.c \
    "feature[next].place == feature[i].place" "next == i"
plant "a name is kept twice" record cli/images/flows.c \
    "if (i == 0 || strcmp(names[i], names[i - 1]) != 0) {" "if (names[i]) {"
plant "lines are counted from the start again" record cli/verbs/record.c \
    "recording->lines = lines_recorded(filter);
" ""
plant "wishes for a new image are lost on an old one" record-refused cli/verbs/record.c \
    "int code = refuse_params(args);" "int code = 0 * refuse_params(args);"
plant "an image is made for a quarter of what comes" record cli/verbs/record.c \
    "*keys += 2 * (bytes / (block << l));" "*keys += bytes / (block << l) / 2;"
plant "what was found is not told by the exit status" trace cli/verbs/trace.c \
    "tracing->is_any_found = true;" ""
plant "all offsets are looked at" trace cli/verbs/trace.c \
    "number_or(args, OPT_MAX_OFFSET, UINT64_MAX)" "UINT64_MAX"
plant "it is always due" announce \
    cli/verbs/announce.c "is_due = tamis_is_due(image.filter, threshold);" "is_due = true;"
plant "a copy takes the place of any image" neighbours-refused \
    cli/verbs/neighbours.c "if (!code && copy->filter && !tamis_was_received(copy->filter, &h))" "if (false && !tamis_was_received(copy->filter, &h))"
plant "the least similar comes first" search cli/verbs/search.c \
    "return x->similarity < y->similarity ? 1 : -1;" "return x->similarity < y->similarity ? -1 : 1;"
plant "a key is printed for each of its lines" reconcile cli/net/reconcile_set.c \
    "if (found->is_there && found->mark == mark) continue;" ""
plant "hashes stay twice in a set" reconcile cli/images/distinct.c \
    "if (kept == 0 || hash[i] != hash[kept - 1])" ""
plant "a stream may be of other keys" reconcile-stream cli/net/reconcile_session.c \
    "if (!code && form != form_mark(&set))" "if (false)"
plant "lines of the other side are believed" reconcile-hostile cli/net/reconcile_session.c \
    "if (at == lacked->n) return wire_fail(wire, \"sent a line that is not missing here\");" "if (at == lacked->n) return 0;"
plant "what is partial is printed as whole" reconcile-sketch cli/verbs/reconcile.c \
    "if (!given(args, OPT_PARTIAL))" "if (false)"
plant "a hash in a list may be anything" reconcile-stream cli/net/reconcile_image.c \
    "return len == 16;" "return true;"
plant "a frame may be as long as it says" reconcile-hostile cli/net/channel.c \
    "if (len >= min && len - min <= FRAME_BYTES) return 0;" "if (len >= min) return 0;"
plant "the last frame may come at any time" reconcile-hostile cli/net/reconcile_session.c \
    "frame[0] != TALK_FRAME || wire->had_last" "frame[0] != TALK_FRAME"
plant "there is no limit on bytes" reconcile-hostile cli/net/channel.c \
    "if (wire->received <= wire->max_received) return 0;" "return 0;"
plant "a command may fail" reconcile-over cli/net/channel_open.c \
    "WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_NOTHING;" "WIFEXITED(status);"
plant "who has no key is let in" reconcile-key cli/net/channel.c \
    "if (!is_keyed && wire->cipher)" "if (false)"
plant "both directions have one key" reconcile-key cli/net/channel_seal.c \
    "derive(cipher, (uint8_t)other, asker, answerer, cipher->incoming" \
    "derive(cipher, (uint8_t)end, asker, answerer, cipher->incoming"
plant "what was recorded can be sent again" reconcile-key cli/net/channel_seal.c \
    "memcpy(text + sizeof purpose + 1, asker, NONCE_BYTES);" \
    "memset(text + sizeof purpose + 1, 0, NONCE_BYTES), (void)asker;"
plant "a finer cut is not made coarser again" shards cli/images/shards.c \
    "shards[i] /= (uint32_t)router->finer;" "shards[i] %= (uint32_t)router->shards;"
plant "half a hash at the end is nothing" shards-refused cli/images/shards.c "if (!code && len % 8)" "if (false)"
plant "keys of other shards are taken in silence" shards-refused cli/verbs/build_shard.c \
    "        if (!is_mine(making, batch->hash[i]))" "        if (false)"
plant "what was left out is not counted" shards-manifest cli/verbs/build_shard.c \
    "making->kept += kept;" "making->kept += m;"
plant "the last hashes of a shard are not written" shards cli/verbs/partition.c \
    "if (!code) code = spread_end(&spread);" ""
plant "a cut that fails leaves a folder" shards-refused cli/verbs/cut.c \
    "if (!code) code = check_cut(args, image.filter, shards);" ""
plant "a shard that is there twice is counted twice" shards-refused cli/verbs/assemble.c \
    "    if (piece->path)
" "    if (false)
"
plant "an incomplete set is written" shards-manifest cli/verbs/assemble.c \
    "code = is_complete ? write_whole(set) : fail_incomplete(set);" "code = is_complete ? write_whole(set) : 0;"
plant "a new folder is not flushed" every-verb-power cli/files/files.c \
    "if (mkdir(path, 0777) == 0) return dir_flush(args, path);" "if (mkdir(path, 0777) == 0) return 0;"
plant "the folder above a new one is not flushed" every-verb-power cli/files/files.c \
    "return code ? code : flush_dir(args, above);" "return code;"
plant "hashes in files are not flushed" every-verb-power cli/verbs/partition.c \
    "(!is_last || fsync(fd) == 0)" "(!is_last || true)"
plant "a run takes over what another is writing" partition-interrupted cli/verbs/partition.c \
    "LOCK_NB) < 0 && errno == EWOULDBLOCK;" "LOCK_NB) < 0 && false;"
plant "what a run that was interrupted wrote is kept" partition-interrupted cli/verbs/partition.c \
    "if (!code) code = tidy(spread);" ""
plant "hashes have their name before they are all there" every-verb-power cli/verbs/partition.c \
    "part_end[] = \".hashes.part\"" "part_end[] = \".hashes\""
plant "what is assembled takes whatever has the name" every-verb-meanwhile cli/verbs/assemble.c \
    "tamis_edit_join(edit, next_shard, set)" "tamis_shard_join_to(path, next_shard, set)"
plant "a signal stops the save that it asks for" save-on-the-way cli/images/build_image.c \
    "return !is_stopped() || (keeping && keeping->is_on);" "return !is_stopped();"
plant "every save starts from the first image" save-on-the-way cli/verbs/label.c \
    "if (!code) code = start(l, filter);" "if (!code) code = start(l, l->building.hasher);"
plant "a signal waits for the end of a payload" save-on-the-way cli/files/files.c \
    "if (!waits_to_read(fd)) return EXIT_TROUBLE;" ""
plant "an image of no payloads is made" save-on-the-way cli/verbs/record.c \
    "is_stopped() && recording.payloads == 0" "false"
finish
