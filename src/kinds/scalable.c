/* SPDX-License-Identifier: MIT */
/* scalable: a filter for a set of unknown size.
 *
 * A stack of filters of another kind. The first is planned for `capacity` keys; when it is full,
 * one for twice as many is put on top, and so on. A key goes into the newest, unless one of them
 * already has it; a query tests all, from the newest down. Almeida, Baquero, Preguiça and
 * Hutchison, "Scalable Bloom Filters" (2007).
 *
 *     ┌──────────────────────────────┐
 *     │ stage 2: 4n keys, P/9 * 6/π² │ ◀ adds
 *     ├───────────────┬──────────────┘
 *     │ stage 1: 2n   │   P/4 * 6/π²        every stage is stricter than the one below:
 *     ├───────┬───────┘                     1 + 1/4 + 1/9 + ... = π²/6, so the rates of all that
 *     │ st. 0 │   P * 6/π²                  will ever be there add up to no more than P
 *     └───────┘
 *
 * These rates are those of taffy block filters (Apple 2022); they cost fewer bits than the powers
 * of 0.85 of the first paper. All stages see the same hash of a key. That does no harm: the bound
 * is that of a union, which needs no independence.
 *
 * Keys of a stage are those of a time, and they may come in the order of their hashes: from a
 * builder, or listed by another filter. Kinds take the place of a key from the top of its hash, so
 * such a stage would have all its keys in one corner, which soon is full: 87 % instead of 1 % at
 * 200 times the first capacity. So stages are *spread*: they see the mixed hash, which has nothing
 * of that order. Images from before that have stages that are not; those that they grow from now on
 * are.
 *
 * Payload: the stages one after the other, each of them
 *
 *      0  keys that it has taken       8
 *      8  shape words of the stage    24    zero for the first one, whose shape is in our own words
 *     32  1: it is spread; 0: not      8
 *     40  doubt, in the first stage    8    at most this many keys were counted twice
 *     48  zero                        16
 *     64  its payload, and zeros up to a multiple of 64, so that blocks stay on cache lines */
#include <math.h>
#include <string.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/bitmap.h"
#include "kinds/kind.h"

enum { KIND, FIRST, RATE, STAGES, BYTES, SHAPE, SHAPE_WORDS = TAMIS_WORDS - SHAPE };
enum { OPT_KIND };
enum { LINE = 64, AT_TAKEN = 0, AT_SHAPE = 8, AT_SPREAD = 32, AT_DOUBT = 40, AT_ZERO = 48 };
enum { MAX_STAGES = 57, BATCH = 256 };

/* The unit of RATE, with six digits: a rate as printed in a spec leads to the same number. */
#define ATTO       1e-18
#define MAX_ATTOS  ((uint64_t)1000000000000000000)
#define SIX_DIGITS 1000000

/* Stages are of a kind whose shape has at most three words, whose adds cannot fail up to its
 * capacity, and that is planned without a seed. The order is that of the images. */
extern const tamis_kind tamis__blocked, tamis__split, tamis__classic, tamis__compaction;
static const tamis_kind *const kinds[] = {
    &tamis__blocked,
    &tamis__split,
    &tamis__classic,
    &tamis__compaction,
};
enum { BLOCKED, SPLIT, CLASSIC, COMPACTION, KINDS };

static const struct tamis_option options[] = {
    {"kind", "blocked|split|classic|compaction", 0, 0, "blocked, and classic below 0.01 %",
     "what the stages are"},
    {0},
};

/* ---- Stages --------------------------------------------------------------------------------- */

static const tamis_kind *kind_of(const uint64_t word[]) {
    return kinds[word[KIND]];
}

static uint64_t capacity_of(const uint64_t word[], uint64_t stage) {
    return word[FIRST] << stage;
}

/* The share of the rate that a stage may use: a little less than 6/π² over a square. */
static const double first_share = 0.607926;

static double share_of(const uint64_t word[], uint64_t stage) {
    const double n = (double)(stage + 1);
    return (double)word[RATE] * ATTO * first_share / (n * n);
}

static uint64_t to_line(uint64_t size) {
    return (size + LINE - 1) / LINE * LINE;
}

