#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of the command; the named test must go red for each.
#
#     fault  test of tests/cli, or unit, expand, times  file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"
prepare include src cli tests -- build/tamis build/tests/cli/power build/tests/unit/test_forms build/tests/unit/test_expand \
    build/tests/unit/test_times

try() { # test
    if [ "$1" = unit ] || [ "$1" = expand ] || [ "$1" = times ]; then
        unit=build/tests/unit/test_${1/unit/forms}
        make -s CFLAGS=-O1 "$unit" >build.log 2>&1 || return 2
        limited "$unit" >test.log 2>&1 || return 1
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
    cli/keys/addresses.c "memcmp(ip, mapped, sizeof mapped) != 0" "true"
plant "a number of an address may be anything" expand cli/keys/addresses.c "value > 255 ||" ""
plant "a range ends one block early" expand cli/keys/cidr.c "memcmp(end, last->ip, size) <= 0" \
    "memcmp(end, last->ip, size) < 0"
plant "an address has parents" expand cli/keys/expand.c \
    "if (digits == len || (digits > 0 && name[len - 1 - digits] == '.')) return 0;" ""
plant "a path is a rule about its host" unit cli/keys/canon_names.c "return stop == end || *stop == '$';" \
    "return true;"
plant "names have any bytes" unit cli/keys/canon_names.c "if (class == IS_BAD_BYTE) return NO_NAME;" ""
plant "marks are left out" forms-cidr cli/keys/several.c "batch->marks++;" "batch->n--;"
plant "marks are there that nobody added" forms-refused cli/keys/several.c \
    "&& !several->is_empty" ""
plant "marks expire before their keys" forms-cidr cli/keys/several.c "TAMIS_AGES | TAMIS_CAN_TICK |" ""
plant "one block of a range is enough" forms-cidr cli/keys/several.c "has_all = asking->answer[i];" ""
plant "further keys of a line are lines" forms-cidr cli/keys/run.c \
    "batch->n - batch->further + block->keyless" "batch->n + block->keyless"
plant "any verb takes several keys" forms-refused cli/keys/several.c \
    "if (several->use == ONE_KEY_A_LINE) return keys_are_single(keys);" ""
plant "the rate is that of a key" forms-cidr cli/images/questions.c \
    "plan.fpr_asked / PLANNED_PROBES" "plan.fpr_asked"
plant "a URL is written over itself" unit cli/keys/canon_names.c \
    "part(room + 1, copy(room + 1, &bare))" "part(room, copy(room, &bare))"
plant "lines that are left out do not make room" keys-fields cli/keys/split_lines.c \
    "batch->line[kept] = line;" ""
plant "lines that are left out are not counted" keys-fields cli/keys/run.c \
    "keys->skipped.fieldless += block->skipped.fieldless;" ""
plant "the first line without the field is that of the last block" keys-fields cli/keys/run.c \
    "if (!first->bytes || example->words.text[0]) return;" "if (!first->bytes) return;"
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
plant "only the first part is read" keys-compressed cli/keys/unpacker.c \
    "while (unpacking->from_len > 0 && *unpacking->from == 0) {" "while (unpacking->from_len > 0) {"
plant "the first bytes are lost" keys-compressed cli/keys/input.c \
    "if (got <= 0 || !input->contents.packing) return got;" \
    "if (got <= 0 || !input->contents.packing) return read_raw(input, bytes, room, why, size);"
plant "never is always" keys-compressed cli/keys/input.c ".is_known = !keys->decompresses" ".is_known = false"
plant "an image is a list of keys" keys-contents cli/keys/input.c \
    "if (!is_readable(input, why, size)) return -1;" ""
plant "a byte-order mark belongs to the first key" keys-contents cli/keys/contents.c "{{.skip = 3}" "{{.skip = 0}"
plant "half a character of UTF-16 is none" keys-contents cli/keys/utf16.c \
    "unpacking->from_len == 0 && !utf16->high && is_written" "true"
plant "a CR belongs to the key" keys-crlf cli/keys/split_lines.c \
    "return keys->cutting.line_end == '\n' &&" "return false && keys->cutting.line_end == '\n' &&"
plant "a key that is not valid is quietly left out" keys-canon cli/keys/skipped.c \
    "    tell_invalid(keys);
    return 0;" "    return 0;"
plant "a quiet zero is quiet" check-quiet-zero cli/keys/skipped.c \
    "return keys_unusable(keys) == keys_expected(keys);" "return false;"
plant "one line without a key is as bad as all" check-quiet-zero cli/keys/skipped.c \
    "return keys_unusable(keys) == keys_expected(keys);" "return true;"
plant "a warning overtakes the lines it is about" messages-after-lines cli/output/report.c \
    "    flush_output();
    progress_hold(stderr);" "    progress_hold(stderr);"
plant "a summary overtakes the lines it is about" messages-after-lines cli/keys/run.c \
    "flush_output(); /* What is told" "/* What is told"
plant "strict is as usual" keys-canon cli/keys/split_lines.c \
    "if (cutting->is_strict && (fate == IS_FIELDLESS || fate == IS_INVALID)) return IS_BAD;" ""
plant "an image of no keys is made of a list without one" keys-empty cli/verbs/build.c \
    "if (!code) code = check_keys(building);" ""
plant "comments are keys" keys-empty cli/keys/split_lines.c \
    "if (cut_comments(cutting, key)) return IS_COMMENT;" ""
plant "an empty line of a list is a key" keys-empty cli/keys/split_lines.c \
    "if (ends & (ends << 1 | before)) return true;" ""
plant "a line end in quotes ends the record" keys-csv cli/keys/csv.c \
    "if (!marks.quote && is_outside) {" "if (is_outside) {"
plant "a quote that is never closed is closed by the end" keys-csv cli/keys/blocks.c \
    "if (got < 0 || csv_is_open(&scan)) end_early(block, got == 0);" "if (got < 0) end_early(block, false);"
plant "doubled quotes stay" keys-csv cli/keys/csv.c "at += *at == '\"'; /* it is doubled */" ""
plant "names of a header are not looked for" keys-csv cli/keys/blocks.c \
    "if (is_first) read_header(keys, &keys->source[keys->next_source - 1], block);" ""
plant "fields are joined by anything" keys-csv cli/images/key_form.c "!said || said == *kept" "true"
plant "an object that was cut off is whole" keys-jsonl cli/keys/jsonl.c \
    "((const char *)bare.bytes)[bare.len - 1] != '}'" "false"
plant "null is a text" keys-jsonl cli/keys/jsonl.c "memcmp(bytes, \"null\", 4) == 0" "false"
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
plant "a sketch is asked about keys" sketch cli/images/members.c \
    "if (!code) code = image_knows_keys(args, image);" ""
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
    "if (!code) code = start(l, filter, NULL);" "if (!code) code = start(l, l->building.hasher, NULL);"
plant "a signal waits for the end of a payload" save-on-the-way cli/files/files.c \
    "if (!waits_to_read(fd)) return EXIT_TROUBLE;" ""
plant "an image of no payloads is made" save-on-the-way cli/verbs/record.c \
    "is_stopped() && recording.payloads == 0" "false"
plant "a label that is replaced keeps its old keys" labels-change cli/verbs/label.c \
    "l->into[label].is_emptied = true" "l->into[label].is_emptied = false"
plant "a label is removed by name only" labels-change src/build/builder.c \
    "number[i] = !name || (into && into[i].is_emptied) ? NO_LABEL : (int64_t)b->label;" \
    "number[i] = (into && into[i].is_emptied) ? NO_LABEL : (int64_t)b->label;"
plant "patches are taken as they were named" apply-chain cli/images/patches.c \
    "swap(patches, next, patches->steps);" ""
plant "a gap between patches is passed over" apply-chain cli/verbs/apply.c \
    "return patches->steps + patches->past < patches->n ? fail_gap(args, w) : 0;" "return 0;"
plant "the second patch need not be signed" apply-chain-signed cli/images/patches.c \
    "if (given(args, OPT_VERIFY_KEY)) /* before any other look at it */" \
    "if (given(args, OPT_VERIFY_KEY) && patch->is_signed)"
plant "an older index is as good" sync-refused cli/verbs/sync.c \
    "if (s->index.serial < s->before.serial)" "if (false)"
plant "the signature is not asked for" sync-signed cli/verbs/sync.c \
    "if (!index->is_signed) return fail(args, index_name, \"the index is not signed\");" \
    "if (!index->is_signed) return 0;"
plant "a fetched file may have any bytes" sync-refused cli/verbs/sync.c \
    "if (!is_digest(digest, bytes->at, bytes->size))" "if (false)"
plant "names lead anywhere" sync-refused cli/feeds/feed_index.c \
    "if (!feed_name_is_good(r->at, len)) {" "if (len > FEED_NAME_BYTES) {"
plant "a command that failed has sent everything" sync-over cli/feeds/fetch.c \
    "(WIFEXITED(status) && WEXITSTATUS(status) == 0)" "true"
plant "the shape changes with every key" publish cli/verbs/publish_image.c \
    "if (keys <= capacity && keys >= capacity / TOO_LARGE) return capacity;" ""
plant "a list of few keys is published" publish-refused cli/verbs/publish_image.c \
    "!given(args, OPT_FORCE); /*" "false; /*"
plant "half of a list is too little" publish-refused cli/keys/skipped.c \
    "keys_unusable(keys) > keys_expected(keys) / 2" "keys_unusable(keys) >= keys_expected(keys) / 2"
plant "an empty list is published" publish-refused cli/verbs/publish.c \
    "if (items == 0 || given(p->args, OPT_FORCE)) {" "if (true) {"
plant "the image is not what the index says" sync cli/verbs/publish.c \
    "if (!code && !is_same) code = replace_image" "if (!code && false) code = replace_image"
plant "nearly all of it is all of it" similar cli/output/human.c \
    "usual < max; usual++" "usual < 0; usual++"
plant "a high rate that was asked for is too high" build-overfull src/core/inspect.c \
    "return (1 + asked) / 2;" "return 0 * asked + 0.5;"
plant "the default is whatever is first" plan-kinds cli/verbs/plan_marks.c \
    "marks->usual = find_fitting(planning, marks->usual_kind);" "marks->usual = planning->candidate;"
plant "the fastest is not measured" plan-kinds cli/verbs/plan_marks.c \
    "if (planning->measured_with > 0)" "if (false)"
plant "bits of the summary are counters" plan-one cli/verbs/plan_math.c \
    "(is_bare ? 0 : 1 + log)" "(is_bare ? 0 : log)"
plant "a picture asks the members" plot-specs cli/measure/numbers.c \
    "number_at(FIRST_NONMEMBER + first + done + i)" "number_at(first + done + i)"
plant "measured points have one set of keys" plot-specs cli/plot/plot_measured.c \
    "trials->made++ << APART" "trials->made << APART"
plant "the interval is that of another chance" plot-specs cli/plot/plot_measured.c \
    "missed = 0.05;" "missed = 0.5;"
plant "any number of keys is built for a picture" plot-specs cli/plot/plot_measured.c \
    "if (specs->plan[i].capacity > MAX_KEYS)" "if (false)"
plant "the size of a spec changes with k" plot-specs cli/plot/plot_specs.c \
    "if (!spec_has_size(specs->spec[i]))" "if (false)"
plant "filters that hash otherwise get the hashes of the first" check-several cli/images/filters.c \
    "if (compare_hashing(first_of(filters), member) == 0) return batch->hash;" "return batch->hash;"
plant "seeds are not looked at" check-several cli/images/filters.c \
    "if (!code) code = compare_numbers(a->seed, b->seed);" ""
plant "only the last set counts" check-several cli/images/filters.c \
    "batch->hit[i] |= hit[i];" "batch->hit[i] = hit[i];"
plant "rows of answers overlap" check-several cli/images/filters.c \
    "return (batch->n + 7) / 8;" "return batch->n / 8;"
plant "sets of different things are asked as one" check-several-refused cli/images/members.c \
    "code = form_is_shared(args, &filters->member[0].image, image);" "code = 0;"
plant "images may come after lists" check-several-refused cli/images/members.c \
    "const bool may_be = i == filters->operands && !given(args, OPT_IMAGES);" \
    "const bool may_be = !given(args, OPT_IMAGES);"
plant "standard input is an image and a list" check-several-refused cli/images/members.c \
    "if (!code) code = check_stdin(filters);" ""
plant "what is no image is not told" check-several cli/images/members.c \
    "warn_others(args, path, &others);" ""
plant "lines of the block before are forgotten" check-like-grep cli/keys/query_lines.c \
    "return context_keep(context, batch);" "return 0;"
plant "a gap is seen between neighbours" check-like-grep cli/keys/context.c \
    "context->has_printed && from != context->next" "context->has_printed"
plant "lines that were kept have the length of the first" check-like-grep cli/keys/context.c \
    "context->len[context->kept_first + context->kept_count - j]" "context->len[context->kept_first]"
plant "what was read of a file that is left is printed" check-like-grep cli/keys/run.c \
    "if (block->batch.from == workers->left)" "if (false)"
plant "a limit holds for all files together" check-like-grep cli/keys/query_lines.c \
    "    hits->in_file = 0;
    context_end_file" "    context_end_file"
plant "a letter is read past the end of a line" check-json cli/output/json.c \
    "if (len > (size_t)(end - at)) return 0;" ""
plant "a list is replaced by the image made of it" own-input cli/files/files.c \
    "if (may_replace(args, path, binary && strcmp(binary, \"an image\") == 0)) return EXIT_TROUBLE;" ""
plant "an input is known by its name only" own-input cli/files/files.c \
    "status.st_ino == file->st_ino" "status.st_ino == file->st_ino + 1"
plant "page one has every command" help-pages cli/args/help.c \
    "print_verbs(out, false);" "print_verbs(out, true);"
plant "a step is not explained" help-pages cli/args/topics.c \
    "{.term = \"mac\"," "{.term = \"hardware\","
plant "a letter belongs to the last option that has it" uniq-tally cli/args/options.c \
    "if (strchr(option_named(use->option)->letters, letter)) return use->option;" \
    "if (strchr(option_named(use->option)->letters, letter) && letter != 'd') return use->option;"
plant "lines that occur once are repeated ones" uniq-tally cli/verbs/uniq_tally.c \
    "tally->count > 1" "tally->count > 0"
plant "counted lines come the other way round" uniq-tally cli/keys/keyset.c \
    "for (struct chunk *chunk = set->chunk; chunk; chunk = chunk->next)" \
    "turn_chunks(set); for (struct chunk *chunk = set->chunk; chunk; chunk = chunk->next)"
plant "every fourth year is a leap year" times cli/keys/times.c \
    "year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)" "year % 4 == 0"
plant "zones are ignored" times cli/keys/times.c "t->hour * 60 + t->minute - t->offset" "t->hour * 60 + t->minute"
plant "any minute may have a leap second" times cli/keys/times.c \
    "if (t->second == 60 && seconds % DAY != 0) return false;" ""
plant "what follows a time is ignored" times cli/keys/times.c "return text->at == text->end && moment_us(t, us);" "return moment_us(t, us);"
plant "time goes backwards" uniq-time-doubt cli/verbs/uniq_window.c "if (time >= window->newest) {" "if (true) {"
plant "a window of lines' times stands still" uniq-time-field cli/verbs/uniq_window.c \
    "if (window->has_times && tick_to_line(window, batch, i)) return EXIT_TROUBLE;" ""
plant "lines without a time are not counted" uniq-time-doubt cli/keys/line_times.c \
    "if (times->untimed++ == 0) note_example" "if (times->untimed == 0) note_example"
plant "the start of a line is lost" watch-poll cli/keys/follow_files.c \
    "if (piece[i - 1] == line_end) return from + i;" "if (piece[i - 1] == line_end) return size;"
plant "the last line of a rotated file is lost" watch cli/keys/follow_files.c \
    "    if (give(follow, file, block, file->len)) return true;
    *goes_on" "    file->len = 0;
    *goes_on"
plant "compressed files are followed" watch-ways cli/keys/follow_files.c \
    "    if (contents.name) {" "    if (false) {"
plant "a damaged image takes the place of the old one" watch cli/verbs/watch.c \
    "        filters_close(&next);
        return;
    }
    remark_changes" "    }
    remark_changes"
plant "images in a directory are not watched" watch-sets cli/verbs/watch.c \
    "if (is_dash(path) || watched_at(watching, path)) return;" "if (is_dash(path) || !is_named) return;"
plant "whatever comes into a directory is news" watch-sets cli/verbs/watch.c "(is_image || !is_same)" "true"
plant "a forgotten form is published" publish-refused cli/verbs/publish.c \
    "if (!code) code = publish_check_form(p, offer, &old);" ""
plant "an unfinished file is an image" check-several cli/images/members.c "is_unfinished(name) || " ""
plant "what sync remembers is told about" check-several cli/images/members.c \
    " || feed_file_is_aside(name)" ""
plant "nothing takes the place of a list" labels-change cli/verbs/label.c \
    "l->building.lines == 0 && given(args, OPT_STRICT)" "false"
finish
