/* SPDX-License-Identifier: MIT */
/* tamis_pending.h: keys that come one after the other, and answers that may come a few keys later.
 *
 * tamis_has waits for memory with every key; tamis_has_u64s overlaps the waiting of many, but wants
 * them as a list. Here each key that is pushed gives the answer about an earlier one, at nearly the
 * speed of lists, with filters of every kind:
 *
 *     struct tamis_pending pending = tamis_pending_init(filter);
 *     struct tamis_answer answer;
 *     while (next_row(&key))
 *         if (tamis_pending_push(&pending, key, &answer)) use(answer.key, answer.is_hit);
 *     while (tamis_pending_pop(&pending, &answer)) use(answer.key, answer.is_hit);
 *
 * Answers come in the order of their keys, each at most TAMIS_MAX_PENDING pushes later; a caller
 * with more to remember than a key keeps a ring of its own. An answer is that of some moment
 * between its push and its return, and the filter must outlive the pending keys. */
#ifndef TAMIS_PENDING_H
#define TAMIS_PENDING_H

#include "tamis_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TAMIS_MAX_PENDING = 128 };

struct tamis_answer {
    uint64_t key;
    bool is_hit; /* false: certainly not in the set */
};

struct tamis_pending {
    const tamis *filter;
    bool has_hashes;
    unsigned asked_from, asked_to; /* these have answers */
    unsigned waiting;              /* these, from 0 on, have none yet */
    uint64_t key[TAMIS_MAX_PENDING];
    uint8_t hit[TAMIS_MAX_PENDING];
};

/* For integers. */
static inline struct tamis_pending tamis_pending_init(const tamis *filter) {
    struct tamis_pending pending;
    pending.filter = filter;
    pending.has_hashes = false;
    pending.asked_from = pending.asked_to = pending.waiting = 0;
    return pending;
}

/* For keys of other lengths, by their hashes: tamis_hash. */
static inline struct tamis_pending tamis_pending_init_hashes(const tamis *filter) {
    struct tamis_pending pending = tamis_pending_init(filter);
    pending.has_hashes = true;
    return pending;
}

/* Asks about all that wait. */
static inline void tamis_pending_ask(struct tamis_pending *pending) {
    if (pending->has_hashes)
        tamis_has_hashes(pending->filter, pending->key, pending->waiting, pending->hit);
    else
        tamis_has_u64s(pending->filter, pending->key, pending->waiting, pending->hit);
    pending->asked_from = 0;
    pending->asked_to = pending->waiting;
    pending->waiting = 0;
}

/* Pushes an integer, or a hash; true when an earlier one has its answer now. Threads: one for each
 * struct; the filter as with tamis_has. */
static inline bool tamis_pending_push(struct tamis_pending *pending, uint64_t key,
                                      struct tamis_answer *answer) {
    const unsigned at = pending->waiting;
    /* Its place is that of an answer, unless pops have made room. */
    const bool is_taken = at == pending->asked_from && at < pending->asked_to;
    if (is_taken) {
        answer->key = pending->key[at];
        answer->is_hit = pending->hit[at] != 0;
        pending->asked_from = at + 1;
    }
    pending->key[at] = key;
    pending->waiting = at + 1;
    if (at + 1 == TAMIS_MAX_PENDING) tamis_pending_ask(pending);
    return is_taken;
}

/* The next answer without another key; false when every key has had its answer. */
static inline bool tamis_pending_pop(struct tamis_pending *pending, struct tamis_answer *answer) {
    if (pending->asked_from == pending->asked_to) {
        if (pending->waiting == 0) return false;
        tamis_pending_ask(pending);
    }
    answer->key = pending->key[pending->asked_from];
    answer->is_hit = pending->hit[pending->asked_from] != 0;
    pending->asked_from++;
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
