/* SPDX-License-Identifier: MIT */
/* feed_index.c: what a publisher offers, read and kept. */
#include "cli/feeds/feed_index.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/files.h"

const char index_name[] = "tamis.index", state_name[] = "tamis.sync";

/* ---- Names ---- */

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool feed_name_is_good(const char *name, size_t len) {
    if (len == 0 || len > FEED_NAME_BYTES || !is_plain(name[0])) return false;
    for (size_t i = 1; i < len; i++)
        if (!is_plain(name[i]) && name[i] != '.' && name[i] != '-' && name[i] != '+') return false;
    return true;
}

void feed_image_name(const struct feed *feed, char name[FEED_FILE_BYTES]) {
    snprintf(name, FEED_FILE_BYTES, "%s.tamis", feed->name);
}

void feed_patch_name(const struct feed *feed, const struct feed_patch *patch,
                     char name[FEED_FILE_BYTES]) {
    snprintf(name, FEED_FILE_BYTES, "%s.%016" PRIx64 "-%016" PRIx64 ".patch", feed->name,
             patch->base.sum, patch->result.sum);
}

/* NAME.0123456789abcdef-0123456789abcdef.patch */
bool feed_file_is_patch(const char *file) {
    enum { TAIL = sizeof ".0123456789abcdef-0123456789abcdef.patch" - 1 };
    const size_t len = strlen(file);
    if (len <= TAIL || !feed_name_is_good(file, len - TAIL)) return false;
    const char *at = file + len - TAIL;
    return at[0] == '.' && strspn(at + 1, "0123456789abcdef") == 16 && at[17] == '-' &&
           strspn(at + 18, "0123456789abcdef") == 16 && strcmp(at + 34, ".patch") == 0;
}

bool feed_file_is_aside(const char *file) {
    return strcmp(file, index_name) == 0 || strcmp(file, state_name) == 0 ||
           feed_file_is_patch(file);
}

/* ---- Words ---- */

/* The rest of the text, and what was wrong with it first. */
struct reader {
    const char *at, *end;
    size_t line;
    bool is_good;
    char *why;
    size_t size;
};

PRINTF_LIKE(2, 3)
static void refuse(struct reader *r, const char *format, ...) {
    va_list values;
    if (!r->is_good) return;
    const int used = snprintf(r->why, r->size, "line %zu: ", r->line);
    va_start(values, format);
    vsnprintf(r->why + used, r->size > (size_t)used ? r->size - (size_t)used : 0, format, values);
    va_end(values);
    r->is_good = false;
}

static bool starts_with(const struct reader *r, const char *word) {
    const size_t len = strlen(word);
    return r->is_good && (size_t)(r->end - r->at) >= len && memcmp(r->at, word, len) == 0;
}

/* Exactly this text. */
static void expect(struct reader *r, const char *word) {
    if (!starts_with(r, word)) {
        refuse(r, "\"%.*s\" is expected here", (int)strcspn(word, "\n"), word);
        return;
    }
    r->at += strlen(word);
    if (r->at[-1] == '\n') r->line++;
}

/* Decimal digits as they are written here: no sign, no zeros before them, below 2^57. */
static uint64_t take_number(struct reader *r) {
    const uint64_t limit = (uint64_t)1 << 57;
    const char *start = r->at;
    uint64_t number = 0;
    while (r->is_good && r->at < r->end && *r->at >= '0' && *r->at <= '9' && number < limit)
        number = number * 10 + (uint64_t)(*r->at++ - '0');
    if (r->at == start || number >= limit || (*start == '0' && r->at > start + 1))
        refuse(r, "a number from 0 to 2^57-1 is expected here");
    return number;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take_hex(struct reader *r, uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n && r->is_good; i++) {
        const bool is_there = r->end - r->at >= 2;
        const int high = is_there ? digit_of(r->at[0]) : -1,
                  low = is_there ? digit_of(r->at[1]) : -1;
        if (high < 0 || low < 0) {
            refuse(r, "%zu lower-case hex digits are expected here", 2 * n);
            return;
        }
        bytes[i] = (uint8_t)(high << 4 | low);
        r->at += 2;
    }
}

static uint64_t take_sum(struct reader *r) {
    uint8_t bytes[8] = {0};
    uint64_t sum = 0;
    take_hex(r, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) sum = sum << 8 | bytes[i];
    return sum;
}

static struct digest take_digest(struct reader *r) {
    struct digest digest = {.is_known = !starts_with(r, "-")};
    if (digest.is_known)
        take_hex(r, digest.bytes, DIGEST_BYTES);
    else
        expect(r, "-");
    return digest;
}

static struct version take_version(struct reader *r) {
    struct version version = {.bytes = take_number(r)};
    expect(r, " ");
    version.sum = take_sum(r);
    return version;
}

/* One that follows the last; empty where there is none. */
static void take_name(struct reader *r, const char *last, char name[FEED_NAME_BYTES + 1]) {
    size_t len = 0;
    while (r->at + len < r->end && r->at[len] != ' ' && r->at[len] != '\n') len++;
    *name = '\0';
    if (!feed_name_is_good(r->at, len)) {
        refuse(r, "a name of a feed has 1 to %d letters, digits, and . _ + - between them",
               FEED_NAME_BYTES);
        return;
    }
    memcpy(name, r->at, len);
    name[len] = '\0';
    r->at += len;
    if (strcmp(name, last) <= 0) refuse(r, "the names of feeds must be in ascending order");
}

/* ---- The index ---- */

