/* SPDX-License-Identifier: MIT */
/* Peeling: from the hashes of a segment to cells whose xors are its rows.
 *
 *     count    every cell learns how many keys it has, and the xor of their mixed hashes
 *     peel     a cell with one key names it; the key is taken out of its other cells, which may
 *              leave one key there, and so on, until no key is left or none can be taken
 *     assign   in the reverse order each key finds its cell still free, and all others final
 *
 * Keys come in the order of their strips. So they are counted just before the peeling front reaches
 * them, and from then on everything stays in the second-level cache.
 *
 * Sizes use only integers, so that every machine makes the same bytes. */
#include "kinds/peel.h"

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Keys are numbered with 30 bits here. Segments are planned for at most 2^24 keys; only hashes that
 * are not well mixed can make one this large. */
#define MAX_KEYS (((uint64_t)1 << 30) - 1)

/* Tries come in rounds: every new round has a fiftieth more cells than the first. */
enum { ROUNDS = 8, TRIES_OF_ROUND = 8, TRIES = ROUNDS * TRIES_OF_ROUND, ROUND_GAIN = 50 };

/* Segments that are scanned before the keys found there are taken out. */
enum { SEGMENTS_AT_ONCE = 4 };

enum { MIN_LOG = 2, MAX_LOG = 15, FACTORS = 23, FACTOR_ONE = 4096 };

/* The numbers of keys from which strips have 2^3, 2^4, ... cells, for arity 3 and 4. Longer strips
 * leave fewer graphs that cannot be peeled, shorter ones stay in the cache. These are the powers of
 * 3.33 and 2.91 that Graf and Lemire found; but from a million keys on one step later, and with
 * arity 4 below 3015 keys one step earlier, where one try in six failed. */
static const uint32_t longer_from[2][MAX_LOG - MIN_LOG] = {
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
    unsigned log = MIN_LOG;
    while (log < MAX_LOG && n >= longer_from[arity - 3][log - MIN_LOG]) log++;
    const uint64_t wanted = cells_wanted(n, arity, seed / TRIES_OF_ROUND);
    const uint64_t strips = ((wanted - 1) >> log) + 1;
    return (tamis_peel_graph){seed * TAMIS_PEEL_TURN, strips < arity ? 1 : strips - arity + 1, log};
}

static uint64_t size_of(const tamis_peel_form *form, const tamis_peel_graph *g) {
    const uint64_t cells = tamis__peel_cells(g, form->arity);
    return TAMIS_PEEL_HEADER + tamis__fields_size(cells, tamis__peel_row(form)) +
           (form->has_slots ? tamis__fields_size(cells, form->value_bits) : 0);
}

uint64_t tamis__peel_expect(tamis_peel_form form, uint64_t keys) {
    const uint64_t each = keys / form.segments + (keys % form.segments != 0);
    const tamis_peel_graph g = graph_for(each, form.arity, 0);
    return form.segments * size_of(&form, &g);
}

uint64_t tamis__peel_max_bytes(tamis_peel_form form, uint64_t n) {
    if (n > MAX_KEYS) n = 0; /* refused before anything is made */
    const tamis_peel_graph g = graph_for(n, form.arity, TRIES - 1);
    return size_of(&form, &g);
}

/* For each cell a word and a byte, a place in the order, plus one that is written but not counted,
 * and with values a number. */
uint64_t tamis__peel_work(tamis_peel_form form, uint64_t n) {
    if (n > MAX_KEYS) n = 0;
    const tamis_peel_graph g = graph_for(n, form.arity, TRIES - 1);
    const uint64_t cells = tamis__peel_cells(&g, form.arity);
    const uint64_t numbers = form.value_bits ? 2 * cells : cells;
    return cells * (sizeof(uint64_t) + 1) + (numbers + 1) * sizeof(uint32_t);
}

unsigned tamis__peel_guard_for(double fpr) {
    const double rounding = 1 + 1.0 / 4096;
    unsigned bits = 1;
    for (double rate = 0.5; rate > fpr * rounding; rate /= 2) bits++;
    return bits;
}

/* ---- Counting ------------------------------------------------------------------------------- */

/* A cell while peeling: the xor of its keys' mixed hashes, and in a byte their number and the xor
 * of which of the key's cells this is. With one key left these are its own, and give its other
 * cells and its guard, so that nothing else need be read. Where keys have values there is the xor
 * of their numbers too. */
typedef struct table {
    uint64_t *word;
    uint8_t *count;
    uint32_t *number; /* NULL without values */
    uint64_t step;    /* cells of a strip */
} table;

