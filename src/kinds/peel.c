/* Peeling: from the hashes of a shard to cells whose xors are its rows.
 *
 *     count    every cell learns how many keys it has, and the xor of their numbers
 *     peel     a cell with one key names it; the key is taken out of its other cells, which may
 *              leave one key there, and so on, until no key is left or none can be taken
 *     assign   in the reverse order each key finds its cell still free, and all others final
 *
 * Integers alone decide the sizes, so that every machine comes to the same bytes. */
#include "kinds/peel.h"

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Keys are numbers of 30 bits here. Shards are planned for 2^24 keys at most; only hashes that are
 * not well mixed can bring one this far. */
#define MOST_KEYS (((uint64_t)1 << 30) - 1)

/* Tries come in rounds: every new round has a fiftieth more cells than the first. */
enum { ROUNDS = 8, TRIES_OF_ROUND = 8, TRIES = ROUNDS * TRIES_OF_ROUND, ROUND_GAIN = 50 };

/* Segments that are looked through before what they name is taken out. */
enum { SEGMENTS_AT_ONCE = 4 };

enum { LEAST_LOG = 2, MOST_LOG = 15, FACTORS = 23, FACTOR_ONE = 4096 };

/* From how many keys on segments have 2^3, 2^4, ... cells, for arity 3 and 4. Longer segments leave
 * fewer graphs that cannot be peeled, shorter ones stay in the cache. These are the powers of 3.33
 * and 2.91 that Graf and Lemire found; but from a million keys on one step later, and with arity 4
 * below 3015 keys one step earlier, where one try in six failed. */
static const uint32_t longer_from[2][MOST_LOG - LEAST_LOG] = {
    {3, 9, 28, 92, 304, 1010, 3362, 11193, 37273, 124118, 413310, 4583150, 15261887},
    {15, 43, 123, 356, 1036, 3015, 25527, 74281, 216158, 629017, 5326579, 15500344, 45106001},
};

/* Cells per key, in 4096ths, for 2^0, 2^1, ... keys; in between on a straight line. Up to 2^20 keys
 * these too are theirs, 0.875 + 0.25 ln(10^6) / ln(n) and 0.77 + 0.305 ln(600000) / ln(n); from
 * 2^22 keys on 1.12 and 1.065 did as well: no try of twenty failed. */
static const uint32_t factor[2][FACTORS] = {
    {23994, 23994, 13789, 10388, 8687, 7666, 6986, 6500, 6136, 5852, 5625, 5440,
     5285,  5154,  5042,  4945,  4860, 4785, 4718, 4659, 4608, 4608, 4588},
    {27134, 27134, 15144, 11148, 9149, 7950, 7151, 6580, 6152, 5819, 5552, 5334,
     5153,  4999,  4867,  4753,  4653, 4565, 4487, 4416, 4404, 4380, 4363},
};

static uint64_t cells_wanted(uint64_t n, unsigned arity, uint64_t round) {
    const unsigned k = tamis__log2_floor(n);
    const uint32_t *f = factor[arity - 3];
    uint64_t per_key = f[FACTORS - 1];
    if (k < FACTORS - 1) per_key = f[k] - ((f[k] - f[k + 1]) * (n - ((uint64_t)1 << k)) >> k);
    const uint64_t cells = n * per_key / FACTOR_ONE + 1;
    return cells + cells * round / ROUND_GAIN;
}

static tamis_peel_graph graph_for(uint64_t n, unsigned arity, uint64_t seed) {
    if (n == 0) return (tamis_peel_graph){0, 0, 0};
    unsigned log = LEAST_LOG;
    while (log < MOST_LOG && n >= longer_from[arity - 3][log - LEAST_LOG]) log++;
    const uint64_t wanted = cells_wanted(n, arity, seed / TRIES_OF_ROUND);
    const uint64_t segments = ((wanted - 1) >> log) + 1;
    return (tamis_peel_graph){seed * TAMIS_PEEL_TURN, segments < arity ? 1 : segments - arity + 1,
                              log};
}

