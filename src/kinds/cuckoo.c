/* SPDX-License-Identifier: MIT */
/* cuckoo: fingerprints in one of two buckets, with removal (Fan, Andersen, Kaminsky and
 * Mitzenmacher 2014).
 *
 * A key is a bucket and a fingerprint of a few bits. The fingerprint alone gives the distance to
 * the other bucket, so it can be moved from either bucket to the other: when both buckets of a new
 * key are full, a fingerprint there is moved, and another for that one, until there is a free cell.
 * So 95 % of all cells can be used, a query reads only two buckets, and a key can be removed by
 * clearing one cell.
 *
 *     hash ─▶ bucket i, fingerprint v          j = (offset(v) - i) mod buckets, and back likewise
 *
 *         bucket i                    bucket j
 *     ... | a  b  c  v | ...      ... | d  e  f  - | ...            four cells each, - is empty
 *
 *     payload:  used | stash, 8 words | buckets
 *
 * The difference i+j is the same from both sides, which works for any number of buckets; XOR, as in
 * the paper, needs a power of two and with it up to twice the memory.
 *
 * A path for the new key is searched first and taken only when it ends in a free cell, so an add
 * that fails changes nothing. Keys without a path are kept in a stash, which queries read only when
 * it is not empty. One fingerprint fits 8 times into its two buckets: a key that is added over and
 * over fills them and the stash, and is refused then.
 *
 * Use it for sets that change, and for small rates; for sets that only grow blocked is faster, and
 * at 1 % smaller. */
#include <stdio.h>

#include "kinds/cuckoo.h"
#include "kinds/cuckoo_words.h"
#include "kinds/fp_table.h"
#include "kinds/kind.h"

enum { BUCKETS, FINGERPRINT, SORT }; /* shape words */
enum { OPT_SORT };

enum { SLOTS = TAMIS_CUCKOO_SLOTS, STASH = TAMIS_CUCKOO_STASH, HEAD = TAMIS_CUCKOO_HEAD };
enum { MIN_BUCKETS = 2, MIN_WIDTH = 4 };

/* 95 % of all cells may be used, 19 in 5 buckets. Above 97.7 % there is no path (Dietzfelbinger et
 * al. 2010), and close to it the search is long. */
enum { LOAD_CELLS = 19, LOAD_BUCKETS = 5, SPARE_BUCKETS = 4 };