enum { ONE_KEY = 4, OWN_MASK = ONE_KEY - 1 };

/* A cell has at most four keys on average, and 32 in one of 10^18 cells. Where hashes are not mixed
 * there may be more than its byte can count: then the try fails. */
enum { CROWD = 32 * ONE_KEY };

/* Keys counted before testing again whether they are enough. */
enum { KEYS_AT_ONCE = 64 };

/* Keys or cells, some milliseconds of work, between two looks at whether to stop. */
enum { PART = 1 << 16 };

/* The state of a build. */
typedef struct bench {
    const tamis_peel_form *form;
    const tamis_peel_task *task;
    tamis_peel_graph graph;
    const uint64_t *hash; /* of the task */
    uint64_t segments;    /* of the form */
    uint64_t cells;
    table table;
    uint32_t *order;       /* cells that name a key, in order; then the peeled ones */
    uint64_t first;        /* the key that starts first */
    uint64_t counted;      /* keys, from that one on */
    uint64_t clear, ready; /* cells zeroed; those with all their keys */
    bool is_crowded, is_stopped;
} bench;

static inline uint64_t turned(const bench *b, uint64_t key) {
    return b->hash[key] * b->segments + b->graph.turn;
}

/* The first cell of the strip in which a key starts. */
static inline uint64_t start_of(const bench *b, uint64_t x) {
    return tamis__range(x, b->graph.strips) << b->graph.log;
}

/* Starts of keys never fall, except for one jump where adding the turn exceeds 64 bits. */
static uint64_t key_that_starts_first(const bench *b) {
    uint64_t low = 0, high = b->task->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (turned(b, middle) < b->graph.turn)
            high = middle;
        else
            low = middle + 1;
    }
    return low < b->task->n ? low : 0;
}

static void clear_until(bench *b, uint64_t cell) {
    if (cell <= b->clear) return;
    memset(b->table.word + b->clear, 0, (size_t)((cell - b->clear) * sizeof *b->table.word));
    memset(b->table.count + b->clear, 0, (size_t)(cell - b->clear));
    if (b->table.number)
        memset(b->table.number + b->clear, 0, (size_t)((cell - b->clear) * sizeof(uint32_t)));
    b->clear = cell;
}

TAMIS_HOT unsigned put_in(table t, bool has_values, uint64_t cell, unsigned j, uint64_t mixed,
                          uint64_t key) {
    const unsigned count = (t.count[cell] + ONE_KEY) ^ j;
    t.count[cell] = (uint8_t)count;
    t.word[cell] ^= mixed;
    if (has_values) t.number[cell] ^= (uint32_t)key;
    return count;
}

TAMIS_HOT void count_some(bench *b, unsigned arity, bool has_values, uint64_t key, uint64_t end) {
    const bench fixed = *b; /* a store of bytes might change *b, but not this copy */
    const table t = fixed.table;
    uint64_t at[TAMIS_PEEL_MAX_ARITY];
    unsigned any = 0;
    for (; key < end; key++) {
        const uint64_t x = turned(&fixed, key), mixed = tamis__mix(x);
        tamis__peel_spread(mixed, start_of(&fixed, x), t.step, arity, at);
        any |= put_in(t, has_values, at[0], 0, mixed, key);
        any |= put_in(t, has_values, at[1], 1, mixed, key);
        any |= put_in(t, has_values, at[2], 2, mixed, key);
        if (arity == 4) any |= put_in(t, has_values, at[3], 3, mixed, key);
    }
    if (any >= CROWD) b->is_crowded = true;
}

/* Counts until the first `cells` cells have all their keys. */
TAMIS_HOT void count_until(bench *b, unsigned arity, bool has_values, uint64_t cells) {
    const uint64_t n = b->task->n;
    while (b->counted < n && !b->is_crowded) {
        const uint64_t here = b->first + b->counted, key = here < n ? here : here - n;
        b->ready = start_of(b, turned(b, key));
        if (b->ready >= cells) return;
        const uint64_t last = key < b->first ? b->first : n;
        const uint64_t end = last - key < KEYS_AT_ONCE ? last : key + KEYS_AT_ONCE;
        clear_until(b, start_of(b, turned(b, end - 1)) + arity * b->table.step);
        count_some(b, arity, has_values, key, end);
        b->counted += end - key;
    }
    clear_until(b, b->cells);
    b->ready = b->cells;
}

/* ---- Peeling -------------------------------------------------------------------------------- */