static tamis_status plan_stage(const uint64_t word[], uint64_t stage, uint64_t shape[],
                               uint64_t *size) {
    const tamis_params params = {.capacity = capacity_of(word, stage),
                                 .fpr = share_of(word, stage)};
    memset(shape, 0, TAMIS_WORDS * sizeof *shape);
    const tamis_status rc = kind_of(word)->plan(&params, shape);
    return rc ? rc : kind_of(word)->check(shape, size);
}

/* The stages as bodies of their own; items are the keys that each has taken. */
typedef struct stack {
    const tamis_kind *kind;
    uint64_t count;
    tamis_body stage[MAX_STAGES];
} stack;

static uint8_t *header_of(const tamis_body *stage) {
    return stage->bytes - LINE;
}

static bool is_spread(const tamis_body *stage) {
    return tamis__get64(header_of(stage) + AT_SPREAD);
}

/* The hashes as a stage sees them. */
static void place(uint64_t *to, const uint64_t *hash, size_t n, bool is_mixed) {
    if (!is_mixed) {
        memcpy(to, hash, n * sizeof *hash);
        return;
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < n; j++) to[j] = tamis__mix(hash[j]);
}

static uint64_t taken_by(const tamis_body *stage) {
    return tamis__get64(header_of(stage) + AT_TAKEN);
}

/* Finds the stages. In a payload that has passed the audit this cannot fail. */
static tamis_status find(const tamis_body *f, tamis_body *b) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < f->word[STAGES]; i++, b++) {
        if (f->size - at < LINE)
            return tamis__fail(TAMIS_CORRUPT, "a scalable filter ends before its last stage");
        *b = (tamis_body){.kind = kind_of(f->word)};
        for (int w = 0; w < SHAPE_WORDS; w++)
            b->word[w] = i ? tamis__get64(f->bytes + at + AT_SHAPE + 8 * w) : f->word[SHAPE + w];
        const tamis_status rc = b->kind->check(b->word, &b->size);
        if (rc) return rc;
        b->bytes = f->bytes + at + LINE;
        b->items = taken_by(b);
        if (to_line(b->size) > f->size - at - LINE)
            return tamis__fail(TAMIS_CORRUPT, "stage %llu is larger than the whole filter",
                               (unsigned long long)i);
        at += LINE + to_line(b->size);
    }
    if (at != f->size)
        return tamis__fail(TAMIS_CORRUPT, "the stages have %llu bytes of %llu",
                           (unsigned long long)at, (unsigned long long)f->size);
    return TAMIS_OK;
}

/* Where a stage is follows from all below it: a handle keeps them. Their items are those of that
 * time. */
static size_t kept_size(const uint64_t word[]) {
    return word[STAGES] * sizeof(tamis_body);
}

static void keep(const tamis_body *f, void *kept) {
    find(f, kept);
}

static const tamis_body *stages_of(const tamis_body *f, tamis_body room[MAX_STAGES]) {
    if (f->kept) return f->kept;
    find(f, room);
    return room;
}

static tamis_status unstack(const tamis_body *f, stack *s) {
    s->kind = kind_of(f->word);
    s->count = f->word[STAGES];
    return find(f, s->stage);
}

static void set_taken(tamis_body *stage, uint64_t keys) {
    stage->items = keys;
    tamis__put64(header_of(stage) + AT_TAKEN, keys);
}

