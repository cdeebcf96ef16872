/* SPDX-License-Identifier: MIT */
/* rewrite.c: keys that are a part of their line, or other bytes. On any thread.
 *
 * What can be a key where it lies is left there: a field, neighbouring fields, a key without blanks
 * around it. All else is written to memory that the block keeps from one filling to the next.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"
#include "cli/keys/steps.h"
#include "tamis_formats.h"

struct rewriting rewriting_of(const struct cutting *cutting, const struct source *source) {
    const struct form *form = &cutting->form;
    const bool is_as_it_is = !form->encoding || strcmp(form->encoding, "bytes") == 0;
    const bool only_cuts = is_as_it_is && canon_only_cuts(&form->canon);
    const bool has_fields = cutting->fields.n > 0, cuts = only_cuts && form->canon.n > 0;
    return (struct rewriting){.fields = source->fields ? source->fields : &cutting->fields,
                              .has_fields = has_fields,
                              .cuts = cuts,
                              .has_form = !only_cuts,
                              .is_needed = has_fields || cuts || !only_cuts ||
                                           cutting->has_values || cutting->comments > 0};
}

/* ---- Comments and blanks ---- */

/* A comment starts the line, or follows a blank: a URL may well have a # inside. */
static bool cut_comment(const char *start, struct tamis_key *line) {
    const char *const bytes = line->bytes, *const end = bytes + line->len;
    const size_t len = strlen(start);
    const char *at = bytes;
    while (at < end && is_blank(*at)) at++;
    if ((size_t)(end - at) >= len && memcmp(at, start, len) == 0) return true;
    for (; at < end && (at = memchr(at, *start, (size_t)(end - at))) != NULL; at++) {
        if (at == bytes || !is_blank(at[-1]) || (size_t)(end - at) < len ||
            memcmp(at, start, len) != 0)
            continue;
        *line = without_blanks((struct tamis_key){.bytes = bytes, .len = (size_t)(at - bytes)});
        break;
    }
    return false;
}

bool cut_comments(const struct cutting *cutting, struct tamis_key *line) {
    for (size_t i = 0; i < cutting->comments; i++)
        if (cut_comment(cutting->comment[i], line)) return true;
    return false;
}

static bool is_all_blank(const struct tamis_key *key) {
    return without_blanks(*key).len == 0;
}

/* ---- Room ---- */

/* Where a key may be written. NULL, noted, when memory is out. */
static char *room_for(struct block *block, size_t len) {
    struct page *page = block->page;
    if (!page || page->room - page->len < len) {
        const size_t twice = page ? 2 * page->room : BLOCK_BYTES;
        const size_t room = twice > len ? twice : len;
        struct page *next = malloc(sizeof *next + room);
        block->is_short_of_memory = !next;
        if (!next) return NULL;
        *next = (struct page){.before = page, .room = room};
        block->page = page = next;
    }
    return page->bytes + page->len;
}

static bool is_too_long(struct block *block, size_t len) {
    if (len <= MAX_REWRITTEN) return false;
    snprintf(block->bad_line, WHY_BYTES, "a key of %s is too long for these options (maximum: %s)",
             human_bytes(len).text, human_bytes(MAX_REWRITTEN).text);
    return true;
}

/* ---- Fields ---- */

static enum fate join(const struct fields *fields, struct block *block,
                      const struct tamis_key part[], struct tamis_key *key) {
    size_t len = fields->n - 1;
    for (size_t j = 0; j < fields->n && len <= MAX_REWRITTEN; j++) len += part[j].len;
    if (is_too_long(block, len)) return IS_INVALID;
    char *room = room_for(block, len);
    if (!room) return IS_BAD;
    fields_join(fields, part, room, key);
    return IS_KEY;
}

/* Of CSV, JSON and words between blanks, whose fields may be written anew. */
static enum fate take_columns(const struct fields *fields, struct block *block,
                              struct tamis_key *key) {
    bool is_missing;
    if (is_too_long(block, key->len)) return IS_INVALID;
    char *room = room_for(block, columns_join(fields, key->len) + 2 * key->len);
    if (!room) return IS_BAD;
    const char *wrong = fields->shape == SHAPE_JSONL ? json_key(fields, key, room, &is_missing)
                                                     : columns_key(fields, key, room, &is_missing);
    if (wrong) snprintf(block->bad_line, WHY_BYTES, "%s", wrong);
    return wrong ? IS_INVALID : is_missing ? IS_FIELDLESS : IS_KEY;
}