static const struct tamis_option options[] = {
    {"sort", "no|yes", 0, 0, "no", "sort buckets: one bit less per cell, slower"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* The number of fingerprints the buckets are for. In a small table luck is uneven, so a few buckets
 * are not counted. */
static uint64_t limit(uint64_t buckets) {
    const uint64_t spare = buckets / 4 < SPARE_BUCKETS ? buckets / 4 : SPARE_BUCKETS;
    const uint64_t counted = buckets - spare;
    return counted / LOAD_BUCKETS * LOAD_CELLS + counted % LOAD_BUCKETS * LOAD_CELLS / LOAD_BUCKETS;
}

static uint64_t buckets_for(uint64_t keys) {
    uint64_t buckets = keys / LOAD_CELLS * LOAD_BUCKETS;
    if (buckets < MIN_BUCKETS) buckets = MIN_BUCKETS;
    while (limit(buckets) < keys) buckets++;
    return buckets;
}

/* Both buckets of a key coincide with probability 1/buckets; else it covers two. */
static double share(uint64_t buckets) {
    return 2 - 1 / (double)buckets;
}

static tamis_table_design design_of(uint64_t keys, uint64_t sort) {
    return (tamis_table_design){
        .kind = "cuckoo",
        .min_places = buckets_for(keys),
        .share = 2,
        .min_width = sort ? TAMIS_SORTED_MIN_WIDTH : MIN_WIDTH,
        .cells = SLOTS,
        .extra = sort ? -SLOTS : 0,
        .head_bits = HEAD * 8,
    };
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[SORT] = tamis__chosen(params, OPT_SORT, 0);
    return tamis__table_plan(params, design_of(params->capacity, word[SORT]), &word[BUCKETS],
                             &word[FINGERPRINT]);
}

static tamis_table table_of(const uint64_t word[], uint8_t *bytes) {
    return tamis__table(bytes, word[BUCKETS], SLOTS, (unsigned)word[FINGERPRINT], word[SORT]);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[SORT] > 1)
        return tamis__fail(TAMIS_CORRUPT, "cuckoo has sort 0 or 1, not %llu",
                           (unsigned long long)word[SORT]);
    if (!tamis__table_fits(design_of(0, word[SORT]), word[BUCKETS], word[FINGERPRINT]))
        return tamis__fail(TAMIS_CORRUPT, "cuckoo cannot have %llu buckets of %llu bits a cell",
                           (unsigned long long)word[BUCKETS],
                           (unsigned long long)word[FINGERPRINT]);
    *size = HEAD + tamis__table_size(table_of(word, NULL));
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return 2 * SLOTS;
}

static double rate(const uint64_t word[], uint64_t items) {
    return tamis__table_rate(items, share(word[BUCKETS]), word[BUCKETS],
                             (unsigned)word[FINGERPRINT]);
}

/* ---- Access --------------------------------------------------------------------------------- */

/* A fingerprint with its two buckets. */
typedef struct print {
    uint64_t bucket, other, value;
} print;

TAMIS_HOT print print_at(const tamis_table *t, uint64_t bucket, uint64_t value) {
    const uint64_t offset = tamis__range(tamis__mix(value), t->buckets);
    return (print){bucket, offset - bucket + (offset < bucket ? t->buckets : 0), value};
}

TAMIS_HOT print print_of(const tamis_table *t, uint64_t hash) {
    uint64_t value;
    const uint64_t bucket = tamis__split(hash, t->buckets, t->width, &value);
    return print_at(t, bucket, value);
}

static tamis_table cells_of(const tamis_body *f) {
    return table_of(f->word, f->bytes + HEAD);
}

/* The stash is filled from its start and ends at the first zero. An entry is bucket * 2^width +
 * value, which is never zero and below 2^60. */
static uint8_t *stash_at(const tamis_body *f, unsigned i) {
    return f->bytes + 8 + 8 * i;
}

static unsigned stash_count(const tamis_body *f) {
    unsigned n = 0;
    while (n < STASH && tamis__get64(stash_at(f, n))) n++;
    return n;
}

static print stash_get(const tamis_body *f, const tamis_table *t, unsigned i) {
    const uint64_t x = tamis__get64(stash_at(f, i));
    return print_at(t, x >> t->width, x & tamis__field_mask(t->width));
}

/* The entry that equals p, by either bucket; STASH when there is none. */
static unsigned stash_find(const tamis_body *f, const tamis_table *t, print p) {
    const unsigned n = stash_count(f);
    for (unsigned i = 0; i < n; i++) {
        const print q = stash_get(f, t, i);
        if (q.value == p.value && (q.bucket == p.bucket || q.bucket == p.other)) return i;
    }
    return STASH;
}

static bool stash_put(tamis_body *f, print p) {
    const unsigned n = stash_count(f);
    if (n == STASH) return false;
    tamis__put64(stash_at(f, n), p.bucket << f->word[FINGERPRINT] | p.value);
    return true;
}

static void stash_drop(tamis_body *f, unsigned i) {
    const unsigned last = stash_count(f) - 1;
    tamis__put64(stash_at(f, i), tamis__get64(stash_at(f, last)));
    tamis__put64(stash_at(f, last), 0);
}

static tamis_status audit(const tamis_body *f) {
    const tamis_table t = cells_of(f);
    const tamis_status rc = tamis__table_audit(&t);
    if (rc) return rc;
    const unsigned n = stash_count(f);
    for (unsigned i = 0; i < n; i++) {
        const print p = stash_get(f, &t, i);
        if (p.bucket >= t.buckets || p.value == 0)
            return tamis__fail(TAMIS_CORRUPT, "entry %u of the stash is not a fingerprint", i);
    }
    for (unsigned i = n; i < STASH; i++)
        if (tamis__get64(stash_at(f, i)))
            return tamis__fail(TAMIS_CORRUPT, "the stash has a gap before entry %u", i);
    if (tamis__used_of(f) != tamis__table_used(&t) + n ||
        tamis__used_of(f) > limit(f->word[BUCKETS]))
        return tamis__fail(TAMIS_CORRUPT, "cuckoo does not have the %llu fingerprints it claims",
                           (unsigned long long)tamis__used_of(f));
    return TAMIS_OK;
}

/* ---- Querying ------------------------------------------------------------------------------- */

TAMIS_HOT bool is_in_buckets(const tamis_table *t, print p) {
    const bool in_one = tamis__table_has(t, p.bucket, p.value);
    const bool in_other = tamis__table_has(t, p.other, p.value);
    return in_one | in_other;
}

/* No branch on the contents of buckets, which is unpredictable; the stash is nearly always
 * empty. */
TAMIS_HOT bool has_print(const tamis_body *f, const tamis_table *t, print p) {
    const bool is_there = is_in_buckets(t, p);
    return tamis__get64(stash_at(f, 0)) ? is_there || stash_find(f, t, p) < STASH : is_there;
}

static bool has(const tamis_body *f, uint64_t hash) {
    const tamis_table t = cells_of(f);
    return has_print(f, &t, print_of(&t, hash));
}

/* Both buckets are prefetched, because most queries need both. */
enum { GROUP = 64 };

static void query_plain(const tamis_table *table, const uint64_t *hash, size_t n, uint8_t *hit) {
    const tamis_table t = *table;
    const bool is_far = tamis__table_is_far(&t);
    print p[GROUP];
    for (size_t at = 0; at < n; at += GROUP) {
        const size_t m = n - at < GROUP ? n - at : GROUP;
        for (size_t i = 0; i < m; i++) {
            p[i] = print_of(&t, hash[at + i]);
            if (!is_far) continue;
            tamis__table_prefetch(&t, p[i].bucket);
            tamis__table_prefetch(&t, p[i].other);
        }
        for (size_t i = 0; i < m; i++) hit[at + i] = is_in_buckets(&t, p[i]);
    }
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const tamis_table t = cells_of(f);
    size_t done = 0;
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX512) done = tamis__cuckoo_query_avx512(&t, b.hash, b.n, hit);
#endif
    query_plain(&t, b.hash + done, b.n - done, hit + done);
    if (!tamis__get64(stash_at(f, 0))) return;
    for (size_t i = 0; i < b.n; i++) hit[i] |= stash_find(f, &t, print_of(&t, b.hash[i])) < STASH;
}

