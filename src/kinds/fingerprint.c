/* SPDX-License-Identifier: MIT */
/* fingerprint: rows of bits with ids, searched by similarity (Swamidass and Baldi 2007).
 *
 * A fingerprint records which features a molecule, or any set, has: each feature sets a bit or a
 * few. Sets with most features in common have fingerprints with most bits in common, and a set that
 * contains another has all of its bits. So the bits alone answer two queries:
 *
 *     similar     common / either >= t          common = |a and b|, either = |a or b|
 *     screen      a is part of b                common = |a|
 *
 * No index knows the answer, but one rules out most rows: no row with B bits can be more similar to
 * a fingerprint with A bits than min(A,B)/max(A,B). Rows are sorted by their number of bits, so
 * that those that cannot match are skipped as two runs:
 *
 *     bits set      0 ... 40 | 41 ...... 84 | 85 ......        A = 59, t = 0.7
 *                   skipped  |  compared    |  skipped
 *
 * Of rows with B bits, those match that have at least ceil(t (A+B) / (1+t)) bits in common, one
 * number for all of them: comparing is and, count, compare. Long fingerprints also have a fold, the
 * xor of their pieces of 256 bits. Folds differ in no more bits than their fingerprints, and where
 * two fingerprints differ in D bits, (A+B-D)/2 are common; so a few bytes rule out most of the rest
 * (Baldi et al. 2008). The most similar are found from A outwards, until no remaining number of
 * bits could be better than the worst that is kept.
 *
 * The answers about fingerprints are exact. What they mean for molecules depends on the
 * features. */
#include "kinds/fingerprint.h"

#include "cpu/cpu.h"

enum { OPT_WIDTH, USUAL_WIDTH = 2048 };
#define MAX_ID_BYTES ((uint64_t)1 << 48)

