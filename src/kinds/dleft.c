/* SPDX-License-Identifier: MIT */
/* dleft: fingerprints with small counters, in the least loaded of four buckets (Bonomi,
 * Mitzenmacher, Panigrahy, Singh and Varghese 2006).
 *
 * There are four subtables. A key has one bucket in each, and is stored once, in the bucket with
 * the fewest cells in use, the leftmost of equals. That keeps loads so even that buckets of 8
 * cells, planned for 6, practically never overflow. A cell is a remainder and a counter of 2 bits:
 *
 *     hash ─▶ place q, remainder r          bucket in subtable i:  (q + shift_i(r)) mod B
 *
 *     subtable 0          subtable 1          subtable 2          subtable 3
 *     | - - - - - - - - | ...                                                      B buckets each
 *     | a b - - - - - - | | c d e - - - - - | | f - - - - - - - | | g h k - - - - - |
 *                                               ▲ a new key goes here
 *
 *     cell:  | remainder, never zero | count, 1 to 3 |           payload:  used | buckets
 *
 * In each subtable the bucket and the remainder together determine q and r, because the shift
 * depends on the remainder alone: (q, r) to (bucket, r) is a permutation. So two keys share a cell
 * in any subtable exactly if they share (q, r), no key can match the cell of another in one
 * subtable but not in the others, and at most one cell ever matches a key. This makes removal safe;
 * with four independent hashes per subtable the wrong one of two cells may be cleared.
 *
 * A count of 3 means "3 or more" and never comes down again: such a cell is stuck. Use dleft to
 * count up to 3, or to remove, in less than half of the memory of counting. */
#include <stdio.h>

#include "kinds/fp_table.h"
#include "kinds/kind.h"

enum { BUCKETS, REMAINDER }; /* shape words; buckets are those of one subtable */

enum { SUBTABLES = 4, SLOTS = 8, COUNT_BITS = 2, STUCK = 3, MIN_WIDTH = 4, HEAD_WORDS = 1 };

/* Fingerprints for each bucket of a subtable, over all four: 6 of 8 cells. */
enum { LOAD = 6 * SUBTABLES };

/* ---- Shape ---------------------------------------------------------------------------------- */

static tamis_table_design design_of(uint64_t keys) {
    return (tamis_table_design){
        .kind = "dleft",
        .min_places = keys ? (keys - 1) / LOAD + 1 : 1,
        .share = 1,
        .min_width = MIN_WIDTH,
        .cells = SUBTABLES * SLOTS,
        .extra = SUBTABLES * SLOTS * COUNT_BITS,
        .head_bits = HEAD_WORDS * 64,
    };
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    return tamis__table_plan(params, design_of(params->capacity), &word[BUCKETS], &word[REMAINDER]);
}

static tamis_table table_of(const uint64_t word[], uint8_t *bytes) {
    return tamis__table(bytes, SUBTABLES * word[BUCKETS], SLOTS,
                        (unsigned)word[REMAINDER] + COUNT_BITS, false);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (!tamis__table_fits(design_of(0), word[BUCKETS], word[REMAINDER]))
        return tamis__fail(TAMIS_CORRUPT,
                           "dleft cannot have %llu buckets with remainders of %llu bits",
                           (unsigned long long)word[BUCKETS], (unsigned long long)word[REMAINDER]);
    *size = HEAD_WORDS * 8 + tamis__table_size(table_of(word, NULL));
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return SUBTABLES * SLOTS;
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis__table_rate(items, 1, word[BUCKETS], (unsigned)word[REMAINDER]);
}

/* ---- Access --------------------------------------------------------------------------------- */

/* What the table stores of a key: its bucket in subtable 0 before the shift, and a remainder. */
typedef struct print {
    uint64_t place, remainder;
} print;

typedef struct tables {
    tamis_table cells;
    uint64_t buckets; /* of one subtable */
    unsigned width;   /* of a remainder */
} tables;

static tables tables_of(const tamis_body *f) {
    return (tables){table_of(f->word, f->bytes + HEAD_WORDS * 8), f->word[BUCKETS],
                    (unsigned)f->word[REMAINDER]};
}

static print print_of(const tables *t, uint64_t hash) {
    print p;
    p.place = tamis__split(hash, t->buckets, t->width, &p.remainder);
    return p;
}

static uint64_t shift(const tables *t, unsigned subtable, uint64_t remainder) {
    return tamis__range(tamis__mix(remainder * SUBTABLES + subtable), t->buckets);
}

static uint64_t bucket_of(const tables *t, print p, unsigned subtable) {
    const uint64_t sum = p.place + shift(t, subtable, p.remainder);
    return subtable * t->buckets + (sum >= t->buckets ? sum - t->buckets : sum);
}

