/* SPDX-License-Identifier: MIT */
/* several.c: forms of which a line of a list may be several keys, and a question asks for several.
 *
 * Lists: a line with more than one key stands in the batch once for each of them, and the marks of
 * classes that are new come after the last line, so that what adds keys need not know about it.
 * Questions: a line stands there once, with what the steps made of it; batch_has asks for all that
 * answers it, a few hundred keys at a time, which stay in the cache.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"
#include "cli/keys/expand.h"
#include "tamis_engine.h"

/* ---- What is there ---- */

/* The classes whose marks are in the set; or, without one, all that there can be. */
static struct classes marks_in(const tamis *filter, enum reach reach) {
    struct classes marks = {0};
    char mark[MARK_TEXT];
    for (unsigned class = 0; class < CLASSES; class ++) {
        const size_t len = mark_of(reach, class, mark);
        if (len > 0 && (!filter || tamis_has(filter, mark, len))) classes_set(&marks, class);
    }
    return marks;
}

/* Marks may be forgotten as keys are; and who made a set without our notes, or added keys to it
 * elsewhere, may not know of them. All classes are asked for then: that costs time, not answers. */
struct classes classes_in(const tamis *filter, enum reach reach) {
    const struct tamis_info info = info_of(filter);
    const bool is_marked = form_is_noted(filter) && !(info.abilities & TAMIS_MAY_FORGET);
    const struct classes there = marks_in(filter, reach);
    return is_marked && classes_count(&there) > 0 ? there : marks_in(NULL, reach);
}

/* The marks of one class. */
static uint64_t count_mark(const tamis *filter, const char *mark, size_t len, uint64_t *keys) {
    const uint64_t labels = tamis_label_count(filter);
    uint64_t found[16];
    if (labels == 0) return tamis_has(filter, mark, len);
    const uint64_t n = tamis_labels(filter, mark, len, NULL, 0);
    uint64_t *label = n > sizeof found / sizeof *found ? calloc((size_t)n, sizeof *label) : found;
    if (keys && label) {
        tamis_labels(filter, mark, len, label, (size_t)n);
        for (uint64_t i = 0; i < n; i++) keys[label[i]] -= keys[label[i]] > 1;
    }
    if (label != found) free(label);
    return n;
}

uint64_t count_marks(const tamis *filter, const struct classes *of, uint64_t *keys) {
    struct form form;
    char mark[MARK_TEXT];
    uint64_t marks = 0;
    if (!form_of(filter, &form) || !canon_reach(&form.canon)) return 0;
    for (unsigned class = 0; class < CLASSES; class ++) {
        const size_t len = mark_of(canon_reach(&form.canon), class, mark);
        const bool is_asked = len > 0 && (!of || classes_has(of, class));
        if (is_asked) marks += count_mark(filter, mark, len, keys);
    }
    return marks;
}

/* Marks that are there need not be added again, unless they may go while keys stay: with time, or
 * with a label. */
static void note_marks(struct several *several, const struct keys *keys) {
    const unsigned has = keys->filter ? info_of(keys->filter).abilities : keys->abilities;
    several->marks_again = has & (TAMIS_AGES | TAMIS_CAN_TICK | TAMIS_CAN_LABEL | TAMIS_MAY_FORGET);
    if (keys->filter && !several->marks_again && !several->is_empty)
        several->marked = marks_in(keys->filter, several->reach);
}

int keys_are_single(const struct keys *keys) {
    static const char *const single[] = {
        [TO_PARENTS] = "domain", [TO_BLOCKS] = "ip", [TO_PREFIXES] = "url"};
    const enum reach reach = canon_reach(&keys->cutting.form.canon);
    char text[CANON_TEXT];
    if (reach == TO_ITSELF) return 0;
    canon_say(&keys->cutting.form.canon, text);
    return fail(keys->args, NULL,
                "--canon %s cannot be used here, because a question asks for several keys; "
                "--canon %s can",
                text, single[reach]);
}