/* Takes the key of cell c out of the i-th of its other cells, where it may leave one key: that cell
 * then joins the queue. This is unpredictable, so it is always written there and counted only if it
 * belongs: a branch would be mispredicted every other time. */
TAMIS_HOT uint64_t take_out(table t, bool has_values, uint64_t c, unsigned own, const uint64_t at[],
                            unsigned i, uint32_t *order, uint64_t found) {
    const uint64_t cell = i < own ? at[i] : at[i + 1];
    const unsigned count = (t.count[cell] - ONE_KEY) ^ (i + (i >= own));
    t.count[cell] = (uint8_t)count;
    t.word[cell] ^= t.word[c];
    if (has_values) t.number[cell] ^= t.number[c];
    order[found] = (uint32_t)cell;
    return found + (count - ONE_KEY < ONE_KEY);
}

/* Takes out the keys that are named from order[peeled] to order[found], and those that this
 * exposes; returns how many are peeled then. Peeled cells fill the part of the queue that was
 * read. */
TAMIS_HOT uint64_t drain(bench *b, unsigned arity, bool has_values, uint64_t peeled,
                         uint64_t found) {
    enum { AHEAD = 8 };
    const table t = b->table;
    uint32_t *order = b->order;
    uint64_t at[TAMIS_PEEL_MAX_ARITY];
    for (uint64_t next = peeled; next < found; next++) {
        if (found - next > AHEAD) __builtin_prefetch(&t.word[order[next + AHEAD]]);
        const uint64_t c = order[next];
        const unsigned own = t.count[c] & OWN_MASK;
        if (t.count[c] - own != ONE_KEY) continue; /* the key went by another cell */
        const uint64_t start = (c & ~(t.step - 1)) - own * t.step, end = start + arity * t.step;
        if (end > b->ready) count_until(b, arity, has_values, end);
        if (b->is_crowded) return peeled;
        order[peeled++] = (uint32_t)c;
        t.count[c] = (uint8_t)own; /* has no key left, but still names the last */
        tamis__peel_spread(t.word[c], start, t.step, arity, at);
        found = take_out(t, has_values, c, own, at, 0, order, found);
        found = take_out(t, has_values, c, own, at, 1, order, found);
        if (arity == 4) found = take_out(t, has_values, c, own, at, 2, order, found);
    }
    return peeled;
}

/* From the front to the back, a few strips at a time, with everything that they expose: so cells
 * past the front are peeled while in cache, and the queue is long enough for the processor to work
 * on several keys at a time. For 3.3 million keys this took two thirds of the time of rounds over
 * the whole array, and of continuing from each cell at once. */
TAMIS_HOT bool peel_keys(bench *b, unsigned arity, bool has_values) {
    const uint64_t stretch = SEGMENTS_AT_ONCE * b->table.step;
    uint64_t peeled = 0;
    for (uint64_t start = 0; start < b->cells && !b->is_crowded; start += stretch) {
        if ((b->is_stopped = tamis__must_stop(b->task->stop))) return false;
        const uint64_t end = b->cells - start < stretch ? b->cells : start + stretch;
        uint64_t found = peeled;
        count_until(b, arity, has_values, end);
        for (uint64_t c = start; c < end; c++) {
            b->order[found] = (uint32_t)c;
            found += (unsigned)b->table.count[c] - ONE_KEY < ONE_KEY;
        }
        peeled = drain(b, arity, has_values, peeled, found);
    }
    return peeled == b->task->n && !b->is_crowded;
}

static bool peel(bench *b) {
    const bool has_values = b->form->value_bits > 0;
    b->first = key_that_starts_first(b);
    b->counted = b->clear = b->ready = 0;
    b->is_crowded = false;
    if (b->form->arity == 3) return has_values ? peel_keys(b, 3, true) : peel_keys(b, 3, false);
    return has_values ? peel_keys(b, 4, true) : peel_keys(b, 4, false);
}

/* ---- Assigning ------------------------------------------------------------------------------ */

/* A row replaces what its cell knows of its key, which is no longer needed: in the byte of the
 * cell, which then is nearly always in the first-level cache, or if it is wider in the word. Cells
 * that name no key hold 0. */
TAMIS_HOT uint64_t row_of(table t, bool is_narrow, uint64_t cell) {
    return is_narrow ? t.count[cell] : t.word[cell];
}