static const struct tamis_option options[] = {
    {"width", NULL, 1, TAMIS_PRINT_MAX_BITS, "2048", "bits of each print"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/*     first[0 .. width+1]    u64   the first rank with at least this many bits; the last: all rows
 *     prints                       by rank, each in whole words
 *     folds                        by rank; only for widths over 512 bits
 *     row[rank], rank[row]   u32   input order by rank, and back
 *     end[row]               u64   where the id of a row ends, its NUL included
 *     ids                          in the order of rows */
typedef struct layout {
    uint64_t width, rows, stride;
    uint64_t prints, folds, row_of, rank_of, ends, ids, size; /* offsets */
    bool has_folds;
} layout;

static layout layout_of(const uint64_t word[]) {
    layout at = {.width = word[TAMIS_PRINT_WIDTH], .rows = word[TAMIS_PRINT_ROWS]};
    at.stride = tamis__fingerprint_stride(at.width);
    at.prints = (at.width + 2) * 8;
    at.folds = at.prints + at.rows * at.stride;
    at.has_folds = at.width >= TAMIS_FOLD_FROM_BITS;
    at.row_of = at.folds + (at.has_folds ? at.rows * TAMIS_FOLD_BYTES : 0);
    at.rank_of = at.row_of + at.rows * 4;
    at.ends = at.rank_of + at.rows * 4;
    at.ids = at.ends + at.rows * 8;
    at.size = at.ids + word[TAMIS_PRINT_IDS];
    return at;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[TAMIS_PRINT_WIDTH] = tamis__chosen(params, OPT_WIDTH, USUAL_WIDTH);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const uint64_t width = word[TAMIS_PRINT_WIDTH], rows = word[TAMIS_PRINT_ROWS];
    if (!tamis__may_have("a fingerprint", width, "bits", 1, TAMIS_PRINT_MAX_BITS))
        return TAMIS_CORRUPT;
    if (rows > TAMIS_PRINT_MAX_ROWS)
        return tamis__fail(TAMIS_CORRUPT, "there are at most %llu rows, not %llu",
                           (unsigned long long)TAMIS_PRINT_MAX_ROWS, (unsigned long long)rows);
    const uint64_t ids = word[TAMIS_PRINT_IDS];
    if (ids < rows || ids > MAX_ID_BYTES || (rows == 0 && ids))
        return tamis__fail(TAMIS_CORRUPT, "%llu rows cannot have ids of %llu bytes",
                           (unsigned long long)rows, (unsigned long long)ids);
    *size = layout_of(word).size;
    return TAMIS_OK;
}

/* ---- Access --------------------------------------------------------------------------------- */

static uint64_t first_with(const tamis_body *f, uint64_t bits) {
    return tamis__get64(f->bytes + bits * 8);
}

static void set_first(tamis_body *f, uint64_t bits, uint64_t rank) {
    tamis__put64(f->bytes + bits * 8, rank);
}

static uint64_t row_of(const tamis_body *f, const layout *at, uint64_t rank) {
    return tamis__get32(f->bytes + at->row_of + rank * 4);
}

static uint64_t rank_of(const tamis_body *f, const layout *at, uint64_t row) {
    return tamis__get32(f->bytes + at->rank_of + row * 4);
}

static uint64_t id_start(const tamis_body *f, const layout *at, uint64_t row) {
    return row ? tamis__get64(f->bytes + at->ends + (row - 1) * 8) : 0;
}

static const uint8_t *print_of(const tamis_body *f, const layout *at, uint64_t rank) {
    return f->bytes + at->prints + rank * at->stride;
}

static const uint8_t *fold_of(const tamis_body *f, const layout *at, uint64_t rank) {
    return f->bytes + at->folds + rank * TAMIS_FOLD_BYTES;
}

void tamis__fingerprints_at(const tamis_body *f, uint64_t row, const char **id,
                            const uint8_t **print) {
    const layout at = layout_of(f->word);
    *id = (const char *)f->bytes + at.ids + id_start(f, &at, row);
    *print = print_of(f, &at, rank_of(f, &at, row));
}

/* ---- Filling -------------------------------------------------------------------------------- */

/* The number of rows with a given number of bits is counted one place after it, so that the sums of
 * these numbers are where each starts; placing a row advances that start to the next. */
void tamis__fingerprints_tally(tamis_body *f, uint64_t set_bits) {
    set_first(f, set_bits + 1, first_with(f, set_bits + 1) + 1);
}

void tamis__fingerprints_open(tamis_body *f) {
    for (uint64_t bits = 1; bits <= f->word[TAMIS_PRINT_WIDTH] + 1; bits++)
        set_first(f, bits, first_with(f, bits) + first_with(f, bits - 1));
}

uint8_t *tamis__fingerprints_place(tamis_body *f, uint64_t row, uint64_t set_bits, const void *id,
                                   uint64_t id_len) {
    const layout at = layout_of(f->word);
    const uint64_t rank = first_with(f, set_bits), start = id_start(f, &at, row);
    set_first(f, set_bits, rank + 1);
    tamis__put32(f->bytes + at.row_of + rank * 4, (uint32_t)row);
    tamis__put32(f->bytes + at.rank_of + row * 4, (uint32_t)rank);
    tamis__put64(f->bytes + at.ends + row * 8, start + id_len + 1);
    memcpy(f->bytes + at.ids + start, id, (size_t)id_len);
    return f->bytes + at.prints + rank * at.stride;
}

void tamis__fingerprints_close(tamis_body *f) {
    for (uint64_t bits = f->word[TAMIS_PRINT_WIDTH]; bits > 0; bits--)
        set_first(f, bits, first_with(f, bits - 1));
    set_first(f, 0, 0);
    const layout at = layout_of(f->word);
    for (uint64_t rank = 0; at.has_folds && rank < at.rows; rank++)
        tamis__fingerprint_fold(print_of(f, &at, rank), at.stride,
                                f->bytes + at.folds + rank * TAMIS_FOLD_BYTES);
}

/* ---- The gate ------------------------------------------------------------------------------- */

static tamis_status audit_starts(const tamis_body *f, const layout *at) {
    if (first_with(f, 0) != 0 || first_with(f, at->width + 1) != at->rows)
        return tamis__fail(TAMIS_CORRUPT, "the rows do not start at row 0 and end at row %llu",
                           (unsigned long long)at->rows);
    for (uint64_t bits = 0; bits <= at->width; bits++)
        if (first_with(f, bits) > first_with(f, bits + 1))
            return tamis__fail(TAMIS_CORRUPT, "rows with %llu bits end before they start",
                               (unsigned long long)bits);
    return TAMIS_OK;
}

static bool is_clean(const uint8_t *print, const layout *at) {
    const uint64_t in_last = at->width % 64;
    return in_last == 0 || tamis__get64(print + at->stride - 8) >> in_last == 0;
}

static bool is_folded(const tamis_body *f, const layout *at, uint64_t rank) {
    uint8_t fold[TAMIS_FOLD_BYTES];
    if (!at->has_folds) return true;
    tamis__fingerprint_fold(print_of(f, at, rank), at->stride, fold);
    return memcmp(fold, fold_of(f, at, rank), sizeof fold) == 0;
}

/* Rows with equal numbers of bits are in input order; row and rank are inverse, so that no row is
 * missing. */
static tamis_status audit_rows(const tamis_body *f, const layout *at, uint64_t bits) {
    const uint64_t end = first_with(f, bits + 1);
    for (uint64_t rank = first_with(f, bits), before = 0; rank < end; rank++) {
        const uint64_t row = row_of(f, at, rank);
        const uint8_t *print = print_of(f, at, rank);
        if (row >= at->rows || rank_of(f, at, row) != rank || (before && row < before))
            return tamis__fail(TAMIS_CORRUPT, "the order of rows is broken at rank %llu",
                               (unsigned long long)rank);
        if (!is_clean(print, at) || tamis__fingerprint_set_bits(print, at->stride) != bits)
            return tamis__fail(TAMIS_CORRUPT, "fingerprint %llu has the wrong number of bits",
                               (unsigned long long)rank);
        if (!is_folded(f, at, rank))
            return tamis__fail(TAMIS_CORRUPT, "the fold of fingerprint %llu is wrong",
                               (unsigned long long)rank);
        before = row + 1;
    }
    return TAMIS_OK;
}

static tamis_status audit_ids(const tamis_body *f, const layout *at) {
    const uint64_t bytes = f->word[TAMIS_PRINT_IDS];
    uint64_t from = 0;
    for (uint64_t row = 0; row < at->rows; row++) {
        const uint64_t end = id_start(f, at, row + 1);
        bool is_good = end > from && end <= bytes && f->bytes[at->ids + end - 1] == 0;
        for (uint64_t i = from; is_good && i + 1 < end; i++)
            is_good = f->bytes[at->ids + i] >= TAMIS_PRINT_MIN_LETTER;
        if (!is_good)
            return tamis__fail(TAMIS_CORRUPT, "the id of row %llu is not text",
                               (unsigned long long)row);
        from = end;
    }
    if (from == bytes) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT, "extra bytes after the last id");
}

static tamis_status audit(const tamis_body *f) {
    const layout at = layout_of(f->word);
    tamis_status rc = audit_starts(f, &at);
    for (uint64_t bits = 0; !rc && bits <= at.width; bits++) rc = audit_rows(f, &at, bits);
    return rc ? rc : audit_ids(f, &at);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static void common_plain(const uint8_t *rows, size_t n, uint64_t stride, const uint8_t *print,
                         uint32_t *common) {
    tamis__fingerprint_common(rows, n, stride, print, common);
}

static void apart_plain(const uint8_t *folds, size_t n, const uint8_t *fold, uint32_t *apart) {
    tamis__fingerprint_apart(folds, n, fold, apart);
}

/* The nearest double: 7/10 equals a typed 0.7, because that was rounded likewise. */
static double ratio(uint64_t common, uint64_t either) {
    return either ? (double)common / (double)either : 1;
}

static uint64_t min_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The least number of common bits of fingerprints with a and b bits; more than they can have when
 * nothing is enough. The ratio never falls as `common` grows, so the search starts a little
 * below. */
static uint64_t needed(uint64_t a, uint64_t b, double min) {
    const uint64_t max = min_of(a, b);
    const uint64_t about = (uint64_t)(min * (double)(a + b) / (1 + min));
    uint64_t common = about > 2 ? about - 2 : 0;
    while (common <= max && ratio(common, a + b - common) < min) common++;
    return common;
}

/* A running search. */
typedef struct scan {
    const tamis_body *f;
    layout at;
    const tamis_fingerprint_query *query;
    uint8_t fold[TAMIS_FOLD_BYTES]; /* of the query */
    tamis_fingerprint_kernel *common;
    tamis_fold_kernel *apart;
    struct tamis_search_stats *searched;
    tamis_match_fn *take;
    void *ctx;
} scan;

static scan scan_for(const tamis_body *f, const tamis_fingerprint_query *query,
                     struct tamis_search_stats *searched, tamis_match_fn *take, void *ctx) {
    scan s = {.f = f, .at = layout_of(f->word), .query = query, .searched = searched};
    s.common = common_plain;
    s.apart = apart_plain;
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX2) {
        s.common = tamis__fingerprint_common_avx2;
        s.apart = tamis__fingerprint_apart_avx2;
    }
    if (tamis__cpu() & TAMIS_CPU_AVX512) s.common = tamis__fingerprint_common_avx512;
#endif
    s.take = take;
    s.ctx = ctx;
    tamis__fingerprint_fold(query->bytes, s.at.stride, s.fold);
    return s;
}

/* Rows that are compared at once: their counts stay in the first-level cache. */
enum { GROUP = 256 };

/* Which of n rows with `bits` bits may have `need` bits in common, by their folds. */
static size_t pick(const scan *s, uint64_t rank, size_t n, uint64_t bits, uint64_t need,
                   uint16_t *picked) {
    uint32_t apart[GROUP];
    const uint64_t both = s->query->set + bits;
    const uint64_t max = both - 2 * need; /* need is at most the smaller of the two */
    size_t count = 0;
    s->apart(fold_of(s->f, &s->at, rank), n, s->fold, apart);
    for (size_t i = 0; i < n; i++) {
        picked[count] = (uint16_t)i;
        count += apart[i] <= max;
    }
    return count;
}

static bool offer(const scan *s, uint64_t rank, uint64_t bits, uint32_t common) {
    const uint32_t either = (uint32_t)(s->query->set + bits - common);
    const struct tamis_match match = {row_of(s->f, &s->at, rank), common, either,
                                      ratio(common, either)};
    return s->take(s->ctx, &match);
}

static bool compare_all(const scan *s, uint64_t rank, size_t n, uint64_t bits, uint64_t need) {
    uint32_t common[GROUP];
    s->common(print_of(s->f, &s->at, rank), n, s->at.stride, s->query->bytes, common);
    s->searched->rows_compared += n;
    for (size_t i = 0; i < n; i++)
        if (common[i] >= need && !offer(s, rank + i, bits, common[i])) return false;
    return true;
}

static bool compare_picked(const scan *s, uint64_t rank, const uint16_t *picked, size_t n,
                           uint64_t bits, uint64_t need) {
    for (size_t i = 0; i < n; i++)
        if (!compare_all(s, rank + picked[i], 1, bits, need)) return false;
    return true;
}

/* Compares the rows with `bits` bits. Where folds let most rows pass, as for low similarities, they
 * are not used again. */
static bool compare(const scan *s, uint64_t bits, uint64_t need) {
    uint16_t picked[GROUP];
    bool folds = s->at.has_folds;
    const uint64_t end = first_with(s->f, bits + 1);
    for (uint64_t rank = first_with(s->f, bits), n; rank < end; rank += n) {
        n = min_of(end - rank, GROUP);
        const size_t left = folds ? pick(s, rank, (size_t)n, bits, need, picked) : (size_t)n;
        if (left > n / 4) {
            folds = false;
            if (!compare_all(s, rank, (size_t)n, bits, need)) return false;
            continue;
        }
        s->searched->rows_folded += n - left;
        if (!compare_picked(s, rank, picked, left, bits, need)) return false;
    }
    return true;
}

static bool similar(const tamis_body *f, const tamis_fingerprint_query *query, double min,
                    tamis_match_fn *take, void *ctx, struct tamis_search_stats *searched) {
    const scan s = scan_for(f, query, searched, take, ctx);
    for (uint64_t bits = 0; bits <= s.at.width; bits++) {
        const uint64_t rows = first_with(f, bits + 1) - first_with(f, bits);
        if (rows == 0) continue;
        const uint64_t need = needed(query->set, bits, min);
        if (need > min_of(query->set, bits))
            searched->rows_skipped += rows;
        else if (!compare(&s, bits, need))
            return false;
    }
    return true;
}

/* Rows that fail do so in their first words: stopping there beats any kernel that reads on. */
static bool contains(const uint8_t *row, const uint8_t *print, uint64_t stride) {
    for (uint64_t at = 0; at < stride; at += 8)
        if (tamis__get64(print + at) & ~tamis__get64(row + at)) return false;
    return true;
}

static bool screen(const tamis_body *f, const tamis_fingerprint_query *query, tamis_match_fn *take,
                   void *ctx, struct tamis_search_stats *searched) {
    const layout at = layout_of(f->word);
    searched->rows_skipped = first_with(f, query->set);
    searched->rows_compared = at.rows - searched->rows_skipped;
    for (uint64_t bits = query->set; bits <= at.width; bits++)
        for (uint64_t rank = first_with(f, bits), end = first_with(f, bits + 1); rank < end;
             rank++) {
            if (!contains(print_of(f, &at, rank), query->bytes, at.stride)) continue;
            const struct tamis_match match = {row_of(f, &at, rank), (uint32_t)query->set,
                                              (uint32_t)bits, ratio(query->set, bits)};
            if (!take(ctx, &match)) return false;
        }
    return true;
}

/* ---- The nearest ---------------------------------------------------------------------------- */

/* Which of two ratios is larger, exactly: below 0, 0, above 0. 0/0 counts as 1. */
static int compare_ratios(uint64_t common, uint64_t either, uint64_t common2, uint64_t either2) {
    const uint64_t x = either ? common * (either2 ? either2 : 1) : either2 ? either2 : 1;
    const uint64_t y = either2 ? common2 * (either ? either : 1) : either ? either : 1;
    return (x > y) - (x < y);
}

static bool is_better(const struct tamis_match *a, const struct tamis_match *b) {
    const int order = compare_ratios(a->common, a->either, b->common, b->either);
    return order > 0 || (order == 0 && a->row < b->row);
}

/* A heap with the worst at its top. */
typedef struct best {
    struct tamis_match *match;
    size_t n, room;
} best;

static void sink(const best *b, size_t i, size_t n) {
    const struct tamis_match moving = b->match[i];
    for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_better(&b->match[child], &b->match[child + 1])) child++;
        if (!is_better(&moving, &b->match[child])) break;
        b->match[i] = b->match[child];
        i = child;
    }
    b->match[i] = moving;
}