/* An empty filter: its stage is spread. */
static void start(tamis_body *f) {
    tamis__put64(f->bytes + AT_SPREAD, 1);
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static uint64_t six_digits(double rate) {
    uint64_t attos = (uint64_t)(fmin(rate, 1) / ATTO + 0.5), unit = 1;
    while (attos / unit >= SIX_DIGITS) unit *= 10;
    attos = (attos + unit / 2) / unit * unit;
    return attos < MAX_ATTOS ? attos : MAX_ATTOS - MAX_ATTOS / SIX_DIGITS;
}

/* A new filter can grow a thousandfold, or to 2^40 keys: if some stage cannot be made by then, the
 * spec is refused at once, not an add on some later day. The last of these stages is the strictest
 * and the largest. */
static bool can_grow(const uint64_t word[]) {
    enum { PROMISED_STAGES = 10 };
    const uint64_t promised_keys = (uint64_t)1 << 40;
    uint64_t last = 0, shape[TAMIS_WORDS], size;
    while (last + 1 < PROMISED_STAGES && word[FIRST] <= promised_keys >> (last + 1)) last++;
    return plan_stage(word, last, shape, &size) == TAMIS_OK;
}

/* The lowest rate of two digits at which that works. */
static double lowest_rate(const uint64_t word[]) {
    uint64_t tried[TAMIS_WORDS];
    double low = (double)word[RATE] * ATTO, high = 1;
    memcpy(tried, word, sizeof tried);
    while (high > low * 1.001) {
        const double middle = sqrt(low * high);
        tried[RATE] = six_digits(middle);
        *(can_grow(tried) ? &high : &low) = middle;
    }
    const double unit = pow(10, floor(log10(high)) - 1);
    return ceil(high / unit) * unit;
}

static tamis_status plan_for_rate(const tamis_params *params, uint64_t shape[], uint64_t word[]) {
    uint64_t size;
    word[RATE] = six_digits(params->fpr);
    return plan_stage(word, 0, shape, &size);
}

/* The first stage takes all the room. Its rate is then its share, from which the rate of all
 * follows; but no stricter than what later stages can keep at a reasonable size. */
static tamis_status plan_for_size(const tamis_params *params, uint64_t shape[], uint64_t word[]) {
    const double min = 1e-6;
    const uint64_t lines = params->bits / 8 / LINE;
    if (lines < 2)
        return tamis__fail(TAMIS_INVALID, "size must be at least %d bytes for scalable", 2 * LINE);
    const tamis_params stage = {.capacity = word[FIRST], .bits = (lines - 1) * LINE * 8};
    const tamis_status rc = kind_of(word)->plan(&stage, shape);
    if (rc) return rc;
    word[RATE] = six_digits(fmax(min, kind_of(word)->rate(shape, word[FIRST]) / first_share));
    if (!can_grow(word)) word[RATE] = six_digits(lowest_rate(word));
    return TAMIS_OK;
}

/* Everything except whether it can grow. */
static tamis_status plan_first(const tamis_params *params, uint64_t word[]) {
    const double blocked_from = 1e-4; /* the strictest stages of blocked take too many bits below */
    const bool is_strict = !params->bits && six_digits(params->fpr) < six_digits(blocked_from);
    uint64_t shape[TAMIS_WORDS] = {0}, size;
    word[KIND] = tamis__chosen(params, OPT_KIND, is_strict ? CLASSIC : BLOCKED);
    word[FIRST] = params->capacity ? params->capacity : 1;
    word[STAGES] = 1;
    tamis_status rc = (params->bits ? plan_for_size : plan_for_rate)(params, shape, word);
    if (!rc) rc = kind_of(word)->check(shape, &size);
    if (rc) return rc;
    memcpy(word + SHAPE, shape, SHAPE_WORDS * sizeof *shape);
    word[BYTES] = LINE + to_line(size);
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = plan_first(params, word);
    if (rc || can_grow(word)) return rc;
    return tamis__fail(
        TAMIS_INVALID,
        "fpr=%.3g is too low: stages become stricter, and those of %s let scalable grow from "
        "fpr=%.2g on; kind=classic goes lower",
        params->fpr, kind_of(word)->name, lowest_rate(word));
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    uint64_t shape[TAMIS_WORDS] = {0}, first_size;
    if (word[KIND] >= KINDS)
        return tamis__fail(TAMIS_CORRUPT, "scalable has no stages of kind %llu",
                           (unsigned long long)word[KIND]);
    if (word[STAGES] == 0 || word[STAGES] > MAX_STAGES || word[FIRST] == 0 ||
        word[FIRST] > TAMIS_MAX_CAPACITY >> (word[STAGES] - 1))
        return tamis__fail(TAMIS_CORRUPT,
                           "scalable cannot have %llu stages, the first of %llu keys",
                           (unsigned long long)word[STAGES], (unsigned long long)word[FIRST]);
    if (word[RATE] == 0 || word[RATE] >= MAX_ATTOS)
        return tamis__fail(TAMIS_CORRUPT, "scalable cannot have a rate of %llu / 10^18",
                           (unsigned long long)word[RATE]);
    for (int w = 0; w < SHAPE_WORDS; w++) {
        shape[w] = word[SHAPE + w];
        if (shape[w] && !kind_of(word)->word[w])
            return tamis__fail(TAMIS_CORRUPT, "an unused shape word is not zero");
    }
    const tamis_status rc = kind_of(word)->check(shape, &first_size);
    if (rc) return rc;
    if (word[BYTES] % LINE || word[BYTES] > TAMIS_MAX_PAYLOAD_BYTES ||
        word[BYTES] < LINE + to_line(first_size) + 2 * LINE * (word[STAGES] - 1))
        return tamis__fail(TAMIS_CORRUPT, "scalable cannot have %llu stages in %llu bytes",
                           (unsigned long long)word[STAGES], (unsigned long long)word[BYTES]);
    *size = word[BYTES];
    return TAMIS_OK;
}

static unsigned lacks(const uint64_t word[]) {
    return TAMIS_ENTRY(kind_of(word), sets, merge) ? 0 : TAMIS_CAN_MERGE;
}

/* All bits that a query may read. Later stages are not in the words; they are planned again. */
static uint64_t probes(const uint64_t word[]) {
    uint64_t sum = kind_of(word)->probes(word + SHAPE);
    for (uint64_t i = 1; i < word[STAGES]; i++) {
        uint64_t shape[TAMIS_WORDS], size;
        if (plan_stage(word, i, shape, &size) == TAMIS_OK) sum += kind_of(word)->probes(shape);
    }
    return sum;
}

/* Full stages have their planned rate; the one on top has the remaining keys. */
static double rate(const uint64_t word[], uint64_t items) {
    uint64_t shape[TAMIS_WORDS] = {0}, size, stage = 0;
    double all = 0;
    memcpy(shape, word + SHAPE, SHAPE_WORDS * sizeof *shape);
    while (items > capacity_of(word, stage) && stage + 1 < MAX_STAGES) {
        const double one = stage ? share_of(word, stage) : kind_of(word)->rate(shape, word[FIRST]);
        all = tamis__chance_of_either(all, one);
        items -= capacity_of(word, stage++);
    }
    if (stage && plan_stage(word, stage, shape, &size))
        return tamis__chance_of_either(all, share_of(word, stage));
    return tamis__chance_of_either(all, kind_of(word)->rate(shape, items));
}

/* ---- The gate ------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *bytes, uint64_t n) {
    for (uint64_t i = 0; i < n; i += 8)
        if (tamis__get64(bytes + i)) return false;
    return true;
}

/* The maximum count of a stage after merges. */
#define MAX_TAKEN ((uint64_t)1 << 60)

static tamis_status audit_stage(const stack *s, uint64_t i, uint64_t capacity) {
    const tamis_body *b = &s->stage[i];
    const uint8_t *header = header_of(b);
    if (tamis__get64(header + AT_SPREAD) > 1)
        return tamis__fail(TAMIS_CORRUPT, "stage %llu has an unknown spread",
                           (unsigned long long)i);
    if (tamis__get64(header + AT_DOUBT) > (i ? 0 : MAX_TAKEN))
        return tamis__fail(TAMIS_CORRUPT, "stage %llu cannot have counted %llu keys twice",
                           (unsigned long long)i,
                           (unsigned long long)tamis__get64(header + AT_DOUBT));
    if ((i == 0 && !is_zero(header + AT_SHAPE, AT_SPREAD - AT_SHAPE)) ||
        !is_zero(header + AT_ZERO, LINE - AT_ZERO) ||
        !is_zero(b->bytes + b->size, to_line(b->size) - b->size))
        return tamis__fail(TAMIS_CORRUPT, "bytes between stages are not zero");
    for (int w = 0; w < SHAPE_WORDS; w++)
        if (b->word[w] && !s->kind->word[w])
            return tamis__fail(TAMIS_CORRUPT, "an unused shape word of a stage is not zero");
    if (b->items > MAX_TAKEN || (b->items == 0 && !is_zero(b->bytes, b->size)))
        return tamis__fail(TAMIS_CORRUPT, "stage %llu cannot hold %llu keys", (unsigned long long)i,
                           (unsigned long long)b->items);
    if (b->items < capacity && i + 1 < s->count && s->stage[i + 1].items)
        return tamis__fail(TAMIS_CORRUPT, "a stage is in use before the one below it is full");
    return s->kind->audit ? s->kind->audit(b) : TAMIS_OK;
}

static tamis_status audit(const tamis_body *f) {
    stack s;
    tamis_status rc = unstack(f, &s);
    for (uint64_t i = 0; !rc && i < s.count; i++) rc = audit_stage(&s, i, capacity_of(f->word, i));
    return rc;
}

/* ---- Querying and adding -------------------------------------------------------------------- */

/* Hashes that no stage had so far, as the next one sees them, and their indices. */
typedef struct waiting {
    uint64_t place[BATCH];
    size_t n;
    bool is_mixed;
    uint8_t from[BATCH];
} waiting;

/* All of them at first, in order. */
static void ask_first(const stack *s, uint64_t stage, const uint64_t *hash, size_t n, uint8_t *hit,
                      waiting *w) {
    size_t still = 0;
    w->is_mixed = is_spread(&s->stage[stage]);
    place(w->place, hash, n, w->is_mixed);
    s->kind->query(&s->stage[stage], tamis__hashes(w->place, n), hit);
    if (stage == 0) return; /* nothing to reorder */
#pragma GCC unroll 4
    for (size_t j = 0; j < n; j++) {
        w->place[still] = w->place[j];
        w->from[still] = (uint8_t)j;
        still += !hit[j];
    }
    w->n = still;
}

/* Non-members are mostly found nowhere, and then move up together. */
enum { TOGETHER = 8 };

static void move_up(waiting *w, size_t to, size_t at) {
    uint64_t places[TOGETHER];
    uint8_t from[TOGETHER];
    memcpy(places, w->place + at, sizeof places);
    memcpy(from, w->from + at, sizeof from);
    memcpy(w->place + to, places, sizeof places);
    memcpy(w->from + to, from, sizeof from);
}

static void ask_next(const stack *s, uint64_t stage, const uint64_t *hash, uint8_t *hit,
                     waiting *w) {
    uint8_t found[BATCH];
    const size_t n = w->n;
    size_t still = 0;
    if (is_spread(&s->stage[stage]) != w->is_mixed) {
        uint64_t waits[BATCH];
        w->is_mixed = !w->is_mixed;
        for (size_t j = 0; j < n; j++) waits[j] = hash[w->from[j]];
        place(w->place, waits, n, w->is_mixed);
    }
    s->kind->query(&s->stage[stage], tamis__hashes(w->place, n), found);
    for (size_t j = 0; j < n && stage == 0; j++) hit[w->from[j]] = found[j];
    for (size_t j = 0; j < n && stage;) {
        if (n - j >= TOGETHER && tamis__get64(found + j) == 0) {
            if (still != j) move_up(w, still, j);
            still += TOGETHER, j += TOGETHER;
            continue;
        }
        for (const size_t end = n - j < TOGETHER ? n : j + TOGETHER; j < end; j++) {
            hit[w->from[j]] = found[j];
            w->place[still] = w->place[j];
            w->from[still] = w->from[j];
            still += !found[j];
        }
    }
    w->n = still;
}

/* Which of up to BATCH hashes are in the `count` lowest stages? From the newest down, each stage is
 * queried only for those not yet found. */
static void ask(const stack *s, uint64_t count, const uint64_t *hash, size_t n, uint8_t *hit) {
    waiting w;
    while (count && s->stage[count - 1].items == 0) count--; /* stages are filled from below */
    if (count == 0) {
        memset(hit, 0, n);
        return;
    }
    ask_first(s, --count, hash, n, hit, &w);
    while (count > 0 && w.n) ask_next(s, --count, hash, hit, &w);
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    stack s;
    unstack(f, &s);
    for (size_t at = 0; at < b.n; at += BATCH)
        ask(&s, s.count, b.hash + at, b.n - at < BATCH ? b.n - at : BATCH, hit + at);
}

/* A hash as the stage sees it. */
static TAMIS_ONE_KEY bool has_one(const tamis_body *stage, uint64_t hash) {
    uint8_t hit;
    if (TAMIS_ENTRY(stage->kind, speed, has)) return stage->kind->speed->has(stage, hash);
    stage->kind->query(stage, tamis__hashes(&hash, 1), &hit);
    return hit;
}

/* One hash as stages see it. */
typedef struct seen {
    uint64_t as_it_is, mixed;
} seen;

static seen see(uint64_t hash) {
    return (seen){hash, tamis__mix(hash)};
}

static uint64_t seen_by(const tamis_body *stage, seen s) {
    return is_spread(stage) ? s.mixed : s.as_it_is;
}

/* A batch of one would wait for kernels that are made for many. */
static bool is_in(const tamis_body *stage, seen hash) {
    return taken_by(stage) && has_one(stage, seen_by(stage, hash));
}

/* From the newest down. */
static TAMIS_ONE_KEY bool has(const tamis_body *f, uint64_t hash) {
    tamis_body room[MAX_STAGES];
    const tamis_body *stage = stages_of(f, room);
    const seen as = see(hash);
    for (uint64_t i = f->word[STAGES] - 1; i > 0; i--)
        if (is_in(&stage[i], as)) return true;
    return is_in(stage, as); /* for the caller to branch on, when the memory has come */
}

/* Adds to the stage on top of full ones what neither they nor it have; as long as a batch is not
 * larger than its room, no stage below changes during the query. */
static void add_to(stack *s, uint64_t top, const uint64_t *hash, size_t n) {
    uint8_t is_below[BATCH];
    uint64_t taken = 0;
    tamis_body *stage = &s->stage[top];
    uint64_t placed[BATCH];
    ask(s, top, hash, n, is_below);
    place(placed, hash, n, is_spread(stage));
    for (size_t j = 0; j < n; j++) {
        if (is_below[j] || has_one(stage, placed[j])) continue;
        s->kind->add(stage, tamis__hashes(placed + j, 1));
        taken++;
    }
    set_taken(stage, stage->items + taken);
}

/* Core has made room for every new key; without room they are all old. */
static tamis_status add(tamis_body *f, tamis_batch b) {
    stack s;
    uint64_t top = 0;
    unstack(f, &s);
    while (b.n) {
        while (top < s.count && s.stage[top].items >= capacity_of(f->word, top)) top++;
        if (top == s.count) break;
        const uint64_t room = capacity_of(f->word, top) - s.stage[top].items;
        const size_t max = b.n < BATCH ? b.n : BATCH, m = room < max ? (size_t)room : max;
        add_to(&s, top, b.hash, m);
        b.hash += m, b.n -= m;
    }
    return TAMIS_OK;
}

/* It goes into the lowest stage with room; there is none in a stage below, and nothing in those
 * above. */
static TAMIS_ONE_KEY tamis_status add_new(tamis_body *f, uint64_t hash, bool *is_new) {
    tamis_body room[MAX_STAGES];
    const tamis_body *stage = stages_of(f, room), *top = NULL;
    const seen as = see(hash);
    for (uint64_t i = f->word[STAGES]; i-- > 0;) {
        if (is_in(&stage[i], as)) {
            *is_new = false;
            return TAMIS_OK;
        }
        if (taken_by(&stage[i]) < capacity_of(f->word, i)) top = &stage[i];
    }
    if (!top) return TAMIS_FULL;
    tamis_body b = *top;
    const uint64_t place = seen_by(&b, as);
    b.kind->add(&b, tamis__hashes(&place, 1));
    set_taken(&b, taken_by(&b) + 1);
    *is_new = true;
    return TAMIS_OK;
}

/* ---- Growing -------------------------------------------------------------------------------- */

static TAMIS_ONE_KEY uint64_t room(const tamis_body *f) {
    tamis_body memory[MAX_STAGES];
    const tamis_body *stage = stages_of(f, memory);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < f->word[STAGES]; i++) {
        const uint64_t taken = taken_by(&stage[i]), capacity = capacity_of(f->word, i);
        if (taken < capacity) sum += capacity - taken;
    }
    return sum;
}