int several_start(struct keys *keys) {
    struct several *several = &keys->several;
    char text[CANON_TEXT];
    several->reach = canon_reach(&keys->cutting.form.canon);
    if (several->reach == TO_ITSELF) return 0;
    if (several->use == ONE_KEY_A_LINE) return keys_are_single(keys);
    canon_say(&keys->cutting.form.canon, text);
    if (keys->cutting.form.encoding && !encoding_is_any_bytes(keys->cutting.form.encoding))
        return fail(keys->args, NULL, "--canon %s and --keys %s cannot be combined", text,
                    keys->cutting.form.encoding);
    if (several->use == ASKS_FOR_SEVERAL && keys->filter)
        several->there = classes_in(keys->filter, several->reach);
    if (several->use == ADDS_SEVERAL) {
        several->marked = (struct classes){0};
        note_marks(several, keys);
        several->mark = calloc(CLASSES, sizeof *several->mark);
        if (!several->mark) return fail_memory(keys->args);
    }
    return 0;
}

void several_end(struct keys *keys) {
    free(keys->several.mark);
    keys->several.mark = NULL;
}

/* ---- Lists ---- */

static size_t count_listed(enum reach reach, const struct batch *batch) {
    struct tamis_key key;
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++)
        for (struct tamis_key rest = batch->key[i]; next_listed(reach, &rest, &key);) n++;
    return n;
}

/* Lines with several keys move down to make room for those, the last first. */
static void spread(enum reach reach, struct batch *batch, size_t n) {
    size_t to = n;
    batch->line[n] = batch->line[batch->n]; /* the one that ended the run, if one did */
    for (size_t i = batch->n; i-- > 0;) {
        const struct tamis_key line = batch->line[i];
        struct tamis_key rest = batch->key[i], key;
        size_t keys = 0;
        while (next_listed(reach, &rest, &key)) keys++;
        rest = batch->key[i];
        to -= keys;
        for (size_t j = to; next_listed(reach, &rest, &key); j++) {
            batch->line[j] = line;
            batch->key[j] = key;
        }
    }
}

static void spread_list(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    const enum reach reach = keys->several.reach;
    const size_t n = count_listed(reach, batch);
    /* Room also for marks, and the line after the last. */
    if (!block_make_room(block, n + CLASSES + 1)) return;
    if (n > batch->n) {
        spread(reach, batch, n);
        batch->further = n - batch->n;
        batch->n = n;
        batch->has_gaps = true;
    }
    block->classes = (struct classes){0};
    for (size_t i = 0; i < batch->n; i++) classes_note(reach, &batch->key[i], &block->classes);
}

void block_spread(const struct keys *keys, struct block *block) {
    struct batch *batch = &block->batch;
    if (keys->several.use != ASKS_FOR_SEVERAL) {
        if (batch->n > 0) spread_list(keys, block);
        return;
    }
    if (block->matches_room < batch->n) {
        free(batch->match);
        batch->match = calloc(batch->n, sizeof *batch->match);
        block->matches_room = batch->match ? batch->n : 0;
        if (!batch->match) block->is_short_of_memory = true;
        if (!batch->match) batch->n = 0;
    }
    if (batch->n > 0) memset(batch->match, 0, batch->n * sizeof *batch->match);
}

static void hash_mark(const struct keys *keys, struct batch *batch, size_t i) {
    if (keys->takes_keys) return;
    if (keys->filter)
        tamis_hash_many(keys->filter, &batch->key[i], 1, &batch->hash[i]);
    else if (keys->builder)
        tamis_builder_hash_many(keys->builder, &batch->key[i], 1, &batch->hash[i]);
}

/* A mark comes after all keys that it is for, so that it expires after them. */
void block_mark(struct keys *keys, struct block *block) {
    struct several *several = &keys->several;
    struct batch *batch = &block->batch;
    if (!several->mark || batch->n == 0) return;
    const struct tamis_key last = batch->line[batch->n - 1], next = batch->line[batch->n];
    for (unsigned class = 0; class < CLASSES; class ++) {
        if (!classes_has(&block->classes, class)) continue;
        if (classes_has(&several->marked, class) && !several->marks_again) continue;
        classes_set(&several->marked, class);
        char *mark = several->mark[class];
        const size_t len = mark_of(several->reach, class, mark);
        batch->line[batch->n] = last;
        batch->key[batch->n] = (struct tamis_key){mark, len};
        hash_mark(keys, batch, batch->n++);
        batch->marks++;
    }
    batch->line[batch->n] = next;
    batch->has_gaps |= batch->marks > 0;
}