/* The inverse: whose cell is this? */
static print print_in(const tables *t, uint64_t bucket, uint64_t cell) {
    const uint64_t remainder = cell & tamis__field_mask(t->width), at = bucket % t->buckets;
    const uint64_t back = shift(t, (unsigned)(bucket / t->buckets), remainder);
    return (print){at >= back ? at - back : at + t->buckets - back, remainder};
}

static uint64_t count_in(const tables *t, uint64_t cell) {
    return cell >> t->width;
}

static uint64_t limit(const uint64_t word[]) {
    return word[BUCKETS] * LOAD;
}

static uint64_t room(const tamis_body *f) {
    return limit(f->word) - tamis__used_of(f);
}

/* Where p is, or where it would go: the least loaded of its buckets, the leftmost of equals. */
typedef struct spot {
    uint64_t bucket, cell; /* cell is 0 when p is absent */
    unsigned load;         /* of the bucket, when p is absent */
} spot;

static spot find(const tables *t, print p) {
    const uint64_t mask = tamis__field_mask(t->width);
    spot best = {0, 0, SLOTS + 1};
    for (unsigned i = 0; i < SUBTABLES; i++) {
        const uint64_t bucket = bucket_of(t, p, i);
        uint64_t cell[SLOTS];
        unsigned load = 0;
        tamis__cells_read(&t->cells, SLOTS, bucket, cell);
        for (unsigned j = 0; j < SLOTS; j++) {
            if ((cell[j] & mask) == p.remainder) return (spot){bucket, cell[j], 0};
            load += cell[j] != 0;
        }
        if (load < best.load) best = (spot){bucket, 0, load};
    }
    return best;
}

/* Visits all cells in use, each with its bucket; the cursor counts the cells visited. */
static uint64_t next_cell(const tables *t, uint64_t *cursor, uint64_t *bucket) {
    while (*cursor / SLOTS < t->cells.buckets) {
        const uint64_t cell = tamis__field_get(t->cells.bytes, *cursor, t->cells.width);
        *bucket = *cursor / SLOTS;
        ++*cursor;
        if (cell) return cell;
    }
    return 0;
}

/* A cell in use has a remainder and a count. Duplicate cells are not searched for: that would take
 * four buckets for every cell, and they do no more harm than an added key. */
static tamis_status audit(const tamis_body *f) {
    const tables t = tables_of(f);
    const tamis_status rc = tamis__table_audit(&t.cells);
    if (rc) return rc;
    uint64_t cursor = 0, used = 0, bucket, cell;
    while ((cell = next_cell(&t, &cursor, &bucket)) != 0) {
        used++;
        if ((cell & tamis__field_mask(t.width)) == 0 || count_in(&t, cell) == 0)
            return tamis__fail(TAMIS_CORRUPT, "bucket %llu of dleft has an incomplete cell",
                               (unsigned long long)bucket);
    }
    if (used != tamis__used_of(f) || used > limit(f->word))
        return tamis__fail(TAMIS_CORRUPT, "dleft does not have the %llu fingerprints it claims",
                           (unsigned long long)tamis__used_of(f));
    return TAMIS_OK;
}

/* ---- Querying ------------------------------------------------------------------------------- */

static void count(const tamis_body *f, tamis_batch b, uint64_t *out) {
    const tables t = tables_of(f);
    for (size_t i = 0; i < b.n; i++) out[i] = count_in(&t, find(&t, print_of(&t, b.hash[i])).cell);
}

static uint64_t reliable_count(const uint64_t word[]) {
    (void)word;
    return STUCK;
}

/* The four buckets of a key are prefetched some keys ahead. Inlined: compilers drop a function that
 * only prefetches. */
enum { AHEAD = 16 };

TAMIS_HOT void expect(const tables *t, const uint64_t *hash, size_t i, size_t n) {
    if (!tamis__table_is_far(&t->cells)) return;
    for (size_t j = i ? i + AHEAD : 0; j < n && j <= i + AHEAD; j++)
        for (unsigned k = 0; n > 1 && k < SUBTABLES; k++)
            tamis__table_prefetch(&t->cells, bucket_of(t, print_of(t, hash[j]), k));
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tables t = tables_of(f);
    for (size_t i = 0; i < b.n; i++) {
        expect(&t, b.hash, i, b.n);
        hit[i] = find(&t, print_of(&t, b.hash[i])).cell != 0;
    }
}

/* ---- Adding and removing -------------------------------------------------------------------- */

/* Adding many takes two passes. The first gives a cell to every key that has none, with the count 0
 * that no cell has otherwise; if a bucket overflows, the cells with count 0 are removed again. The
 * second counts, which cannot fail. Counting at once could not be undone: a count that became stuck
 * just now looks like one that was. */