static tamis_status grow(const tamis_body *f, uint64_t need, uint64_t word[]) {
    for (uint64_t there = room(f); there < need; there += capacity_of(word, word[STAGES]++)) {
        uint64_t shape[TAMIS_WORDS], size;
        if (word[STAGES] == MAX_STAGES || word[FIRST] > TAMIS_MAX_CAPACITY >> word[STAGES])
            return tamis__fail(TAMIS_FULL, "scalable cannot grow beyond 2^56 keys");
        if (plan_stage(word, word[STAGES], shape, &size))
            return tamis__fail_in(TAMIS_FULL, "scalable cannot grow further");
        if (size > TAMIS_MAX_PAYLOAD_BYTES - word[BYTES] - 2 * LINE)
            return tamis__fail(TAMIS_FULL, "scalable would need over 2^56 bytes");
        word[BYTES] += LINE + to_line(size);
    }
    return TAMIS_OK;
}

/* All stages as they are, and empty ones on top. */
static tamis_status move(tamis_body *to, const tamis_body *from) {
    memcpy(to->bytes, from->bytes, (size_t)from->size);
    uint64_t at = from->size;
    for (uint64_t i = from->word[STAGES]; i < to->word[STAGES]; i++) {
        uint64_t shape[TAMIS_WORDS], size;
        const tamis_status rc = plan_stage(to->word, i, shape, &size);
        if (rc) return rc;
        for (int w = 0; w < SHAPE_WORDS; w++)
            tamis__put64(to->bytes + at + AT_SHAPE + 8 * w, shape[w]);
        tamis__put64(to->bytes + at + AT_SPREAD, 1);
        at += LINE + to_line(size);
    }
    return TAMIS_OK;
}