static uint64_t size_of(const tamis_peel_form *form, const tamis_peel_graph *g) {
    const uint64_t cells = tamis__peel_cells(g, form->arity);
    return TAMIS_PEEL_HEADER + tamis__fields_size(cells, tamis__peel_row(form)) +
           (form->has_slots ? tamis__fields_size(cells, form->value_bits) : 0);
}

uint64_t tamis__peel_expect(const tamis_peel_form *form, uint64_t keys) {
    const uint64_t each = keys / form->shards + (keys % form->shards != 0);
    const tamis_peel_graph g = graph_for(each, form->arity, 0);
    return form->shards * size_of(form, &g);
}

uint64_t tamis__peel_most(const tamis_peel_form *form, uint64_t n) {
    if (n > MOST_KEYS) n = 0; /* is refused before anything is made */
    const tamis_peel_graph g = graph_for(n, form->arity, TRIES - 1);
    return size_of(form, &g);
}

/* A word and a number of 32 bits for each cell, and one more that is written but not counted. */
uint64_t tamis__peel_work(const tamis_peel_form *form, uint64_t n) {
    if (n > MOST_KEYS) n = 0;
    const tamis_peel_graph g = graph_for(n, form->arity, TRIES - 1);
    const uint64_t cells = tamis__peel_cells(&g, form->arity);
    return cells * sizeof(uint64_t) + (cells + 1) * sizeof(uint32_t);
}

unsigned tamis__peel_guard_for(double fpr) {
    const double rounding = 1 + 1.0 / 4096;
    unsigned bits = 1;
    for (double rate = 0.5; rate > fpr * rounding; rate /= 2) bits++;
    return bits;
}

/* ---- Peeling -------------------------------------------------------------------------------- */

/* A cell while peeling: how many keys it has, the xor of their numbers, and the xor of which of
 * the key's cells this is. One key left: these are its own. */
enum { KEY_SHIFT = 2, COUNT_SHIFT = 34 };
#define ONE_KEY  ((uint64_t)1 << COUNT_SHIFT)
#define KEY_MASK 0xffffffff

/* What is being made. */
typedef struct bench {
    const tamis_peel_form *form;
    const tamis_peel_task *task;
    tamis_peel_graph graph;
    uint64_t cells;
    uint64_t *cell;
    uint32_t *order; /* cells that name a key, as they were found; then, of those, the peeled */
} bench;

static inline uint64_t place(const bench *b, uint64_t key, unsigned arity, uint64_t cell[]) {
    uint64_t rest;
    tamis__multiply(b->task->hash[key], b->form->shards, &rest);
    return tamis__peel_place(&b->graph, rest, arity, cell);
}

TAMIS_HOT void count_keys(const bench *b, unsigned arity) {
    uint64_t at[TAMIS_PEEL_MOST_ARITY];
    memset(b->cell, 0, (size_t)(b->cells * sizeof *b->cell));
    for (uint64_t i = 0; i < b->task->n; i++) {
        place(b, i, arity, at);
        for (unsigned j = 0; j < arity; j++)
            b->cell[at[j]] = (b->cell[at[j]] + ONE_KEY) ^ (i << KEY_SHIFT | j);
    }
}

/* Takes out the keys that are named from order[peeled] to order[found], and those that this lays
 * bare; returns how many are peeled then. What was peeled fills the part of the queue that was
 * read. Whether a cell joins the queue is a matter of chance, so it is written there in any case
 * and counted if it belongs: a branch would be mispredicted every other time. */