static enum fate take_fields(const struct fields *fields, struct block *block,
                             struct tamis_key *key) {
    struct tamis_key part[MAX_RANGES];
    const bool is_plain_csv = fields->shape == SHAPE_CSV && fields->n == 1 &&
                              fields->range[0].first == fields->range[0].last &&
                              block->mapped == 0 && !memchr(key->bytes, '"', key->len);
    if (fields->shape != SHAPE_LINE && !is_plain_csv) return take_columns(fields, block, key);
    if (!fields_find(fields, key, block->mapped > 0, part)) return IS_FIELDLESS;
    block->skipped.quotes +=
        !is_plain_csv && part[0].len > 1 && *(const char *)part[0].bytes == '"';
    if (fields->n > 1) return join(fields, block, part, key);
    *key = part[0];
    return IS_KEY;
}

/* ---- Form ---- */

/* Memory for both steps: what is joined stays where it is, for those who complain about it. */
struct room {
    char *canon;  /* CANON_GROWTH more than the key */
    char *encode; /* twice that and ENCODE_GROWTH */
};
enum { ENCODE_GROWTH = 16 };

static bool make_steps(struct block *block, size_t len, bool is_joined, struct room *steps) {
    const size_t formed = len + CANON_GROWTH;
    char *room = room_for(block, len + formed + 2 * formed + ENCODE_GROWTH);
    if (!room) return false;
    steps->canon = room + (is_joined ? len : 0);
    steps->encode = steps->canon + formed;
    return true;
}

/* The bytes that the text stands for, in the place of what was there before. */
static enum fate encode(const char *encoding, struct block *block, struct tamis_key *key,
                        const struct room *steps) {
    const size_t len = tamis_encode(encoding, key->bytes, key->len, steps->encode,
                                    2 * (key->len + CANON_GROWTH) + ENCODE_GROWTH);
    if (len == SIZE_MAX) {
        snprintf(block->bad_line, WHY_BYTES, "%s", tamis_why());
        return IS_INVALID;
    }
    memmove(steps->canon, steps->encode, len);
    *key = (struct tamis_key){.bytes = steps->canon, .len = len};
    return IS_KEY;
}

static enum fate give_form(const struct cutting *cutting, struct block *block,
                           struct tamis_key *key) {
    const struct form *form = &cutting->form;
    const char *encoding = form->encoding;
    struct room steps;
    if (is_too_long(block, key->len)) return IS_INVALID;
    if (!make_steps(block, key->len, cutting->fields.n > 1, &steps)) return IS_BAD;

    const struct tamis_key text = *key;
    const bool is_first = encoding && encoding_is_any_bytes(encoding);
    enum fate fate = is_first ? encode(encoding, block, key, &steps) : IS_KEY;
    const char *wrong = fate == IS_KEY ? canon_apply(&form->canon, key, steps.canon) : NULL;
    if (wrong) {
        snprintf(block->bad_line, WHY_BYTES, "\"%s\" is not %s", human_key(&text).text, wrong);
        fate = IS_INVALID;
    }
    if (fate == IS_KEY && !is_first && encoding) fate = encode(encoding, block, key, &steps);
    return fate == IS_INVALID && is_all_blank(&text) ? IS_EMPTY : fate;
}

enum fate rewrite_key(const struct cutting *cutting, struct rewriting rewriting,
                      struct block *block, struct tamis_key *key) {
    enum fate fate = IS_KEY;
    const bool may_be_empty = !cutting->skips_empty && rewriting.fields->shape == SHAPE_LINE;
    if (rewriting.has_fields && !may_be_empty && is_all_blank(key)) return IS_EMPTY;
    if (rewriting.has_fields) fate = take_fields(rewriting.fields, block, key);
    if (fate == IS_KEY && rewriting.cuts) (void)canon_apply(&cutting->form.canon, key, NULL);
    if (fate == IS_KEY && cutting->skips_empty &&
        (key->len == 0 || (rewriting.has_form && is_all_blank(key))))
        return IS_EMPTY;
    if (fate == IS_KEY && rewriting.has_form) fate = give_form(cutting, block, key);
    /* What was written ends where the key does. */
    struct page *page = block->page;
    const uintptr_t at = page ? (uintptr_t)key->bytes - (uintptr_t)page->bytes : 0;
    if (fate == IS_KEY && page && at < page->room) page->len = at + key->len;
    return fate;
}