static void rise(const best *b, size_t i) {
    const struct tamis_match moving = b->match[i];
    for (; i > 0 && is_better(&b->match[(i - 1) / 2], &moving); i = (i - 1) / 2)
        b->match[i] = b->match[(i - 1) / 2];
    b->match[i] = moving;
}

static bool keep_best(void *ctx, const struct tamis_match *match) {
    best *b = ctx;
    if (b->n < b->room) {
        b->match[b->n] = *match;
        rise(b, b->n++);
    } else if (is_better(match, &b->match[0])) {
        b->match[0] = *match;
        sink(b, 0, b->n);
    }
    return true;
}

/* Removing the worst repeatedly leaves the best in front. */
static void sort_best(const best *b) {
    for (size_t n = b->n; n > 1; n--) {
        const struct tamis_match worst = b->match[0];
        b->match[0] = b->match[n - 1];
        b->match[n - 1] = worst;
        sink(b, 0, n - 1);
    }
}

/* Numbers of bits from that of the query outwards, the better bound first. `below` is one more than
 * the next below, and 0 when there is none. */
static uint64_t next_number(uint64_t set, uint64_t width, uint64_t *below, uint64_t *above) {
    const uint64_t down = *below - 1;
    if (*below && (*above > width || down * *above >= set * set)) return --*below;
    return (*above)++;
}