TAMIS_HOT uint64_t drain(const bench *b, unsigned arity, uint64_t peeled, uint64_t found) {
    uint64_t at[TAMIS_PEEL_MOST_ARITY];
    for (uint64_t next = peeled; next < found; next++) {
        const uint64_t c = b->order[next], cell = b->cell[c], key = cell >> KEY_SHIFT & KEY_MASK;
        if (cell >> COUNT_SHIFT != 1) continue; /* the key went by another cell */
        b->order[peeled++] = (uint32_t)c;
        place(b, key, arity, at);
        for (unsigned j = 0; j < arity; j++) {
            const uint64_t left = (b->cell[at[j]] - ONE_KEY) ^ (key << KEY_SHIFT | j);
            b->cell[at[j]] = left;
            b->order[found] = (uint32_t)at[j];
            found += left >> COUNT_SHIFT == 1;
        }
        b->cell[c] = cell - ONE_KEY; /* has no key to give any more, but still names the last */
    }
    return peeled;
}

/* From the front to the back, a few segments at a time, and everything that they lay bare at once:
 * so what is behind the front is peeled while it is in the cache, and the queue is long enough for
 * the processor to work on several keys at a time. For 3.3 million keys this took two thirds of the
 * time of rounds over the whole array, and of going on from each cell at once. */
TAMIS_HOT bool peel_keys(const bench *b, unsigned arity) {
    const uint64_t stretch = (uint64_t)SEGMENTS_AT_ONCE << b->graph.log;
    uint64_t peeled = 0;
    for (uint64_t start = 0; start < b->cells; start += stretch) {
        const uint64_t end = b->cells - start < stretch ? b->cells : start + stretch;
        uint64_t found = peeled;
        for (uint64_t c = start; c < end; c++) {
            b->order[found] = (uint32_t)c;
            found += b->cell[c] >> COUNT_SHIFT == 1;
        }
        peeled = drain(b, arity, peeled, found);
    }
    return peeled == b->task->n;
}

static bool peel(const bench *b) {
    if (b->form->arity == 3) {
        count_keys(b, 3);
        return peel_keys(b, 3);
    }
    count_keys(b, 4);
    return peel_keys(b, 4);
}

/* ---- Assigning ------------------------------------------------------------------------------ */

/* What cells know goes to the order, as number and own cell of each key, and their words are free
 * for rows. */
static void name_keys(const bench *b) {
    for (uint64_t i = 0; i < b->task->n; i++) b->order[i] = (uint32_t)b->cell[b->order[i]];
    memset(b->cell, 0, (size_t)(b->cells * sizeof *b->cell));
}

/* A row, or of one that is wider than a word the part that starts at bit `from`. */
TAMIS_HOT uint64_t wanted(const bench *b, uint64_t key, uint64_t own, uint64_t mixed,
                          unsigned from) {
    const tamis_peel_form *form = b->form;
    const unsigned values = tamis__peel_row_values(form);
    const uint64_t guard = tamis__peel_guard(mixed, form->guard_bits);
    if (from) return guard;
    const uint64_t value = form->has_slots ? own : values ? b->task->value[key] : 0;
    return tamis__peel_row(form) <= 64 && form->guard_bits ? value | guard << values : value;
}

/* In the reverse order of peeling: no key that is still to come needs a cell that is read here. */
TAMIS_HOT void assign(const bench *b, unsigned arity, unsigned from) {
    uint64_t at[TAMIS_PEEL_MOST_ARITY];
    for (uint64_t i = b->task->n; i-- > 0;) {
        const uint64_t key = b->order[i] >> KEY_SHIFT, own = b->order[i] & ((1 << KEY_SHIFT) - 1);
        const uint64_t mixed = place(b, key, arity, at);
        uint64_t row = wanted(b, key, own, mixed, from);
        for (unsigned j = 0; j < arity; j++) row ^= b->cell[at[j]]; /* its own is still 0 */
        b->cell[at[own]] = row;
    }
}

static void write_part(const bench *b, unsigned from, unsigned width, uint8_t *cells) {
    const unsigned row = tamis__peel_row(b->form);
    if (b->form->arity == 3)
        assign(b, 3, from);
    else
        assign(b, 4, from);
    for (uint64_t c = 0; c < b->cells; c++)
        tamis__bits_put(cells, c * row + from, width, b->cell[c]);
}