/* A stack that has grown less has the same lower stages: it gets empty ones for a union. */
static bool stretch(const uint64_t word[], const uint64_t wider[]) {
    for (int w = 0; w < TAMIS_WORDS; w++)
        if (w != STAGES && w != BYTES && word[w] != wider[w]) return false;
    return word[STAGES] < wider[STAGES];
}

/* ---- Merging and measuring ------------------------------------------------------------------ */

/* Plans come from logarithms, and another machine may have planned other stages. */
static tamis_status are_alike(const stack *a, const stack *b) {
    for (uint64_t i = 0; i < a->count; i++) {
        if (memcmp(a->stage[i].word, b->stage[i].word, sizeof a->stage[i].word) != 0)
            return tamis__fail(TAMIS_MISMATCH, "shapes of stage %llu differ",
                               (unsigned long long)i);
        if (is_spread(&a->stage[i]) != is_spread(&b->stage[i]))
            return tamis__fail(TAMIS_MISMATCH,
                               "stage %llu of one is from a version that did not spread its keys",
                               (unsigned long long)i);
    }
    return TAMIS_OK;
}

/* The rate of a stack, or of two alike, stage by stage. */
static double rate_of_stage(const stack *a, const stack *b, uint64_t i) {
    tamis_measurement m = {0};
    a->kind->measure(&a->stage[i], b ? &b->stage[i] : NULL, &m);
    return m.fpr;
}

