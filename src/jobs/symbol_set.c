/* SPDX-License-Identifier: MIT */
/* A set of hashes, each with its path through the symbols of a stream. */
#include "jobs/symbol_set.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "bits/bits.h"
#include "hash/sip13.h"

/* ---- The path of a hash ---------------------------------------------------------------------- */

/* Symbol i covers a hash with probability 1 / (1 + i/2), independently of the rest. From symbol i
 * on, the probability that all symbols up to k are missed is then (i+1)(i+2) / ((k+1)(k+2)), about
 * the square of (i + 1.5) / (k + 1.5): setting it equal to a uniform u in (0, 1) gives the next
 * index.
 *
 * Both sides must compute the same index on every processor. So u has 52 bits and a half, which a
 * double holds exactly, and what follows is one root, one division, one subtraction and one
 * product, each of which IEEE 754 rounds in one way only; the build keeps compilers from fusing
 * them. */
void tamis__symbol_set_step(tamis_coded *c) {
    c->state *= UINT64_C(0xda942042e4dd58b5);
    const double u = ((double)(c->state >> 12) + 0.5) * 0x1p-52;
    const double far = ((double)c->next + 1.5) * (1 / sqrt(u) - 1);
    /* Nothing is lost past the last symbol, and the sum stays an integer that fits. */
    if (far >= (double)TAMIS_STREAM_MAX_SYMBOLS ||
        c->next + (uint64_t)far + 1 >= TAMIS_STREAM_MAX_SYMBOLS)
        c->next = TAMIS_NEVER;
    else
        c->next += (uint64_t)far + 1;
}

uint64_t tamis__symbol_set_check(const tamis_symbol_set *r, uint64_t hash) {
    return tamis__hash_u64(&r->check, hash) & ((UINT64_C(1) << TAMIS_CHECK_BITS) - 1);
}

/* Odd, because multiplication maps an odd state to all odd numbers in turn, and zero to itself. */
static void set_out(const tamis_symbol_set *r, tamis_coded *c) {
    c->state = tamis__hash_u64(&r->way, c->hash) | 1;
    c->next = 0;
}

static void count_in(tamis_symbol_set *r, uint64_t hash, bool is_in) {
    for (int i = 0; i < 2; i++) {
        const uint64_t part = tamis__hash_u64(&r->digest[i], hash);
        r->sum.sum[i] += is_in ? part : 0 - part;
    }
    r->sum.n += is_in ? 1 : 0 - (uint64_t)1;
}

/* Each use has its own key: SipHash of its number under the given key; NULL: under zeros. */
static tamis_hasher keyed(const uint8_t *key, uint8_t use) {
    static const uint8_t no_key[TAMIS_STREAM_KEY_BYTES];
    tamis_hasher h = {.mode = TAMIS_HASH_SIP13, .key_place = TAMIS_KEY_OUTSIDE};
    for (uint8_t half = 0; half < 2; half++) {
        const uint8_t what[2] = {use, half};
        tamis__put64(h.secret + (size_t)8 * half,
                     tamis__sip24(key ? key : no_key, what, sizeof what));
    }
    return h;
}

static void enter(tamis_symbol_set *r, tamis_coded *c) {
    c->check = tamis__symbol_set_check(r, c->hash);
    set_out(r, c);
    count_in(r, c->hash, true);
}

void tamis__symbol_set_key(tamis_symbol_set *r, const uint8_t key[16]) {
    r->check = keyed(key, 1);
    r->way = keyed(key, 2);
    r->digest[0] = keyed(key, 3);
    r->digest[1] = keyed(key, 4);
    r->sum = (struct tamis_digest){0, {0, 0}};
    for (uint64_t i = 0; i < r->n; i++) enter(r, &r->list[i]);
}

/* ---- Look-up --------------------------------------------------------------------------------- */

/* Open addressing at most half full, by a keyed hash: chosen hashes cannot fill one corner. */
static uint64_t slot_of(const tamis_symbol_set *r, uint64_t hash) {
    uint64_t slot = tamis__hash_u64(&r->place, hash) & (r->slots - 1);
    while (r->table[slot] && r->list[r->table[slot] - 1].hash != hash)
        slot = (slot + 1) & (r->slots - 1);
    return slot;
}

bool tamis__symbol_set_find(const tamis_symbol_set *r, uint64_t hash, uint32_t *at) {
    const uint32_t found = r->table[slot_of(r, hash)];
    if (found) *at = found - 1;
    return found != 0;
}

