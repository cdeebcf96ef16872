/* SPDX-License-Identifier: MIT */
/* The receiving side: subtracts its own set from the other's symbols and peels the rest.
 *
 *     their symbol i − our symbol i = what only they have in it − what only we have in it
 *
 * A symbol with one hash left reveals it: its count is ±1, and the check confirms that the sum is a
 * single hash. The hash is then subtracted from all other symbols that cover it, which leaves more
 * of them with one. Our list follows: what only they have joins it, what only we have leaves it. In
 * the end it is their set, and every symbol is empty. */
#include "base/status.h"
#include "jobs/streams.h"

struct tamis_peeler {
    tamis_symbol_set symbol_set;
    uint64_t own;               /* hashes of the list at the start */
    struct tamis_symbol *cells; /* [0, taken): what is left; [taken, to): to be subtracted */
    uint32_t *found;            /* indices in the list, in the order found */
    uint64_t taken, to, n_found, n_walked, found_room;
    uint64_t their_n; /* from symbol 0 */
    bool is_whole;
    tamis_status broken; /* a permanent error */
    tamis_block self, cells_block, found_block;
};

tamis_status tamis__peeler_of(tamis_peeler **peeler, tamis_symbol_set *symbol_set,
                              const uint8_t key[16]) {
    tamis_block self;
    tamis_peeler *p = tamis__get(&symbol_set->allocator, sizeof *p, &self);
    if (!p) return TAMIS_NOMEM;
    tamis__symbol_set_key(symbol_set, key);
    p->symbol_set = *symbol_set;
    p->own = symbol_set->n;
    p->self = self;
    *peeler = p;
    return TAMIS_OK;
}

tamis_status tamis_peeler_create(tamis_peeler **peeler, const uint64_t *hashes, size_t n,
                                 const uint8_t *key, const struct tamis_options *options) {
    tamis_symbol_set symbol_set;
    *peeler = NULL;
    tamis_status rc = tamis__symbol_set_start(&symbol_set, options, hashes, n, key);
    if (!rc) rc = tamis__peeler_of(peeler, &symbol_set, key);
    if (rc) tamis__symbol_set_free(&symbol_set);
    return rc;
}