static tamis_status reserve(tamis_body *f, const tables *t, print p) {
    const spot s = find(t, p);
    if (s.cell) return TAMIS_OK;
    if (room(f) == 0)
        return tamis__fail(TAMIS_FULL, "dleft is full: it has %llu fingerprints",
                           (unsigned long long)tamis__used_of(f));
    if (s.load == SLOTS)
        return tamis__fail(
            TAMIS_FULL, "all four buckets of a key are full, at %llu of %llu fingerprints",
            (unsigned long long)tamis__used_of(f), (unsigned long long)limit(f->word));
    tamis__table_replace(&t->cells, s.bucket, 0, p.remainder);
    tamis__count_used(f, 1);
    return TAMIS_OK;
}

static void release(tamis_body *f, const tables *t, print p) {
    const spot s = find(t, p);
    if (s.cell == 0 || count_in(t, s.cell)) return;
    tamis__table_replace(&t->cells, s.bucket, s.cell, 0);
    tamis__count_used(f, (uint64_t)-1);
}

static void count_up(const tables *t, print p, uint64_t by) {
    const spot s = find(t, p);
    const uint64_t now = count_in(t, s.cell) + by, counted = now < STUCK ? now : STUCK;
    tamis__table_replace(&t->cells, s.bucket, s.cell, p.remainder | counted << t->width);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const tables t = tables_of(f);
    for (size_t i = 0; i < b.n; i++) {
        expect(&t, b.hash, i, b.n);
        const tamis_status rc = reserve(f, &t, print_of(&t, b.hash[i]));
        if (rc == TAMIS_OK) continue;
        while (i-- > 0) release(f, &t, print_of(&t, b.hash[i]));
        return rc;
    }
    for (size_t i = 0; i < b.n; i++) {
        expect(&t, b.hash, i, b.n);
        count_up(&t, print_of(&t, b.hash[i]), 1);
    }
    return TAMIS_OK;
}

static tamis_status remove_hash(tamis_body *f, tamis_batch b) {
    const tables t = tables_of(f);
    const spot s = find(&t, print_of(&t, *b.hash));
    const uint64_t now = count_in(&t, s.cell);
    if (s.cell == 0) return tamis__fail(TAMIS_NOT_FOUND, "dleft has no such fingerprint");
    if (now == STUCK) return TAMIS_OK;
    tamis__table_replace(&t.cells, s.bucket, s.cell,
                         now > 1 ? s.cell - ((uint64_t)1 << t.width) : 0);
    if (now == 1) tamis__count_used(f, (uint64_t)-1);
    return TAMIS_OK;
}

/* ---- Listing, merging, measuring ------------------------------------------------------------ */

static bool next(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *times) {
    const tables t = tables_of(f);
    uint64_t bucket;
    const uint64_t cell = next_cell(&t, cursor, &bucket);
    if (cell == 0) return false;
    const print p = print_in(&t, bucket, cell);
    *hash = tamis__join(p.place, t.buckets, t.width, p.remainder);
    *times = count_in(&t, cell);
    return true;
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const tables t = tables_of(into), other = tables_of(from);
    tamis_status rc = TAMIS_OK;
    uint64_t cursor = 0, bucket, cell;
    while (!rc && (cell = next_cell(&other, &cursor, &bucket)) != 0)
        rc = reserve(into, &t, print_in(&other, bucket, cell));
    cursor = 0;
    while ((cell = next_cell(&other, &cursor, &bucket)) != 0) {
        const print p = print_in(&other, bucket, cell);
        if (rc)
            release(into, &t, p);
        else
            count_up(&t, p, count_in(&other, cell));
    }
    return rc;
}

static uint64_t stuck_cells(const tables *t) {
    uint64_t stuck = 0, cursor = 0, bucket, cell;
    while ((cell = next_cell(t, &cursor, &bucket)) != 0) stuck += count_in(t, cell) == STUCK;
    return stuck;
}

/* Cells of `other` that are not in f. */
static uint64_t new_cells(const tables *t, const tables *other) {
    uint64_t fresh = 0, cursor = 0, bucket, cell;
    while ((cell = next_cell(other, &cursor, &bucket)) != 0)
        fresh += find(t, print_in(other, bucket, cell)).cell == 0;
    return fresh;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const tables t = tables_of(f);
    uint64_t distinct = tamis__used_of(f);
    if (other) {
        const tables more = tables_of(other);
        distinct += new_cells(&t, &more);
    }
    const double classes = (double)t.buckets * (double)tamis__field_mask(t.width);
    out->bits = t.cells.buckets * SLOTS;
    out->bits_set = distinct;
    out->fpr = (double)distinct / classes;
    out->items = tamis__table_items(distinct, classes);
    out->affected = stuck_cells(&t);
    if (out->affected)
        snprintf(out->caveat, sizeof out->caveat,
                 "%llu cells are stuck at %d: their keys can no longer be removed",
                 (unsigned long long)out->affected, STUCK);
}

const tamis_kind tamis__dleft = {
    .name = "dleft",
    .contract = "removal and counts up to 3, in less than half the memory of counting",
    .word = {"buckets", "remainder"},
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .remove = remove_hash,
    .next = next,
    .room = room,
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},
    .sets = &(const tamis_sets){.merge = merge},
};