static double rate_of(const stack *a, const stack *b) {
    double all = 0;
    for (uint64_t i = 0; i < a->count; i++)
        all = tamis__chance_of_either(all, rate_of_stage(a, b, i));
    return all;
}

/* The same when every stage is full, including future ones. */
static double rate_at_last(const uint64_t word[], const stack *a, const stack *b) {
    double all = 0;
    for (uint64_t i = 0; i < a->count; i++) {
        const double full = a->kind->rate(a->stage[i].word, capacity_of(word, i));
        all = tamis__chance_of_either(all, fmax(full, rate_of_stage(a, b, i)));
    }
    for (uint64_t i = a->count; i < MAX_STAGES; i++)
        all = tamis__chance_of_either(all, share_of(word, i));
    return all;
}

/* Stages that both have filled hold the keys of both, which may be far too many: then no union
 * keeps the rate, now and as it grows. A union that adds nothing is always allowed. */
static tamis_status keeps_rate(const uint64_t word[], const stack *a, const stack *b) {
    const double asked = (double)word[RATE] * ATTO, both = rate_at_last(word, a, b);
    if (both <= fmax(asked, fmax(rate_at_last(word, a, NULL), rate_at_last(word, b, NULL))))
        return TAMIS_OK;
    return tamis__fail(
        TAMIS_FULL,
        "the union would have a rate of %.3g, and %.3g was asked: scalable keeps its "
        "rate as keys are added; add those of one to the other, or join filters "
        "that were planned for all keys, such as blocked",
        both, asked);
}

