/* SPDX-License-Identifier: MIT */
/* TAMIS.WORDS: a command with very many arguments, as primaries and append-only files tell it. */
#include "engines/redis/packed_words.h"

#include <string.h>

#include "engines/redis/commands.h"
#include "engines/redis/little_endian.h"

enum { LENGTH_BYTES = 4, MAX_BYTES = 512 << 20 };
enum { BEFORE = 2 /* the command and its key */, PACKED = 3 /* among the arguments */ };

/* ---- Packing --------------------------------------------------------------------------------- */

static size_t packed_size(redis_string *const *word, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count && size <= MAX_BYTES; i++)
        size += LENGTH_BYTES + key_of(word[i]).len;
    return size;
}

char *words_pack(redis_string *const *word, size_t count, size_t *size) {
    *size = packed_size(word, count);
    uint8_t *packed = *size <= MAX_BYTES ? try_alloc(*size) : NULL, *to = packed;
    for (size_t i = 0; packed && i < count; i++) {
        const struct tamis_key k = key_of(word[i]);
        to = le_put(to, LENGTH_BYTES, k.len);
        memcpy(to, k.bytes, k.len);
        to += k.len;
    }
    return (char *)packed;
}

/* ---- Unpacking ------------------------------------------------------------------------------- */

/* The next word; `left` becomes what follows it. False when no whole word is left. */
static bool take_word(struct tamis_key *left, struct tamis_key *word) {
    const uint8_t *p = left->bytes;
    if (left->len < LENGTH_BYTES) return false;
    const size_t len = (size_t)le_get(p, LENGTH_BYTES);
    if (left->len - LENGTH_BYTES < len) return false;
    *word = (struct tamis_key){p + LENGTH_BYTES, len};
    *left = (struct tamis_key){p + LENGTH_BYTES + len, left->len - LENGTH_BYTES - len};
    return true;
}

/* How many there are; 0 when they are not packed as they should be. */
static size_t count_words(const redis_string *packed) {
    struct tamis_key left = key_of(packed), word;
    size_t n = 0;
    while (take_word(&left, &word)) n++;
    return left.len ? 0 : n;
}

/* They are this job's alone until it has ended: no lock is needed. */
static void unpack(const redis_string *packed, redis_string **to) {
    struct tamis_key left = key_of(packed), word;
    while (take_word(&left, &word)) *to++ = redis.CreateString(NULL, word.bytes, word.len);
}

static void unpack_elsewhere(job *j) {
    unpack(j->request->argv[PACKED], *(redis_string ***)j->task + BEFORE);
}

/* ---- TAMIS.WORDS key command packed ---------------------------------------------------------- */

static void free_arguments(const request *again, int count) {
    for (int i = 0; i < count; i++) redis.FreeString(NULL, again->argv[i]);
    redis.Free(again->argv);
}

static void run_now(request *again, const redis_string *packed) {
    unpack(packed, again->argv + BEFORE);
    request_run(again);
    free_arguments(again, again->argc);
}

int tamis_words_command(request *r) {
    if (bounds_bind())
        return reply_error(r->ctx, "ERR TAMIS.WORDS is for primaries and append-only files");
    request again = {.ctx = r->ctx, .command = words_command(r->argv[2])};
    const size_t count = count_words(r->argv[PACKED]);
    if (!again.command || count == 0 || count > INT32_MAX - BEFORE)
        return reply_error(r->ctx,
                           "ERR no such command, or its words are not packed as they should be");
    again.argc = BEFORE + (int)count;
    again.argv = redis.Alloc((size_t)again.argc * sizeof *again.argv);
    again.argv[0] = redis.HoldString(NULL, r->argv[2]);
    again.argv[1] = redis.HoldString(NULL, r->key);
    if (!may_wait(r))
        run_now(&again, r->argv[PACKED]);
    else if (!work_relay(r, &again, unpack_elsewhere))
        free_arguments(&again, BEFORE);
    return REDIS_OK;
}