/* ---- Adding --------------------------------------------------------------------------------- */

TAMIS_HOT bool put_in(const tamis_table *t, uint64_t bucket, uint64_t value) {
    return tamis__table_replace(t, bucket, 0, value);
}

TAMIS_HOT bool put_down(const tamis_table *t, print p) {
    return put_in(t, p.bucket, p.value) || put_in(t, p.other, p.value);
}

/* The cells of a bucket, and where each could move. */
typedef struct moves {
    uint64_t value[SLOTS], to[SLOTS];
} moves;

TAMIS_HOT moves moves_from(const tamis_table *t, uint64_t bucket) {
    moves m;
    tamis__cells_read(t, SLOTS, bucket, m.value);
    for (unsigned i = 0; i < SLOTS; i++) m.to[i] = print_at(t, bucket, m.value[i]).other;
    return m;
}

/* Bit i: there is an empty cell where i could go; the lowest counts. All words are read, because a
 * branch at the first would be unpredictable; fetching other buckets takes longer. */
TAMIS_HOT unsigned which_end(const tamis_table *t, const moves *m) {
    unsigned ends = 0;
    for (unsigned i = 0; i < SLOTS && (t->ones || !ends); i++)
        ends |= (unsigned)tamis__table_has(t, m->to[i], 0) << i;
    return ends;
}

