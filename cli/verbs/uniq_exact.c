/* SPDX-License-Identifier: MIT */
/* uniq_exact.c: the first occurrence of every line, without any loss and in bounded memory.
 *
 * Keys that came are held with their bytes, and a line is printed when its key is not among them.
 * When memory is used up, nothing more is taken in; what is left of the input is only asked about:
 *
 *     round 1   ████████████████████│░░ ░ ░░ ░  ░░░ ░   in order, all before │ is printed
 *                    keys held      │  not held: to a file ──┐
 *     round 2                        ██████████████│░ ░░ ░   ◀┘ memory is emptied first
 *     ...
 *
 * The lines in the file are those whose keys did not come before │, in their order. So the next
 * round over the file does the same job for the rest of the output, and every round prints what
 * comes after that of the round before.
 *
 * The file should be short and few keys should need memory in the next round. Filters see to that:
 * a line that the first filter has not seen in this file is new there; when it has, the key goes to
 * the second one. What is not in the second filter comes once in the file and is printed without
 * being held. Filters may be wrong: then a key is held that need not be. */
#include "cli/keys/keyset.h"
#include "cli/verbs/uniq.h"
#include "tamis_engine.h"

#include <inttypes.h>
#include <stdlib.h>

struct round {
    struct uniq *uniq;
    struct keyset *held;
    const tamis *repeated; /* has keys that come again in this round; NULL: any may */
    bool is_full;
    /* For the next round, from when it is full. */
    struct spill *rest;
    tamis *once, *again;
};

/* ---- The filters for the next round ---- */

static int make_filter(const struct uniq *uniq, tamis **filter) {
    /* An eighth of the memory, best when it has a key for 20 bits. */
    const uint64_t size = uniq->memory / 8;
    const struct human spec =
        human_words("blocked:size=%" PRIu64 ",capacity=%" PRIu64, size, size * 8 / 20 + 1);
    return check_status(uniq->args, NULL, tamis_create(filter, spec.text));
}

static int begin_rest(struct round *round) {
    int code = spill_open(round->rest, round->uniq->args);
    if (!code) code = make_filter(round->uniq, &round->once);
    if (!code) code = make_filter(round->uniq, &round->again);
    round->is_full = true;
    return code;
}

/* ---- Lines ---- */

/* A line whose key is not held, when no more can be. */
static int put_aside(struct round *round, const struct batch *batch, size_t i) {
    bool is_new;
    tamis_status status = tamis_add_new_hash(round->once, batch->hash[i], &is_new);
    if (!status && !is_new) status = tamis_add_hash(round->again, batch->hash[i]);
    if (status) return fail_why(round->uniq->args, NULL, status);
    return spill_line(round->rest, &batch->line[i], batch->keys->cutting.line_end);
}

static int take_line(struct round *round, struct batch *batch, size_t i) {
    const struct tamis_key *key = &batch->key[i];
    const uint64_t hash = batch->hash[i];
    bool is_new = true;
    if (round->is_full) return keyset_find(round->held, hash, key) ? 0 : put_aside(round, batch, i);
    const bool comes_once = round->repeated && !tamis_has_hash(round->repeated, hash);
    if (!comes_once && !keyset_take(round->held, hash, key, &is_new)) {
        if (round->held->is_short_of_memory && round->held->keys == 0)
            return fail_memory(round->uniq->args);
        const int code = begin_rest(round);
        return code ? code : put_aside(round, batch, i);
    }
    if (is_new) uniq_print(round->uniq, batch, i);
    return 0;
}

static int take_batch(void *with, struct batch *batch) {
    struct round *round = with;
    struct uniq *uniq = round->uniq;
    int code = 0;
    for (size_t i = 0; i < batch->n && !code; i++) {
        keyset_fetch_next(round->held, batch->hash, i, batch->n);
        code = take_line(round, batch, i);
    }
    if (uniq->rounds == 1) uniq->lines += batch->n;
    uniq->has_failed = code != 0;
    return code;
}

/* ---- Rounds ---- */

static int run_round(struct round *round, const tamis *hasher) {
    struct uniq *uniq = round->uniq;
    const struct handler handler = {
        .take = take_batch, .goes_on = uniq->rounds == 0, .with = round};
    uniq->rounds++;
    keys_hash_by(uniq->keys, hasher);
    const int code = keys_run(uniq->keys, &handler);
    if (uniq->rounds == 1) uniq->keyless = uniq->keys->keyless;
    if (round->held->bytes > uniq->exact_bytes) uniq->exact_bytes = round->held->bytes;
    uniq->spilled_bytes += round->rest->bytes;
    return code;
}

static int run_rounds(struct uniq *uniq, struct keyset *held, const tamis *hasher) {
    struct spill lines = {.fd = -1}, rest = {.fd = -1};
    tamis *repeated = NULL;
    int code = 0, first = 0;
    for (;;) {
        struct round round = {.uniq = uniq, .held = held, .repeated = repeated, .rest = &rest};
        if (uniq->rounds > 0) code = keys_keep(uniq->keys, &lines); /* what was put aside */
        if (!code) code = run_round(&round, hasher);
        /* A file that cannot be read was reported; the rest of the others is still due. */
        if (uniq->rounds == 1 && !uniq->has_failed && !ferror(stdout)) first = code, code = 0;
        tamis_free(round.once);
        tamis_free(repeated);
        repeated = round.again;
        spill_close(&lines);
        lines = rest;
        rest = (struct spill){.fd = -1};
        keyset_clear(held);
        if (code || !round.is_full) break;
    }
    tamis_free(repeated);
    spill_close(&lines);
    return code ? code : first;
}

int uniq_hasher(struct uniq *uniq, tamis **hasher) {
    const struct human spec =
        human_words("blocked:capacity=1,hash=%.20s", text_or(uniq->args, OPT_HASH, "xxh3"));
    const tamis_status status = tamis_create(hasher, spec.text);
    uniq->has_failed = status != TAMIS_OK;
    return check_status(uniq->args, NULL, status);
}

int uniq_exact(struct uniq *uniq) {
    struct keyset held;
    tamis *hasher = NULL;
    if (uniq_hasher(uniq, &hasher)) return EXIT_TROUBLE;
    keyset_open(&held, uniq->memory / 4 * 3);
    const int code = run_rounds(uniq, &held, hasher);
    keyset_clear(&held);
    tamis_free(hasher);
    return code;
}