static tamis_status widen_table(tamis_symbol_set *r, uint64_t n) {
    uint64_t slots = 64;
    while (slots < 2 * n) slots *= 2;
    if (slots <= r->slots) return TAMIS_OK;
    uint32_t *table = tamis__regrow(&r->allocator, &r->table_block, 0, slots * sizeof *table);
    if (!table) return TAMIS_NOMEM;
    r->table = table, r->slots = slots;
    for (uint64_t i = 0; i < r->n; i++) r->table[slot_of(r, r->list[i].hash)] = (uint32_t)i + 1;
    return TAMIS_OK;
}

static tamis_status widen_list(tamis_symbol_set *r, uint64_t room) {
    if (room <= r->room) return TAMIS_OK;
    tamis_coded *list =
        tamis__regrow(&r->allocator, &r->list_block, r->n * sizeof *list, room * sizeof *list);
    if (!list) return TAMIS_NOMEM;
    r->list = list, r->room = room;
    return TAMIS_OK;
}

/* ---- Creating and changing ------------------------------------------------------------------- */

static tamis_status take_all(tamis_symbol_set *r, const uint64_t *hashes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t slot = slot_of(r, hashes[i]);
        if (r->table[slot])
            return tamis__fail(TAMIS_INVALID,
                               "hash %016llx is a duplicate, at %lu and %zu: a set is needed",
                               (unsigned long long)hashes[i], (unsigned long)r->table[slot] - 1, i);
        r->list[r->n++].hash = hashes[i];
        r->table[slot] = (uint32_t)r->n;
    }
    return TAMIS_OK;
}

tamis_status tamis__symbol_set_start(tamis_symbol_set *r, const struct tamis_options *options,
                                     const uint64_t *hashes, size_t n, const uint8_t place[16]) {
    struct tamis_options o;
    memset(r, 0, sizeof *r);
    tamis_status rc = tamis__read_options(options, &o);
    if (rc) return rc;
    if (n > TAMIS_ROSTER_MAX_SYMBOLS)
        return tamis__fail(TAMIS_TOO_LARGE, "%zu hashes are more than the 2^31 of one stream", n);
    r->allocator = tamis__allocator(&o);
    r->place = keyed(place, 0);
    rc = widen_list(r, n ? n : 1);
    if (!rc) rc = widen_table(r, n);
    return rc ? rc : take_all(r, hashes, n);
}

void tamis__symbol_set_free(tamis_symbol_set *r) {
    tamis__block_free(&r->allocator, &r->list_block);
    tamis__block_free(&r->allocator, &r->table_block);
}

tamis_status tamis__symbol_set_add(tamis_symbol_set *r, uint64_t hash) {
    if (r->n >= TAMIS_ROSTER_MAX_SYMBOLS)
        return tamis__fail(TAMIS_TOO_LARGE, "more than the 2^31 hashes of one stream");
    tamis_status rc = r->n < r->room ? TAMIS_OK : widen_list(r, r->room + r->room / 4 + 64);
    if (!rc) rc = widen_table(r, r->n + 1);
    if (rc) return rc;
    r->table[slot_of(r, hash)] = (uint32_t)r->n + 1;
    r->list[r->n].hash = hash;
    enter(r, &r->list[r->n++]);
    return TAMIS_OK;
}

void tamis__symbol_set_take_out(tamis_symbol_set *r, uint32_t at) {
    count_in(r, r->list[at].hash, false);
    set_out(r, &r->list[at]);
}

/* ---- Symbols --------------------------------------------------------------------------------- */

void tamis__symbol_set_fill(tamis_symbol_set *r, struct tamis_symbol *symbols, uint64_t from,
                            uint64_t to, int by) {
    for (uint64_t i = 0; i < r->n; i++) {
        tamis_coded *c = &r->list[i];
        for (; c->next < to; tamis__symbol_set_step(c)) {
            struct tamis_symbol *s = &symbols[c->next - from];
            s->sum ^= c->hash;
            s->check ^= c->check;
            s->count += by;
        }
    }
}

/* Stretches double until they are as long as the list: from there a symbol costs as much as reading
 * a hash, and no more memory. */
uint64_t tamis__symbol_set_stretch(const tamis_symbol_set *r, uint64_t from) {
    enum { LONG = 1 << 16 };
    uint64_t length = from < TAMIS_FIRST_STRETCH ? TAMIS_FIRST_STRETCH : from;
    const uint64_t max = r->n < LONG ? LONG : r->n;
    if (length > max) length = max;
    return length > TAMIS_STREAM_MAX_SYMBOLS - from ? TAMIS_STREAM_MAX_SYMBOLS : from + length;
}