TAMIS_HOT void prefetch_moves(const tamis_table *t, const moves *m) {
    for (unsigned i = 0; i < SLOTS; i++) tamis__table_prefetch(t, m->to[i]);
}

/* A breadth-first search for the shortest path to a free cell: the two buckets of the new key, then
 * all that their fingerprints can move to, and so on. Shortest paths meet no bucket twice, so the
 * moves do not disturb each other; and it is deterministic, so the same adds make the same bytes.
 * In tables beyond the cache the moves of the next steps are prefetched before those of this one
 * are read. */
enum { MAX_STEPS = 500, STEPS_AHEAD = 2, STEPS_KNOWN = STEPS_AHEAD + 1 };

typedef struct step {
    uint64_t bucket;
    uint64_t value; /* would move here from the bucket of step `from`; first the new key */
    unsigned from;
} step;

/* Moves everything on the path one bucket further: `leaving` goes from the last step to a free cell
 * of bucket `to`, what came there takes its place, and so on back to the new key. */
TAMIS_HOT void go(const tamis_table *t, const step *steps, unsigned at, uint64_t leaving,
                  uint64_t to) {
    put_in(t, to, leaving);
    for (;;) {
        const step *s = &steps[at];
        tamis__table_replace(t, s->bucket, leaving, s->value);
        if (s->from == at) return;
        leaving = s->value;
        at = s->from;
    }
}

static bool make_way(const tamis_table table, const print *p) {
    const tamis_table *t = &table;
    step steps[MAX_STEPS];
    moves known[STEPS_KNOWN];
    const bool is_far = tamis__table_is_far(t);
    unsigned n = 0, next = 0;
    steps[n++] = (step){p->bucket, p->value, 0};
    steps[n++] = (step){p->other, p->value, 1};
    for (unsigned at = 0; at < n; at++) {
        const unsigned until = at && is_far ? at + STEPS_AHEAD : at;
        for (; next < n && next <= until; next++) {
            known[next % STEPS_KNOWN] = moves_from(t, steps[next].bucket);
            if (is_far) prefetch_moves(t, &known[next % STEPS_KNOWN]);
        }
        const moves *m = &known[at % STEPS_KNOWN];
        const unsigned ends = which_end(t, m);
        if (ends) {
            const unsigned i = (unsigned)__builtin_ctz(ends);
            go(t, steps, at, m->value[i], m->to[i]);
            return true;
        }
        for (unsigned i = 0; i < SLOTS && n < MAX_STEPS; i++)
            steps[n++] = (step){m->to[i], m->value[i], at};
    }
    return false;
}

/* The caller counts. */
static bool add_one(tamis_body *f, const tamis_table *t, print p) {
    return put_down(t, p) || make_way(*t, &p) || stash_put(f, p);
}

static bool is_all(const tamis_table *t, uint64_t bucket, uint64_t value) {
    uint64_t cell[SLOTS];
    tamis__bucket_read(t, bucket, cell);
    unsigned i = 0;
    while (i < SLOTS && cell[i] == value) i++;
    return i == SLOTS;
}

static tamis_status refuse(const tamis_body *f, const tamis_table *t, print p) {
    if (is_all(t, p.bucket, p.value) && is_all(t, p.other, p.value))
        return tamis__fail(TAMIS_FULL,
                           "cuckoo cannot add this key again: its two buckets hold nothing "
                           "but its fingerprint, and the stash is full");
    return tamis__fail(
        TAMIS_FULL,
        "cuckoo found no free cell for a key in %d steps at %llu of %llu fingerprints, "
        "and the stash is full",
        MAX_STEPS, (unsigned long long)tamis__used_of(f),
        (unsigned long long)limit(f->word[BUCKETS]));
}

/* ---- Removing ------------------------------------------------------------------------------- */

/* A cell became free: an entry of the stash may fit now. */
static void empty_stash(tamis_body *f, const tamis_table *t) {
    for (unsigned i = stash_count(f); i-- > 0;)
        if (put_down(t, stash_get(f, t, i))) stash_drop(f, i);
}

