/* SPDX-License-Identifier: MIT */
/* The sending side: an endless stream of coded symbols of a set.
 *
 * Each is the sum of the hashes that it covers: the first covers all, the following ever fewer, so
 * whatever the difference to another set, some symbol covers just one hash of it. docs/reconcile.md
 * has the details. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "jobs/streams.h"

struct tamis_symbols {
    tamis_symbol_set symbol_set;
    struct tamis_symbol *ready; /* the current stretch, [from, to) */
    uint64_t from, to, next;
    tamis_status broken; /* permanent: a stream with a gap would be read as another set */
    tamis_block self, ready_block;
};

tamis_status tamis__symbols_of(tamis_symbols **symbols, tamis_symbol_set *symbol_set,
                               const uint8_t key[16]) {
    tamis_block self;
    tamis_symbols *s = tamis__get(&symbol_set->allocator, sizeof *s, &self);
    if (!s) return TAMIS_NOMEM;
    tamis__symbol_set_key(symbol_set, key);
    s->symbol_set = *symbol_set;
    s->self = self;
    *symbols = s;
    return TAMIS_OK;
}

tamis_status tamis_symbols_create(tamis_symbols **symbols, const uint64_t *hashes, size_t n,
                                  const uint8_t *key, const struct tamis_options *options) {
    tamis_symbol_set symbol_set;
    *symbols = NULL;
    tamis_status rc = tamis__symbol_set_start(&symbol_set, options, hashes, n, key);
    if (!rc) rc = tamis__symbols_of(symbols, &symbol_set, key);
    if (rc) tamis__symbol_set_free(&symbol_set);
    return rc;
}

static tamis_status next_stretch(tamis_symbols *s) {
    if (s->to >= TAMIS_STREAM_MAX_SYMBOLS)
        return tamis__fail(TAMIS_TOO_LARGE, "a stream has at most 2^32 symbols");
    const uint64_t from = s->to, to = tamis__symbol_set_stretch(&s->symbol_set, from);
    const uint64_t size = (to - from) * sizeof *s->ready;
    struct tamis_symbol *ready = tamis__regrow(&s->symbol_set.allocator, &s->ready_block, 0, size);
    if (!ready) return TAMIS_NOMEM;
    s->ready = ready, s->from = from, s->to = to;
    tamis__symbol_set_fill(&s->symbol_set, ready, from, to, 1);
    return TAMIS_OK;
}

tamis_status tamis_symbols_next(tamis_symbols *s, struct tamis_symbol *list, size_t n) {
    if (s->broken) return tamis__fail(s->broken, "the stream failed earlier");
    while (n) {
        if (s->next == s->to && (s->broken = next_stretch(s)) != TAMIS_OK) return s->broken;
        const size_t here = s->to - s->next < n ? (size_t)(s->to - s->next) : n;
        memcpy(list, s->ready + (s->next - s->from), here * sizeof *list);
        list += here, n -= here, s->next += here;
    }
    return TAMIS_OK;
}

tamis_symbol_set *tamis__symbols_symbol_set(tamis_symbols *s) {
    return &s->symbol_set;
}

struct tamis_digest tamis_symbols_digest(const tamis_symbols *s) {
    return s->symbol_set.sum;
}

void tamis_symbols_free(tamis_symbols *s) {
    if (!s) return;
    const struct tamis_allocator allocator = s->symbol_set.allocator;
    tamis_block self = s->self;
    tamis__block_free(&allocator, &s->ready_block);
    tamis__symbol_set_free(&s->symbol_set);
    tamis__block_free(&allocator, &self);
}

/* Measured (docs/reconcile.md): on average 1.35 for each, and often twice as many when they are
 * few, because two hashes with the same path at first can be decoded only where their paths
 * part. */
uint64_t tamis_symbols_enough(uint64_t differences) {
    const double d =
        (double)(differences < TAMIS_ROSTER_MAX_SYMBOLS ? differences : TAMIS_ROSTER_MAX_SYMBOLS);
    const double root = sqrt(d), few = 13.6 * root, many = 64 + 3 * root;
    return (uint64_t)(1.37 * d + (few < many ? few : many)) + 1;
}