/* The number of keys of a merged stage follows from its bits, within what the two counts allow:
 * growth then follows the fill. */
static uint64_t taken_by_both(const tamis_kind *kind, const tamis_body *a, const tamis_body *b) {
    const uint64_t more = a->items > b->items ? a->items : b->items, sum = a->items + b->items;
    tamis_measurement m = {0};
    if (sum == more) return more; /* one of them was empty */
    kind->measure(a, b, &m);
    const double max = (double)(sum < MAX_TAKEN ? sum : MAX_TAKEN);
    return (uint64_t)fmax((double)more, fmin(max, m.items.value));
}

static double doubt_of(const stack *s) {
    return (double)tamis__get64(header_of(&s->stage[0]) + AT_DOUBT);
}

/* How many keys may be in different stages of the two, and be counted twice: with x and y the rest
 * of each in every stage without those that share it, at most all of x, all of y, and all that is
 * outside any one stage. And false positives may have been fewer than the stages will estimate
 * together. */
static uint64_t doubt_of_both(const stack *a, const stack *b) {
    double x = 0, y = 0, max = 0, taken = 0;
    for (uint64_t i = 0; i < a->count; i++) {
        const double m = (double)a->stage[i].items, n = (double)b->stage[i].items;
        const double both = (double)taken_by_both(a->kind, &a->stage[i], &b->stage[i]);
        x += both - n;
        y += both - m;
        max = fmax(max, both - n + both - m);
        taken += both;
    }
    const double twice = fmax(0, fmin(fmin(x, y), x + y - max)); /* counts of 2^53 are rounded */
    const double unseen = twice > 0 ? taken * rate_of(a, b) : 0;
    return (uint64_t)fmin((double)MAX_TAKEN, doubt_of(a) + doubt_of(b) + twice + unseen);
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    stack a, b;
    unstack(into, &a);
    unstack(from, &b);
    tamis_status rc = are_alike(&a, &b);
    if (!rc) rc = keeps_rate(into->word, &a, &b);
    if (rc) return rc;
    const uint64_t doubt = into == from ? (uint64_t)doubt_of(&a) : doubt_of_both(&a, &b);
    for (uint64_t i = 0; i < a.count && !rc; i++) {
        const uint64_t taken = taken_by_both(a.kind, &a.stage[i], &b.stage[i]);
        rc = a.kind->sets->merge(&a.stage[i], &b.stage[i]);
        set_taken(&a.stage[i], taken);
    }
    tamis__put64(into->bytes + AT_DOUBT, doubt);
    return rc;
}