static bool remove_one(tamis_body *f, const tamis_table *t, print p) {
    if (tamis__table_replace(t, p.bucket, p.value, 0) ||
        tamis__table_replace(t, p.other, p.value, 0)) {
        empty_stash(f, t);
    } else {
        const unsigned i = stash_find(f, t, p);
        if (i == STASH) return false;
        stash_drop(f, i);
    }
    tamis__count_used(f, (uint64_t)-1);
    return true;
}

static tamis_status remove_hash(tamis_body *f, tamis_batch b) {
    const tamis_table t = cells_of(f);
    if (remove_one(f, &t, print_of(&t, *b.hash))) return TAMIS_OK;
    return tamis__fail(TAMIS_NOT_FOUND, "cuckoo has no such fingerprint");
}

/* Keys are added one by one, because the first decide where the others go. But their buckets are
 * prefetched, in two stages. While a table is less than half full, the first bucket nearly always
 * has room, and the other one is fetched only when it has not. Later both are, and when both are
 * full, the buckets to which the fingerprints of the first could move. */
enum { AHEAD = 32, HALF = AHEAD / 2 };

TAMIS_HOT print meet(const tamis_table *t, uint64_t hash, bool is_young) {
    print p = {0};
    if (is_young)
        p.bucket = tamis__split(hash, t->buckets, t->width, &p.value);
    else
        p = print_of(t, hash);
    if (!tamis__table_is_far(t)) return p;
    tamis__table_prefetch(t, p.bucket);
    if (!is_young) tamis__table_prefetch(t, p.other);
    return p;
}

TAMIS_HOT void prepare(const tamis_table *t, const print *p, bool is_young) {
    if (!tamis__table_is_far(t) || tamis__table_has(t, p->bucket, 0)) return;
    if (is_young) {
        tamis__table_prefetch(t, print_at(t, p->bucket, p->value).other);
    } else if (!tamis__table_has(t, p->other, 0)) {
        const moves m = moves_from(t, p->bucket);
        prefetch_moves(t, &m);
    }
}

TAMIS_HOT bool settle(const tamis_table *t, const print *met, bool is_young) {
    if (put_in(t, met->bucket, met->value)) return true;
    const print p = is_young ? print_at(t, met->bucket, met->value) : *met;
    return put_in(t, p.other, p.value) || make_way(*t, &p);
}

/* Adds to the buckets until all are in or one finds no free cell; returns how many are in. */
TAMIS_HOT size_t add_while(bool is_young, const tamis_table *table, const uint64_t *hash,
                           size_t n) {
    const tamis_table t = *table;
    print coming[AHEAD];
    for (size_t i = 0, next = 0; i < n; i++) {
        for (; next < n && next < i + AHEAD; next++)
            coming[next % AHEAD] = meet(&t, hash[next], is_young);
        if (i + HALF < n) prepare(&t, &coming[(i + HALF) % AHEAD], is_young);
        if (!settle(&t, &coming[i % AHEAD], is_young)) return i;
    }
    return n;
}

static size_t add_to_buckets(const tamis_table *t, uint64_t used, const uint64_t *hash, size_t n) {
    const uint64_t half = t->buckets * SLOTS / 2, left = used < half ? half - used : 0;
    const size_t young = left < n ? (size_t)left : n;
    const size_t done = add_while(true, t, hash, young);
    return done < young ? done : done + add_while(false, t, hash + done, n - done);
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    const tamis_table t = cells_of(f);
    size_t done = 0;
    for (;; done++) { /* from one that goes into the stash to the next */
        done += add_to_buckets(&t, tamis__used_of(f) + done, b.hash + done, b.n - done);
        if (done == b.n || !stash_put(f, print_of(&t, b.hash[done]))) break;
    }
    tamis__count_used(f, done);
    if (done == b.n) return TAMIS_OK;
    const tamis_status rc = refuse(f, &t, print_of(&t, b.hash[done]));
    while (done-- > 0) remove_one(f, &t, print_of(&t, b.hash[done]));
    return rc;
}