struct feed *feed_add(struct feed_index *index, const char *name) {
    if (!list_grow(&index->feed, &index->room, index->feeds + 1, sizeof *index->feed)) return NULL;
    struct feed *feed = &index->feed[index->feeds++];
    *feed = (struct feed){0};
    snprintf(feed->name, sizeof feed->name, "%s", name);
    return feed;
}

bool feed_add_patch(struct feed *feed, const struct feed_patch *patch) {
    if (!list_grow(&feed->patch, &feed->patch_room, feed->patches + 1, sizeof *feed->patch))
        return false;
    feed->patch[feed->patches++] = *patch;
    return true;
}

void feed_drop_patches(struct feed *feed, size_t oldest) {
    feed->patches -= oldest;
    if (feed->patches)
        memmove(feed->patch, feed->patch + oldest, feed->patches * sizeof *feed->patch);
}

static void take_patch(struct reader *r, struct feed *feed) {
    struct feed_patch patch;
    expect(r, "patch ");
    patch.base = take_version(r);
    expect(r, " ");
    patch.result = take_version(r);
    expect(r, " ");
    patch.bytes = take_number(r);
    expect(r, " ");
    patch.digest = take_digest(r);
    if (r->is_good && feed->patches &&
        !version_is(feed->patch[feed->patches - 1].result, patch.base))
        refuse(r, "the patch does not follow the one before it");
    expect(r, "\n");
    if (r->is_good && !feed_add_patch(feed, &patch)) refuse(r, "out of memory");
}

static void take_feed(struct reader *r, struct feed_index *index) {
    char name[FEED_NAME_BYTES + 1];
    expect(r, "feed ");
    take_name(r, index->feeds ? index->feed[index->feeds - 1].name : "", name);
    expect(r, " ");
    struct feed *feed = r->is_good ? feed_add(index, name) : NULL;
    if (!feed) refuse(r, "out of memory");
    if (!r->is_good) return;
    feed->version = take_version(r);
    expect(r, " ");
    feed->digest = take_digest(r);
    expect(r, "\n");
    while (starts_with(r, "patch ")) take_patch(r, feed);
    if (r->is_good && feed->patches &&
        !version_is(feed->patch[feed->patches - 1].result, feed->version))
        refuse(r, "the patches before this line do not lead to the image of their feed");
}

static void take_signature(struct reader *r, struct feed_index *index) {
    index->is_signed = true;
    expect(r, "signed ");
    take_hex(r, index->public_key, PUBLIC_KEY_BYTES);
    expect(r, " ");
    take_hex(r, index->signature, SIGNATURE_BYTES);
    expect(r, "\n");
}

bool feed_index_parse(struct feed_index *index, const char *text, size_t len, char *why,
                      size_t size) {
    struct reader r = {text, text + len, 1, true, why, size};
    *index = (struct feed_index){0};
    expect(&r, "tamis index 1\n");
    expect(&r, "serial ");
    index->serial = take_number(&r);
    expect(&r, "\n");
    while (starts_with(&r, "feed ")) take_feed(&r, index);
    expect(&r, "end\n");
    index->signed_bytes = (size_t)(r.at - text);
    if (r.is_good && r.at < r.end) take_signature(&r, index);
    if (r.is_good && r.at < r.end) refuse(&r, "there is more after the end");
    return r.is_good;
}

void feed_index_free(struct feed_index *index) {
    for (size_t i = 0; i < index->feeds; i++) free(index->feed[i].patch);
    free(index->feed);
    *index = (struct feed_index){0};
}

struct feed *feed_named(const struct feed_index *index, const char *name) {
    for (size_t i = 0; i < index->feeds; i++)
        if (strcmp(index->feed[i].name, name) == 0) return &index->feed[i];
    return NULL;
}

/* A version may have been there before: the newest time is the shortest way. */
size_t feed_chain(const struct feed *feed, struct version from, uint64_t *bytes) {
    uint64_t sum = 0;
    for (size_t i = feed->patches; i-- > 0;) {
        sum += feed->patch[i].bytes;
        *bytes = sum;
        if (version_is(feed->patch[i].base, from)) return i;
    }
    return feed->patches;
}

/* ---- What a subscriber remembers ---- */

bool feed_state_has(const struct feed_state *state, const char *name) {
    for (size_t i = 0; i < state->names; i++)
        if (strcmp(state->name[i], name) == 0) return true;
    return false;
}

bool feed_state_add(struct feed_state *state, const char *name) {
    if (feed_state_has(state, name)) return true;
    if (!list_grow(&state->name, &state->room, state->names + 1, sizeof *state->name)) return false;
    snprintf(state->name[state->names++], sizeof *state->name, "%s", name);
    return true;
}

bool feed_state_parse(struct feed_state *state, const char *text, size_t len, char *why,
                      size_t size) {
    struct reader r = {text, text + len, 1, true, why, size};
    char name[FEED_NAME_BYTES + 1] = "";
    *state = (struct feed_state){0};
    expect(&r, "tamis sync 1\n");
    expect(&r, "serial ");
    state->serial = take_number(&r);
    expect(&r, "\n");
    expect(&r, "index ");
    state->index_sum = take_sum(&r);
    expect(&r, "\n");
    while (starts_with(&r, "feed ")) {
        expect(&r, "feed ");
        take_name(&r, "", name);
        expect(&r, "\n");
        if (r.is_good && !feed_state_add(state, name)) refuse(&r, "out of memory");
    }
    expect(&r, "end\n");
    if (r.is_good && r.at < r.end) refuse(&r, "there is more after the end");
    return r.is_good;
}

void feed_state_free(struct feed_state *state) {
    free(state->name);
    *state = (struct feed_state){0};
}