/* ---- Questions ---- */

struct asking {
    const tamis *filter;
    struct batch *batch;
    bool takes_keys;
    uint8_t *answer; /* for each line */
    struct probes probes;
    uint32_t line[PROBES];
    uint64_t hash[PROBES];
    uint8_t hit[PROBES];
};

static void ask_now(struct asking *asking) {
    struct batch *batch = asking->batch;
    const struct probes *probes = &asking->probes;
    if (asking->takes_keys) {
        tamis_has_many(asking->filter, probes->key, probes->n, asking->hit);
    } else {
        tamis_hash_many(asking->filter, probes->key, probes->n, asking->hash);
        tamis_has_hashes(asking->filter, asking->hash, probes->n, asking->hit);
    }
    for (size_t j = 0; j < probes->n; j++) {
        const uint32_t i = asking->line[j];
        if (!asking->hit[j] || asking->answer[i]) continue; /* the most specific came first */
        asking->answer[i] = 1;
        if (!batch->match[i].bytes) batch->match[i] = probes->match[j];
    }
    asking->probes.n = 0;
}

static void ask_line(struct asking *asking, const struct classes *there, size_t i,
                     struct tamis_key question) {
    const enum reach reach = asking->batch->keys->several.reach;
    for (bool is_whole = false; !is_whole;) {
        const size_t before = asking->probes.n;
        is_whole = probes_add(&asking->probes, reach, there, &question);
        for (size_t j = before; j < asking->probes.n; j++) asking->line[j] = (uint32_t)i;
        if (!is_whole) ask_now(asking);
    }
}

/* A range is in the set when each of its blocks is. */
static void ask_range(struct asking *asking, const struct classes *there, size_t i) {
    const struct batch *batch = asking->batch;
    const struct tamis_key before = batch->match[i];
    struct tamis_key rest = batch->key[i], block;
    bool has_all = true;
    ask_now(asking);
    while (has_all && next_listed(batch->keys->several.reach, &rest, &block)) {
        asking->answer[i] = 0;
        ask_line(asking, there, i, block);
        ask_now(asking);
        has_all = asking->answer[i];
    }
    if (!has_all) batch->match[i] = before;
}

void batch_has_several(const tamis *filter, const struct classes *there, struct batch *batch,
                       uint8_t *hit) {
    struct asking asking = {
        .filter = filter, .batch = batch, .takes_keys = hashes_itself(filter), .answer = hit};
    memset(hit, 0, batch->n);
    for (size_t i = 0; i < batch->n; i++) {
        struct tamis_key rest = batch->key[i], first;
        if (!rest.bytes || !next_listed(batch->keys->several.reach, &rest, &first)) continue;
        if (rest.len > 0)
            ask_range(&asking, there, i);
        else
            ask_line(&asking, there, i, first);
    }
    ask_now(&asking);
}

void each_answer(const tamis *filter, const struct classes *there, const struct batch *batch,
                 size_t i, void (*take)(void *with, uint64_t hash), void *with) {
    const enum reach reach = batch->keys->several.reach;
    struct tamis_key rest = batch->key[i], question;
    struct probes probes = {0};
    while (next_listed(reach, &rest, &question)) {
        for (bool is_whole = false; !is_whole; probes.n = 0) {
            uint64_t hash[PROBES];
            is_whole = probes_add(&probes, reach, there, &question);
            tamis_hash_many(filter, probes.key, probes.n, hash);
            for (size_t j = 0; j < probes.n; j++) take(with, hash[j]);
        }
    }
}

size_t batch_match(const struct batch *batch, size_t i, char *text, size_t size) {
    if (!batch->match || !batch->match[i].bytes) return 0;
    return match_text(batch->keys->several.reach, &batch->match[i], text, size);
}
