/* SPDX-License-Identifier: MIT */
/* uniq_tally.c: how often every line occurs, as uniq(1) says it with -c, -d and -u.
 *
 * That is known only at the end of input, so every distinct key is held until then, with its count.
 * Lines come out in the order of their first occurrence; nothing is printed before all is read, and
 * nothing at all when memory does not suffice. */
#include "cli/keys/keyset.h"
#include "cli/verbs/uniq.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Beside each key. */
struct tally {
    uint64_t count;
    char *line; /* the first that has the key, on the heap; NULL: the key is the line */
    size_t len;
};

struct tallying {
    struct uniq *uniq;
    struct keyset held;
};

bool uniq_has_tally(const struct args *args) {
    return FIRST_GIVEN(args, OPT_COUNT, OPT_REPEATED, OPT_UNIQUE) != NULL;
}

/* ---- In ---- */

static int fail_room(const struct tallying *tallying) {
    const struct args *args = tallying->uniq->args;
    if (tallying->held.is_short_of_memory) return fail_memory(args);
    return fail(args, "--memory",
                "%s distinct lines fill %s, and there are more; raise it, use \"sort | uniq -%c\", "
                "which works on disk, or \"tamis count --top K\" for the most frequent lines",
                human_count(tallying->held.keys).text, human_bytes(tallying->held.max_bytes).text,
                given(args, OPT_COUNT)      ? 'c'
                : given(args, OPT_REPEATED) ? 'd'
                                            : 'u');
}

static bool is_key(const struct tamis_key *line, const struct tamis_key *key) {
    return line->len == key->len &&
           (key->len == 0 || memcmp(line->bytes, key->bytes, key->len) == 0);
}

static int take_line(struct tallying *tallying, const struct batch *batch, size_t i) {
    const struct tamis_key *line = &batch->line[i];
    bool is_new;
    struct held *held = keyset_take(&tallying->held, batch->hash[i], &batch->key[i], &is_new);
    if (!held) return fail_room(tallying);
    struct tally *tally = held_beside(held);
    tally->count++;
    if (!is_new || is_key(line, &batch->key[i])) return 0;
    tally->line = malloc(line->len + 1);
    if (!tally->line) return fail_memory(tallying->uniq->args);
    if (line->len > 0) memcpy(tally->line, line->bytes, line->len);
    tally->len = line->len;
    tallying->held.bytes += line->len + 1;
    return 0;
}

static int take_batch(void *with, struct batch *batch) {
    struct tallying *tallying = with;
    struct uniq *uniq = tallying->uniq;
    int code = 0;
    for (size_t i = 0; i < batch->n && !code; i++) {
        keyset_fetch_next(&tallying->held, batch->hash, i, batch->n);
        code = take_line(tallying, batch, i);
    }
    uniq->lines += batch->n;
    uniq->has_failed = code != 0;
    return code;
}

/* ---- Out ---- */

static void print_tally(void *with, const struct tamis_key *key, void *beside) {
    struct uniq *uniq = with;
    const struct tally *tally = beside;
    const bool is_wanted = given(uniq->args, OPT_REPEATED) ? tally->count > 1
                           : given(uniq->args, OPT_UNIQUE) ? tally->count == 1
                                                           : true;
    if (!is_wanted) return;
    uniq->printed++;
    if (given(uniq->args, OPT_TOTAL)) return;
    if (given(uniq->args, OPT_COUNT)) printf("%7" PRIu64 " ", tally->count);
    fwrite(tally->line ? tally->line : key->bytes, 1, tally->line ? tally->len : key->len, stdout);
    putchar(uniq->keys->cutting.line_end);
}

static void free_line(void *with, const struct tamis_key *key, void *beside) {
    (void)with, (void)key;
    free(((struct tally *)beside)->line);
}

int uniq_tally(struct uniq *uniq) {
    struct tallying tallying = {.uniq = uniq};
    const struct handler handler = {.take = take_batch, .goes_on = true, .with = &tallying};
    tamis *hasher = NULL;
    int code = uniq_hasher(uniq, &hasher);
    if (code) return code;
    keyset_open(&tallying.held, uniq->memory / 4 * 3);
    tallying.held.beside = sizeof(struct tally);
    keys_hash_by(uniq->keys, hasher);
    code = keys_run(uniq->keys, &handler);
    uniq->keyless = uniq->keys->keyless;
    uniq->distinct = tallying.held.keys;
    uniq->exact_bytes = tallying.held.bytes;
    uniq->rounds = 1;
    if (!uniq->has_failed) keyset_walk(&tallying.held, print_tally, uniq);
    keyset_walk(&tallying.held, free_line, NULL);
    keyset_clear(&tallying.held);
    tamis_free(hasher);
    return code;
}