/* Bits show common keys only where they are in the same stage. */
static tamis_status may_compare(const tamis_body *f, const tamis_body *other) {
    stack a, b;
    unstack(f, &a);
    unstack(other, &b);
    const tamis_status rc = are_alike(&a, &b);
    if (rc || a.count == 1 || !(a.stage[1].items || b.stage[1].items)) return rc;
    return tamis__fail(TAMIS_UNSUPPORTED,
                       "scalable cannot be compared once it has grown: a key of both may be in "
                       "different stages; compare filters of a fixed size, or minhash");
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    stack a, b;
    unstack(f, &a);
    if (other) unstack(other, &b);
    for (uint64_t i = 0; i < a.count; i++) {
        tamis_measurement m = {0};
        a.kind->measure(&a.stage[i], other ? &b.stage[i] : NULL, &m);
        tamis__measure_stage(&m, true, out);
    }
    const double doubt = doubt_of(&a) + (other ? doubt_of(&b) : 0);
    out->items.value -= doubt / 2;
    out->items.error += doubt / 2;
}

const tamis_kind tamis__scalable = {
    .name = "scalable",
    .contract = "grows by stages that double, keeps its rate; unions that would not are refused",
    .word = {"kind", "first", "rate", "stages", "bytes", "shape_0", "shape_1", "shape_2"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .start = start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .room = room,
    .speed =
        &(const tamis_speed){.has = has, .add_new = add_new, .kept_size = kept_size, .keep = keep},
    .reshape = &(const tamis_reshape){.grow = grow, .move = move, .stretch = stretch},
    .sets = &(const tamis_sets){.merge = merge, .may_compare = may_compare},
};