/* A row, or of one that is wider than a word the part that starts at bit `from`. */
TAMIS_HOT uint64_t wanted(const bench *b, bool has_values, uint64_t c, uint64_t own, uint64_t mixed,
                          unsigned from) {
    const tamis_peel_form *form = b->form;
    const uint64_t guard = tamis__peel_guard(mixed, form->guard_bits);
    if (!has_values || from) return guard;
    const uint64_t value = form->has_slots ? own : b->task->value[b->table.number[c]];
    const unsigned width = tamis__peel_row_values(form);
    return tamis__peel_row(form) <= 64 && form->guard_bits ? value | guard << width : value;
}

/* The keys [first, end) in the reverse order of peeling: no later key needs a cell that is read
 * here. The contents of its own cell are taken out of the xor of all. */
TAMIS_HOT void assign_some(const bench *b, unsigned arity, bool is_narrow, bool has_values,
                           unsigned from, uint64_t first, uint64_t end) {
    enum { AHEAD = 64 };
    const uint32_t *order = b->order;
    const table t = b->table;
    uint64_t at[TAMIS_PEEL_MAX_ARITY];
    for (uint64_t i = end; i-- > first;) {
        if (i >= AHEAD) __builtin_prefetch(&t.word[order[i - AHEAD]]);
        const uint64_t c = order[i], own = t.count[c];
        const uint64_t mixed = from ? tamis__mix(turned(b, t.number[c])) : t.word[c];
        uint64_t row = wanted(b, has_values, c, own, mixed, from) ^ row_of(t, is_narrow, c);
        tamis__peel_spread(mixed, (c & ~(t.step - 1)) - own * t.step, t.step, arity, at);
        row ^= row_of(t, is_narrow, at[0]) ^ row_of(t, is_narrow, at[1]);
        row ^= row_of(t, is_narrow, at[2]) ^ (arity == 4 ? row_of(t, is_narrow, at[3]) : 0);
        if (is_narrow)
            t.count[c] = (uint8_t)row;
        else
            t.word[c] = row;
    }
}

TAMIS_HOT void assign_as(bench *b, unsigned arity, bool is_narrow, bool has_values, unsigned from) {
    for (uint64_t end = b->task->n, first; end && !b->is_stopped; end = first) {
        first = end < PART ? 0 : end - PART;
        assign_some(b, arity, is_narrow, has_values, from, first, end);
        b->is_stopped = tamis__must_stop(b->task->stop);
    }
}

TAMIS_HOT void assign_by(bench *b, unsigned arity, unsigned from) {
    const bool has_values = b->form->value_bits > 0, is_narrow = tamis__peel_row(b->form) <= 8;
    if (is_narrow)
        has_values ? assign_as(b, arity, true, true, 0) : assign_as(b, arity, true, false, 0);
    else
        has_values ? assign_as(b, arity, false, true, from) : assign_as(b, arity, false, false, 0);
}

static void assign(bench *b, unsigned from) {
    b->form->arity == 3 ? assign_by(b, 3, from) : assign_by(b, 4, from);
}

/* ---- Packing -------------------------------------------------------------------------------- */

TAMIS_HOT void pack_as(const bench *b, bool is_narrow, unsigned width, uint8_t *out) {
    const table t = b->table;
    const uint64_t cells = b->cells;
    uint64_t word = 0;
    unsigned filled = 0;
    for (uint64_t c = 0; c < cells; c++) {
        const uint64_t row = row_of(t, is_narrow, c);
        word |= row << filled;
        filled += width;
        if (filled < 64) continue;
        tamis__put64(out, word);
        out += 8;
        filled -= 64;
        word = filled ? row >> (width - filled) : 0;
    }
    if (filled) tamis__put64(out, word);
}

static void copy_bytes(const bench *b, uint8_t *out) {
    static const uint8_t zeros[8];
    const uint64_t cells = b->cells, rest = tamis__fields_size(cells, 8) - cells;
    memcpy(out, b->table.count, (size_t)cells);
    memcpy(out + cells, zeros, (size_t)rest);
}

static void pack(const bench *b, unsigned width, uint8_t *out) {
    if (width == 8)
        copy_bytes(b, out);
    else if (width < 8)
        pack_as(b, true, width, out);
    else
        pack_as(b, false, width, out);
}

/* Rows wider than a word come in two parts. */
static void write_two_parts(bench *b, uint8_t *cells) {
    const unsigned row = tamis__peel_row(b->form), values = tamis__peel_row_values(b->form);
    uint64_t *word = b->table.word;
    memset(cells, 0, (size_t)tamis__fields_size(b->cells, row));
    assign(b, 0);
    for (uint64_t c = 0; c < b->cells && !b->is_stopped; c++)
        tamis__bits_put(cells, c * row, values, word[c]);
    memset(word, 0, (size_t)(b->cells * sizeof *word));
    assign(b, values);
    for (uint64_t c = 0; c < b->cells; c++)
        tamis__bits_put(cells, c * row + values, row - values, word[c]);
}