static void write_cells(const bench *b, uint8_t *cells) {
    const tamis_peel_form *form = b->form;
    const unsigned row = tamis__peel_row(form), values = tamis__peel_row_values(form);
    name_keys(b);
    write_part(b, 0, row <= 64 ? row : values, cells);
    if (row <= 64) return;
    memset(b->cell, 0, (size_t)(b->cells * sizeof *b->cell));
    write_part(b, values, form->guard_bits, cells);
}

static void write_slots(const bench *b, uint8_t *slots) {
    const unsigned width = b->form->value_bits;
    uint64_t at[TAMIS_PEEL_MOST_ARITY];
    for (uint64_t i = 0; i < b->task->n; i++) {
        const uint64_t key = b->order[i] >> KEY_SHIFT, own = b->order[i] & ((1 << KEY_SHIFT) - 1);
        place(b, key, b->form->arity, at);
        tamis__field_put(slots, at[own], width, b->task->value[key]);
    }
}

static void write_shard(const bench *b, uint64_t seed, uint8_t *out, uint64_t size) {
    uint8_t *cells = out + TAMIS_PEEL_HEADER;
    memset(out, 0, (size_t)size);
    tamis__put64(out, b->task->n);
    tamis__put64(out + 8, seed);
    tamis__put64(out + 16, b->graph.segments << 8 | b->graph.log);
    if (b->task->n) write_cells(b, cells);
    if (b->form->has_slots)
        write_slots(b, cells + tamis__fields_size(b->cells, tamis__peel_row(b->form)));
}

tamis_status tamis__peel_make(const tamis_peel_form *form, const tamis_peel_task *t, uint8_t *work,
                              uint8_t *out, uint64_t *size) {
    bench b = {.form = form, .task = t, .cell = (uint64_t *)(void *)work};
    for (uint64_t seed = 0; seed < TRIES && t->n <= MOST_KEYS; seed++) {
        b.graph = graph_for(t->n, form->arity, seed);
        b.cells = tamis__peel_cells(&b.graph, form->arity);
        b.order = (uint32_t *)(void *)(work + b.cells * sizeof *b.cell);
        if (!peel(&b)) continue;
        *size = size_of(form, &b.graph);
        write_shard(&b, seed, out, *size);
        return TAMIS_OK;
    }
    return tamis__fail(TAMIS_INVALID,
                       "a shard of %zu keys cannot be made: are the hashes well mixed?", t->n);
}

/* ---- The gate ------------------------------------------------------------------------------- */

tamis_status tamis__peel_audit(const tamis_peel_form *form, const uint8_t *bytes, uint64_t size) {
    if (size < TAMIS_PEEL_HEADER)
        return tamis__fail(TAMIS_CORRUPT, "damaged: a shard of %llu bytes",
                           (unsigned long long)size);
    const uint64_t n = tamis__peel_keys(bytes), seed = tamis__get64(bytes + 8);
    if (n > MOST_KEYS || seed >= (n ? TRIES : 1))
        return tamis__fail(TAMIS_CORRUPT, "damaged: a shard of %llu keys by try %llu",
                           (unsigned long long)n, (unsigned long long)seed);
    const tamis_peel_graph g = graph_for(n, form->arity, seed);
    if (tamis__get64(bytes + 16) != (g.segments << 8 | g.log) || size != size_of(form, &g))
        return tamis__fail(TAMIS_CORRUPT, "damaged: a shard of %llu keys in %llu bytes",
                           (unsigned long long)n, (unsigned long long)size);
    const uint8_t *cells = bytes + TAMIS_PEEL_HEADER;
    const uint64_t count = tamis__peel_cells(&g, form->arity);
    const unsigned row = tamis__peel_row(form);
    const uint8_t *slots = cells + tamis__fields_size(count, row);
    if (!tamis__fields_end_clean(cells, count, row) ||
        (form->has_slots && !tamis__fields_end_clean(slots, count, form->value_bits)))
        return tamis__fail(TAMIS_CORRUPT, "damaged: bits after the last cell of a shard");
    return TAMIS_OK;
}