/* What it takes to be as good as the worst that is kept, once there are enough. */
static uint64_t needed_now(const best *b, uint64_t set, uint64_t bits, double min) {
    const uint64_t need = needed(set, bits, min);
    if (b->n < b->room) return need;
    const uint64_t common = b->match[0].either ? b->match[0].common : 1;
    const uint64_t either = b->match[0].either ? b->match[0].either : 1;
    const uint64_t better = (common * (set + bits) + common + either - 1) / (common + either);
    return better > need ? better : need;
}

static size_t nearest(const tamis_body *f, const tamis_fingerprint_query *query, double min,
                      struct tamis_match *matches, size_t room,
                      struct tamis_search_stats *searched) {
    best b = {matches, 0, room};
    const scan s = scan_for(f, query, searched, keep_best, &b);
    const uint64_t width = s.at.width;
    for (uint64_t below = query->set + 1, above = query->set + 1;
         room && (below || above <= width);) {
        const uint64_t bits = next_number(query->set, width, &below, &above);
        const uint64_t low = min_of(query->set, bits), high = query->set + bits - low;
        if (ratio(low, high) < min) break;
        if (b.n == room && compare_ratios(low, high, matches[0].common, matches[0].either) < 0)
            break;
        compare(&s, bits, needed_now(&b, query->set, bits, min));
    }
    searched->rows_skipped = s.at.rows - searched->rows_compared - searched->rows_folded;
    sort_best(&b);
    return b.n;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    (void)other;
    const uint64_t width = f->word[TAMIS_PRINT_WIDTH], rows = f->word[TAMIS_PRINT_ROWS];
    for (uint64_t bits = 0; bits <= width; bits++)
        out->bits_set += bits * (first_with(f, bits + 1) - first_with(f, bits));
    out->bits = rows ? rows * width : 1;
    out->fpr = 1;
    out->items.value = (double)rows;
}

static const tamis_fingerprint_facet prints = {
    .made = 1u << TAMIS_PRINT_ROWS | 1u << TAMIS_PRINT_IDS,
    .at = tamis__fingerprints_at,
    .similar = similar,
    .nearest = nearest,
    .screen = screen,
};

const tamis_kind tamis__fingerprint = {
    .name = TAMIS_FINGERPRINT,
    .contract = "finds every print that is similar enough, and all that contain another",
    .word = {"width", "rows", "id_bytes"},
    .options = options,
    .plan = plan,
    .check = check,
    .probes = tamis__one_probe,
    .rate = tamis__always_maybe,
    .audit = audit,
    .measure = measure,
    .sizing = &(const tamis_sizing){.is_sized = tamis__always_sized},
    .special = &(const tamis_special){.prints = &prints},
};