static void write_slots(bench *b, uint8_t *slots) {
    const unsigned width = b->form->value_bits;
    memset(slots, 0, (size_t)tamis__fields_size(b->cells, width));
    for (uint64_t i = 0; i < b->task->n && !b->is_stopped; i++) {
        const uint64_t c = b->order[i];
        if (i % PART == 0) b->is_stopped = tamis__must_stop(b->task->stop);
        tamis__field_put(slots, c, width, b->task->value[b->table.number[c]]);
    }
}

/* ---- Building ------------------------------------------------------------------------------- */

static void write_segment(bench *b, uint64_t seed, uint8_t *out) {
    const unsigned row = tamis__peel_row(b->form);
    uint8_t *cells = out + TAMIS_PEEL_HEADER;
    tamis__put64(out, b->task->n);
    tamis__put64(out + 8, seed);
    tamis__put64(out + 16, b->graph.strips << 8 | b->graph.log);
    if (row <= 64) {
        assign(b, 0);
        pack(b, row, cells);
    } else {
        write_two_parts(b, cells);
    }
    if (b->form->has_slots) write_slots(b, cells + tamis__fields_size(b->cells, row));
}

/* Where the parts of the table are in the working memory. */
static void lay_out(bench *b, uint8_t *work) {
    b->table.word = (uint64_t *)(void *)work;
    b->order = (uint32_t *)(void *)(b->table.word + b->cells);
    uint32_t *next = b->order + b->cells + 1;
    b->table.number = b->form->value_bits ? next : NULL;
    b->table.count = (uint8_t *)(b->form->value_bits ? next + b->cells : next);
    b->table.step = (uint64_t)1 << b->graph.log;
}

tamis_status tamis__peel_make(tamis_peel_form form, const tamis_peel_task *t, uint8_t *work,
                              uint8_t *out, uint64_t *size) {
    bench b = {.form = &form, .task = t, .hash = t->hash, .segments = form.segments};
    for (uint64_t seed = 0; seed < TRIES && t->n <= MAX_KEYS; seed++) {
        b.graph = graph_for(t->n, form.arity, seed);
        b.cells = tamis__peel_cells(&b.graph, form.arity);
        lay_out(&b, work);
        if (!peel(&b) && !b.is_stopped) continue;
        *size = size_of(&form, &b.graph);
        if (!b.is_stopped) write_segment(&b, seed, out);
        return b.is_stopped ? TAMIS_CANCELLED : TAMIS_OK;
    }
    return tamis__fail(TAMIS_INVALID,
                       "a segment of %zu keys cannot be built: are the hashes well mixed?", t->n);
}

/* ---- The gate ------------------------------------------------------------------------------- */

tamis_status tamis__peel_audit(tamis_peel_form form, const uint8_t *bytes, uint64_t size) {
    if (size < TAMIS_PEEL_HEADER)
        return tamis__fail(TAMIS_CORRUPT, "damaged: a segment of %llu bytes",
                           (unsigned long long)size);
    const uint64_t n = tamis__peel_keys(bytes), seed = tamis__get64(bytes + 8);
    if (n > MAX_KEYS || seed >= (n ? TRIES : 1))
        return tamis__fail(TAMIS_CORRUPT, "damaged: a segment of %llu keys by try %llu",
                           (unsigned long long)n, (unsigned long long)seed);
    const tamis_peel_graph g = graph_for(n, form.arity, seed);
    if (tamis__get64(bytes + 16) != (g.strips << 8 | g.log) || size != size_of(&form, &g))
        return tamis__fail(TAMIS_CORRUPT, "damaged: a segment of %llu keys in %llu bytes",
                           (unsigned long long)n, (unsigned long long)size);
    const uint8_t *cells = bytes + TAMIS_PEEL_HEADER;
    const uint64_t count = tamis__peel_cells(&g, form.arity);
    const unsigned row = tamis__peel_row(&form);
    const uint8_t *slots = cells + tamis__fields_size(count, row);
    if (!tamis__fields_end_clean(cells, count, row) ||
        (form.has_slots && !tamis__fields_end_clean(slots, count, form.value_bits)))
        return tamis__fail(TAMIS_CORRUPT, "damaged: bits after the last cell of a segment");
    return TAMIS_OK;
}