void tamis_peeler_free(tamis_peeler *p) {
    if (!p) return;
    const struct tamis_allocator allocator = p->symbol_set.allocator;
    tamis_block self = p->self;
    tamis__block_free(&allocator, &p->cells_block);
    tamis__block_free(&allocator, &p->found_block);
    tamis__symbol_set_free(&p->symbol_set);
    tamis__block_free(&allocator, &self);
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* One stretch more, with our list already subtracted. */
static tamis_status next_stretch(tamis_peeler *p) {
    if (p->to >= TAMIS_STREAM_MAX_SYMBOLS)
        return tamis__fail(TAMIS_TOO_LARGE, "a stream has at most 2^32 symbols");
    const uint64_t from = p->to, to = tamis__symbol_set_stretch(&p->symbol_set, from);
    struct tamis_symbol *cells = tamis__regrow(&p->symbol_set.allocator, &p->cells_block,
                                               from * sizeof *cells, to * sizeof *cells);
    if (!cells) return TAMIS_NOMEM;
    p->cells = cells, p->to = to;
    tamis__symbol_set_fill(&p->symbol_set, cells + from, from, to, -1);
    return TAMIS_OK;
}

static tamis_status note_found(tamis_peeler *p, uint32_t at) {
    if (p->n_found == p->found_room) {
        const uint64_t room = 2 * p->found_room + 64;
        uint32_t *found = tamis__regrow(&p->symbol_set.allocator, &p->found_block,
                                        p->n_found * sizeof *found, room * sizeof *found);
        if (!found) return TAMIS_NOMEM;
        p->found = found, p->found_room = room;
    }
    p->found[p->n_found++] = at;
    return TAMIS_OK;
}

/* ---- Peeling --------------------------------------------------------------------------------- */

static tamis_status wrong(uint64_t symbol, const char *what) {
    return tamis__fail(TAMIS_CORRUPT, "symbol %llu of the stream %s", (unsigned long long)symbol,
                       what);
}

/* Only they have it: it joins our list. */
static tamis_status join(tamis_peeler *p, uint64_t symbol, uint64_t hash) {
    uint32_t at;
    if (tamis__symbol_set_find(&p->symbol_set, hash, &at)) {
        const bool is_waiting = at >= p->own && p->symbol_set.list[at].next == 0;
        return is_waiting ? TAMIS_OK : wrong(symbol, "adds a hash that is already present");
    }
    const tamis_status rc = tamis__symbol_set_add(&p->symbol_set, hash);
    return rc ? rc : note_found(p, (uint32_t)p->symbol_set.n - 1);
}

/* Only we have it: it leaves our list once it has been subtracted from all its symbols. */
static tamis_status leave(tamis_peeler *p, uint64_t symbol, uint64_t hash) {
    uint32_t at;
    if (!tamis__symbol_set_find(&p->symbol_set, hash, &at) || at >= p->own ||
        p->symbol_set.list[at].next == TAMIS_GONE)
        return wrong(symbol, "removes a hash that is not present");
    if (p->symbol_set.list[at].next == 0) return TAMIS_OK;
    tamis__symbol_set_take_out(&p->symbol_set, at);
    return note_found(p, at);
}

/* A sum of several hashes passes for one with probability 2^-40. A find empties its symbol for
 * good, so there are never more finds than symbols, unless the other side lies. */
static tamis_status look_at(tamis_peeler *p, uint64_t symbol) {
    const struct tamis_symbol *c = &p->cells[symbol];
    if ((c->count != 1 && c->count != -1) ||
        tamis__symbol_set_check(&p->symbol_set, c->sum) != c->check)
        return TAMIS_OK;
    if (p->n_found >= p->taken) return wrong(symbol, "lists more hashes than there are symbols");
    return c->count == 1 ? join(p, symbol, c->sum) : leave(p, symbol, c->sum);
}

/* Subtracts one find from every symbol, including those still to come. Steps a copy: the list may
 * move when another find joins it. */
static tamis_status walk(tamis_peeler *p, uint32_t at) {
    const bool is_ours = at < p->own;
    tamis_coded c = p->symbol_set.list[at];
    tamis_status rc = TAMIS_OK;
    for (; !rc && c.next < p->to; tamis__symbol_set_step(&c)) {
        struct tamis_symbol *cell = &p->cells[c.next];
        cell->sum ^= c.hash;
        cell->check ^= c.check;
        cell->count += is_ours ? 1 : -1;
        if (c.next < p->taken) rc = look_at(p, c.next);
    }
    if (is_ours) c.next = TAMIS_GONE;
    p->symbol_set.list[at] = c;
    return rc;
}

static bool is_empty(const struct tamis_symbol *c) {
    return !c->sum && !c->check && !c->count;
}

/* Every hash is in symbol 0: when that is empty, nothing is left to find. */
static tamis_status conclude(tamis_peeler *p) {
    if (!is_empty(&p->cells[0])) return TAMIS_OK;
    for (uint64_t i = 1; i < p->taken; i++)
        if (!is_empty(&p->cells[i])) return wrong(i, "covers what symbol 0 does not");
    p->is_whole = true;
    return TAMIS_OK;
}

static tamis_status check_symbol(tamis_peeler *p, const struct tamis_symbol *s) {
    if (p->taken == 0) p->their_n = (uint64_t)s->count;
    if (s->count < 0 || (uint64_t)s->count > p->their_n || p->their_n > TAMIS_ROSTER_MAX_SYMBOLS)
        return tamis__fail(TAMIS_CORRUPT,
                           "symbol %llu of the stream counts %lld hashes: 0 to %llu are possible",
                           (unsigned long long)p->taken, (long long)s->count,
                           (unsigned long long)(p->taken ? p->their_n : TAMIS_ROSTER_MAX_SYMBOLS));
    if (s->check >> TAMIS_CHECK_BITS) return wrong(p->taken, "has a check of more than 40 bits");
    return TAMIS_OK;
}

static tamis_status take_one(tamis_peeler *p, const struct tamis_symbol *s) {
    tamis_status rc = check_symbol(p, s);
    if (!rc && p->taken == p->to) rc = next_stretch(p);
    if (rc) return rc;
    struct tamis_symbol *cell = &p->cells[p->taken++];
    cell->sum ^= s->sum;
    cell->check ^= s->check;
    cell->count += s->count;
    rc = look_at(p, p->taken - 1);
    while (!rc && p->n_walked < p->n_found) rc = walk(p, p->found[p->n_walked++]);
    return rc ? rc : conclude(p);
}

tamis_status tamis_peeler_take(tamis_peeler *p, const struct tamis_symbol *list, size_t n) {
    if (p->broken) return tamis__fail(p->broken, "the stream failed earlier");
    for (size_t i = 0; i < n && !p->is_whole; i++)
        if ((p->broken = take_one(p, &list[i])) != TAMIS_OK) return p->broken;
    return TAMIS_OK;
}

/* ---- Results --------------------------------------------------------------------------------- */

bool tamis_peeler_is_whole(const tamis_peeler *p) {
    return p->is_whole;
}

struct tamis_digest tamis_peeler_digest(const tamis_peeler *p) {
    return p->symbol_set.sum;
}

/* A symbol that covers a hash with probability p counts +1 for each of theirs that is left and -1
 * for each of ours: the mean of its square is p (1 - p) for each, plus the square of p times the
 * difference of the two counts, which symbol 0 gives. The later half of the symbols estimates it
 * best, to a part of 2 / sqrt(taken). 3 % more than p^2 is subtracted, because p is known to 1 %:
 * too few is better than too many. */
double tamis__peeler_estimate(const tamis_peeler *p) {
    const double apart = p->taken ? (double)p->cells[0].count : 0;
    double squares = 0, weights = 0;
    for (uint64_t i = p->taken / 2; i < p->taken; i++) {
        const double chance = 2 / ((double)i + 2), count = (double)p->cells[i].count;
        squares += count * count - 1.03 * chance * chance * apart * apart;
        weights += chance * (1 - chance);
    }
    const double left = weights > 0 ? squares / weights : 0, min = apart < 0 ? -apart : apart;
    return (double)p->n_walked + (left > min ? left : min);
}

uint64_t tamis_peeler_symbols(const tamis_peeler *p) {
    return p->taken;
}

bool tamis_peeler_next(const tamis_peeler *p, uint64_t *cursor, uint64_t *hash, bool *is_ours) {
    if (*cursor >= p->n_walked) return false;
    const uint32_t at = p->found[(*cursor)++];
    *hash = p->symbol_set.list[at].hash;
    *is_ours = at < p->own;
    return true;
}