static uint64_t room(const tamis_body *f) {
    return limit(f->word[BUCKETS]) - tamis__used_of(f);
}

/* ---- One key -------------------------------------------------------------------------------- */

/* The table of a shape whose buckets are words, in a few instructions: everything that tamis__table
 * would decide is known. */
TAMIS_HOT tamis_table words_of(const tamis_body *f) {
    const unsigned width = (unsigned)f->word[FINGERPRINT];
    const uint64_t two = (uint64_t)1 << width | 1;
    return (tamis_table){
        .bytes = f->bytes + HEAD,
        .buckets = f->word[BUCKETS],
        .slots = SLOTS,
        .width = width,
        .bucket_bits = SLOTS * width,
        .ones = two << 2 * width | two,
        .last = f->size - HEAD - 8,
    };
}

static __attribute__((noinline)) bool add_by_moving(tamis_body *f, print p) {
    if (!make_way(cells_of(f), &p)) return false;
    tamis__count_used(f, 1);
    return true;
}

/* Into the first bucket with an empty cell, without a branch on which of them that is. */
TAMIS_HOT bool put_in_words(const tamis_table *t, print p) {
    const tamis_bucket one = tamis__bucket_at(t, p.bucket), other = tamis__bucket_at(t, p.other);
    const uint64_t in_one = tamis__equal_cells(t, one.word, 0);
    const uint64_t in_other = tamis__equal_cells(t, other.word, 0);
    if (!(in_one | in_other)) return false;
    const uint64_t empty = in_one ? in_one : in_other;
    const unsigned shift = in_one ? one.shift : other.shift;
    uint8_t *at = t->bytes + (in_one ? one.first : other.first);
    const unsigned cell = shift + (unsigned)__builtin_ctzll(empty) + 1 - t->width;
    tamis__put64(at, tamis__get64(at) | p.value << cell);
    return true;
}

/* While the first bucket nearly always has room, the other one is not fetched. */
static bool add_to_words(tamis_body *f, uint64_t hash) {
    const tamis_table t = words_of(f);
    const uint64_t used = tamis__used_of(f);
    if (used >= limit(t.buckets)) return false;
    print p;
    p.bucket = tamis__split(hash, t.buckets, t.width, &p.value);
    if (used >= t.buckets * SLOTS / 2 || !put_in(&t, p.bucket, p.value)) {
        p = print_at(&t, p.bucket, p.value);
        if (!put_in_words(&t, p)) return add_by_moving(f, p);
    }
    tamis__put64(f->bytes, used + 1);
    return true;
}

TAMIS_CUCKOO_HAS(tamis__either_word_has, tamis__either_word_has)
static tamis_cuckoo_has *const has_in_words[] = TAMIS_CUCKOO_HAS_LIST;

static tamis_one one(const uint64_t word[]) {
    const uint64_t width = word[FINGERPRINT];
    if (!table_of(word, NULL).ones) return (tamis_one){.has = has};
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX2)
        return (tamis_one){.has = tamis__cuckoo_has_avx2[width], .add = add_to_words};
#endif
    return (tamis_one){.has = has_in_words[width], .add = add_to_words};
}

/* ---- Listing and merging -------------------------------------------------------------------- */

/* The cells in order, then the stash; the cursor counts the cells visited. */
static bool next_print(const tamis_body *f, const tamis_table *t, uint64_t *cursor, print *p) {
    while (*cursor / SLOTS < t->buckets) {
        const uint64_t bucket = *cursor / SLOTS, slot = *cursor % SLOTS;
        uint64_t cell[SLOTS];
        tamis__bucket_read(t, bucket, cell);
        ++*cursor;
        if (!cell[slot]) continue;
        *p = print_at(t, bucket, cell[slot]);
        return true;
    }
    const uint64_t i = *cursor - t->buckets * SLOTS;
    if (i >= stash_count(f)) return false;
    *p = stash_get(f, t, (unsigned)i);
    ++*cursor;
    return true;
}

static bool next(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    const tamis_table t = cells_of(f);
    print p;
    if (!next_print(f, &t, cursor, &p)) return false;
    *hash = tamis__join(p.bucket, t.buckets, t.width, p.value);
    *count = 1;
    return true;
}

/* Removes the first `n` fingerprints of `from` again, in the order of next_print. */
static void unmerge(tamis_body *into, const tamis_table *t, const tamis_body *from, uint64_t n) {
    const tamis_table other = cells_of(from);
    uint64_t cursor = 0;
    print p;
    while (n-- > 0 && next_print(from, &other, &cursor, &p)) remove_one(into, t, p);
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    const tamis_table t = cells_of(into), other = cells_of(from);
    uint64_t cursor = 0, done = 0;
    print p;
    if (into->bytes == from->bytes)
        return tamis__fail(TAMIS_INVALID, "cuckoo cannot be merged with itself; copy it first");
    if (tamis__used_of(from) > room(into))
        return tamis__fail(TAMIS_FULL, "cuckoo has room for %llu fingerprints, not for %llu more",
                           (unsigned long long)room(into),
                           (unsigned long long)tamis__used_of(from));
    for (; next_print(from, &other, &cursor, &p); done++) {
        if (add_one(into, &t, p)) continue;
        tamis__count_used(into, done);
        const tamis_status rc = refuse(into, &t, p);
        unmerge(into, &t, from, done);
        return rc;
    }
    tamis__count_used(into, done);
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Walks what is stored and skips duplicates: an equal fingerprint in a cell, a bucket or the stash
 * that the walk has seen. */
typedef struct census {
    uint64_t distinct; /* fingerprints with a bucket of their own */
    uint64_t covered;  /* of all pairs of bucket and fingerprint, those that are answered yes */
} census;

static bool is_first(const tamis_body *f, const tamis_table *t, print p, uint64_t at) {
    const uint64_t cells = t->buckets * SLOTS;
    if (at >= cells) /* in the stash */
        return !is_in_buckets(t, p) && stash_find(f, t, p) == at - cells;
    uint64_t cell[SLOTS];
    tamis__bucket_read(t, p.bucket, cell);
    for (uint64_t i = 0; i < at % SLOTS; i++)
        if (cell[i] == p.value) return false;
    return p.other >= p.bucket || !tamis__table_has(t, p.other, p.value);
}

static void take_census(const tamis_body *f, const tamis_body *known, census *c) {
    const tamis_table t = cells_of(f), before = known ? cells_of(known) : t;
    uint64_t cursor = 0;
    print p;
    while (next_print(f, &t, &cursor, &p)) {
        if (!is_first(f, &t, p, cursor - 1) || (known && has_print(known, &before, p))) continue;
        c->distinct++;
        c->covered += 1 + (p.other != p.bucket);
    }
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    census c = {0, 0};
    take_census(f, NULL, &c);
    if (other) take_census(other, f, &c);
    const double pairs =
        (double)f->word[BUCKETS] * (double)tamis__field_mask((unsigned)f->word[FINGERPRINT]);
    out->bits = f->word[BUCKETS] * SLOTS;
    out->bits_set = other ? c.distinct : tamis__used_of(f);
    out->fpr = (double)c.covered / pairs;
    out->items = tamis__table_items(c.distinct, pairs / share(f->word[BUCKETS]));
    if (stash_count(f) < STASH) return;
    out->affected = STASH;
    snprintf(out->caveat, sizeof out->caveat,
             "the stash is full: an add may be refused before the capacity is reached");
}

const tamis_kind tamis__cuckoo = {
    .name = "cuckoo",
    .contract = "add and remove at any time; few bits at small rates; full at its capacity",
    .word = {"buckets", "fingerprint", "sort"},
    .options = options,
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
    .speed = &(const tamis_speed){.has = has, .one = one},
    .sets = &(const tamis_sets){.merge = merge},
};
