/* SPDX-License-Identifier: MIT */
/* Bulk adds to a filter larger than the caches: see bulk.h. */
#include "core/bulk.h"

#include <stdatomic.h>
#include <string.h>

#include "bits/bits.h"
#include "core/workers.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Measured with blocked on one core of an Ice Lake (L2 1.25 MiB, memory at 95 ns), large pages, in
 * ns per hash, directly and by bins: 12 MiB of payload 5.9 and 5.8, 36 MiB 12.4 and 6.2, 120 MiB
 * 14.5 and 6.8; while others use the memory too, 8 MiB 16 and 16, 12 MiB 14 and 11. With few keys,
 * 128 per KiB: 16 MiB 13.8 and 11.8. Slices of 128, 256 and 512 KiB differ by 5 %; bins of half the
 * payload's size cost 10 % more than bins of all of it, a quarter 30 %. The numbers are for small
 * builds; others ask for the caches. */
const tamis_bulk_rule tamis__bulk_rule = {
    .min_payload = (uint64_t)12 << 20,
    .min_shared = (uint64_t)4 << 20,
    .keys_per_kib = 128,
    .min_deep = 1024,
    .slice = 256 << 10,
    .max_bits = 11,
    .max_scratch = (uint64_t)1 << 30,
    .piece = 1 << 16,
    .fits_machine = true,
};

/* Hashes of a bin that wait in cache: two cache lines. With one, the branch on a full line is
 * mispredicted twice as often: 3.1 ns per hash instead of 2.5. */
enum { LINE = 16 };
enum { MAX_THREADS = 64 };

/* The bins of one thread. */
typedef struct bins {
    uint64_t *line;  /* LINE hashes per bin: the last ones, not in `deep` yet */
    uint64_t *deep;  /* room for `room` hashes per bin */
    uint32_t *count; /* hashes in each bin */
} bins;

struct tamis_bulk {
    tamis *filter;
    tamis_block block;
    unsigned bits, threads;
    uint64_t room; /* hashes per bin: an odd number of lines, so bins start in all cache sets */
    size_t piece;
    pthread_mutex_t *lock; /* one more than bins; NULL with one thread */
    bins own[MAX_THREADS];
};

/* ---- Opening and closing -------------------------------------------------------------------- */

#ifdef TAMIS_PLAIN
static const tamis_bulk_rule *fitted(const tamis_bulk_rule *rule, unsigned threads,
                                     tamis_bulk_rule *room) {
    (void)threads, (void)room;
    return rule;
}
#else
/* AMD's cores with AVX-512 keep so many misses in flight that bins never pay with one thread: ns
 * per hash directly and by bins, Zen 5 with 32 MiB of third cache, large pages: 12 MiB 1.9 and 3.0,
 * 36 MiB 2.8 and 3.2, 120 MiB 3.3 and 4.2; with small pages 2.6 and 3.9, 3.6 and 4.4, 4.5 and 4.4.
 * Within the third cache two threads by bins take longer than one directly: at 12 MiB 2.5 ns of the
 * clock and 1.4, on processors that others use too. */
static const tamis_bulk_rule *fitted(const tamis_bulk_rule *rule, unsigned threads,
                                     tamis_bulk_rule *room) {
    if (!rule->fits_machine) return rule;
    const bool is_quick = tamis__cpu() & TAMIS_CPU_PRODUCTS;
    const uint64_t half = tamis__cache(TAMIS_CACHE_3) / 2;
    *room = *rule;
    room->slice = tamis__cache(TAMIS_CACHE_2) / 4;
    room->min_payload = is_quick ? UINT64_MAX : half;
    if (is_quick && threads <= 2) room->min_shared = half;
    return room;
}
#endif

typedef struct plan {
    unsigned bits, threads;
    uint64_t room;
} plan;

static uint64_t smallest(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t lines_bytes(const plan *p) {
    return ((uint64_t)LINE * sizeof(uint64_t) + sizeof(uint32_t)) << p->bits;
}

static uint64_t locks_bytes(const plan *p) {
    const uint64_t all = (((uint64_t)1 << p->bits) + 1) * sizeof(pthread_mutex_t);
    return p->threads > 1 ? all : 0;
}

/* Rounded up, so that bins start at a cache line. */
static uint64_t front_bytes(const plan *p) {
    return (sizeof(tamis_bulk) + locks_bytes(p) + TAMIS_ALIGNMENT - 1) &
           ~((uint64_t)TAMIS_ALIGNMENT - 1);
}

static uint64_t plan_bytes(const plan *p) {
    const uint64_t each = lines_bytes(p) + (p->room * sizeof(uint64_t) << p->bits);
    return front_bytes(p) + p->threads * (each + 2 * TAMIS_ALIGNMENT);
}

/* A slice has several units, so that only neighbouring slices can share one. */
static bool choose_bits(const tamis *f, const tamis_bulk_rule *rule, plan *p) {
    const uint64_t size = f->image.body.size;
    p->bits = 1;
    while (p->bits < rule->max_bits && size >> p->bits > rule->slice) p->bits++;
    return size >> p->bits >= 4 * TAMIS_ENTRY(f->kind, speed, unit);
}

static bool pays(const tamis *f, uint64_t n, unsigned threads, const tamis_bulk_rule *rule) {
    const uint64_t size = f->image.body.size;
    const uint64_t min = threads > 1 ? rule->min_shared : rule->min_payload;
    return TAMIS_ENTRY(f->kind, speed, unit) && !f->kind->room && size >= min &&
           n >= size / 1024 * rule->keys_per_kib;
}

/* The bins of all threads together take about as much memory as the payload. */
static void choose_room(const tamis *f, uint64_t n, uint64_t memory, const tamis_bulk_rule *rule,
                        plan *p) {
    const uint64_t besides = plan_bytes(p);
    uint64_t scratch = smallest(f->image.body.size, rule->max_scratch);
    scratch = smallest(scratch, memory > besides ? memory - besides : 0);
    if (n < UINT64_MAX / 16) scratch = smallest(scratch, n * 9); /* bins fill unevenly */
    const uint64_t lines = (scratch / sizeof(uint64_t) / p->threads >> p->bits) / LINE;
    p->room = lines ? ((lines - 1) | 1) * LINE : 0;
}

/* Uses fewer threads where memory is too small for all. */
static bool choose(const tamis *f, uint64_t n, uint64_t memory, unsigned threads,
                   const tamis_bulk_rule *rule, plan *p) {
    for (threads = threads < MAX_THREADS ? threads : MAX_THREADS;; threads /= 2) {
        *p = (plan){.threads = threads ? threads : 1};
        if (!pays(f, n, p->threads, rule) || !choose_bits(f, rule, p)) return false;
        choose_room(f, n, memory, rule, p);
        if (p->room >= rule->min_deep && p->room < UINT32_MAX) return true;
        if (p->threads == 1) return false;
    }
}

static uint8_t *rounded(uint8_t *p) {
    const uintptr_t past = (uintptr_t)p % TAMIS_ALIGNMENT;
    return p + (past ? TAMIS_ALIGNMENT - past : 0);
}

static void lay_out(tamis_bulk *b, const plan *p, uint8_t *memory) {
    const size_t count = (size_t)1 << p->bits;
    uint8_t *at = memory + front_bytes(p);
    b->lock = p->threads > 1 ? (pthread_mutex_t *)(void *)(b + 1) : NULL;
    for (size_t i = 0; b->lock && i <= count; i++) pthread_mutex_init(&b->lock[i], NULL);
    for (unsigned t = 0; t < p->threads; t++) {
        bins *own = &b->own[t];
        own->deep = (uint64_t *)(void *)at;
        at += count * p->room * sizeof *own->deep;
        own->line = (uint64_t *)(void *)at;
        at += count * LINE * sizeof *own->line;
        own->count = (uint32_t *)(void *)at;
        at = rounded(at + count * sizeof *own->count);
    }
}

tamis_bulk *tamis__bulk_open(tamis *f, uint64_t n, uint64_t memory, unsigned threads,
                             const tamis_bulk_rule *rule) {
    plan p;
    tamis_block block;
    tamis_bulk_rule room;
    rule = fitted(rule, threads, &room);
    if (!choose(f, n, memory, threads, rule, &p)) return NULL;
    uint8_t *at = tamis__get(&f->allocator, plan_bytes(&p), &block);
    if (!at) return NULL;
    tamis_bulk *b = (tamis_bulk *)(void *)at;
    b->filter = f;
    b->block = block;
    b->bits = p.bits;
    b->threads = p.threads;
    b->room = p.room;
    b->piece = rule->piece;
    lay_out(b, &p, at);
    return b;
}

void tamis__bulk_free(tamis_bulk *b) {
    if (!b) return;
    tamis_block block = b->block;
    for (size_t i = 0; b->lock && i <= (size_t)1 << b->bits; i++)
        pthread_mutex_destroy(&b->lock[i]);
    tamis__block_free(&b->filter->allocator, &block);
}

uint64_t tamis__bulk_memory(const tamis_bulk *b) {
    return b ? b->block.size : 0;
}

/* ---- From bins to the payload --------------------------------------------------------------- */

/* Neighbouring slices may share the unit at their border. Each lock guards the border before the
 * slice of the same number: a thread that holds both borders is alone in the slice. */
static void lock(tamis_bulk *b, size_t bin) {
    if (!b->lock) return;
    pthread_mutex_lock(&b->lock[bin]);
    pthread_mutex_lock(&b->lock[bin + 1]);
}

static void unlock(tamis_bulk *b, size_t bin) {
    if (!b->lock) return;
    pthread_mutex_unlock(&b->lock[bin + 1]);
    pthread_mutex_unlock(&b->lock[bin]);
}

static void drain(tamis_bulk *b, bins *own, size_t bin) {
    tamis_body *body = &b->filter->image.body;
    const size_t n = own->count[bin], last = n % LINE;
    if (n == 0) return;
    lock(b, bin);
    if (n > last) b->filter->kind->add(body, tamis__hashes(own->deep + bin * b->room, n - last));
    if (last) b->filter->kind->add(body, tamis__hashes(own->line + bin * LINE, last));
    unlock(b, bin);
    own->count[bin] = 0;
}

/* ---- From keys to bins ---------------------------------------------------------------------- */

/* Writes a full line past the caches: it is not read before its bin is full. */
TAMIS_HOT void write_line(uint64_t *to, const uint64_t *line) {
#ifdef __SSE2__
    for (unsigned i = 0; i < LINE; i += 2)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_load_si128((const __m128i *)(const void *)(line + i)));
#else
    memcpy(to, line, LINE * sizeof *to);
#endif
}

/* Makes these writes visible to other threads. */
static void end_writing(void) {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static void scatter(tamis_bulk *b, bins *own, const uint64_t *hash, size_t n) {
    const unsigned shift = 64 - b->bits;
    uint64_t *const line = own->line;
    uint32_t *const count = own->count;
    for (size_t i = 0; i < n; i++) {
        const size_t bin = (size_t)(hash[i] >> shift);
        const uint32_t at = count[bin];
        line[bin * LINE + at % LINE] = hash[i];
        count[bin] = at + 1;
        if (at % LINE < LINE - 1) continue;
        write_line(own->deep + bin * b->room + at + 1 - LINE, line + bin * LINE);
        if (at + 1 == b->room) drain(b, own, bin);
    }
}

static void put_some(tamis_bulk *b, bins *own, tamis_keys keys, size_t from, size_t n) {
    uint64_t room[TAMIS_BATCH];
    for (size_t i = 0, m; i < n; i += m) {
        m = tamis__batch_of(b->filter, n - i);
        scatter(b, own, tamis__hashes_of(b->filter, keys, from + i, m, room), m);
    }
}

/* ---- Threads -------------------------------------------------------------------------------- */

typedef struct work {
    tamis_workers workers;
    tamis_bulk *b;
    tamis_keys keys;
    size_t n;
    atomic_size_t next;
    atomic_uint seats;
} work;

static void put_pieces(void *ctx) {
    work *w = ctx;
    const size_t piece = w->b->piece;
    bins *own = &w->b->own[atomic_fetch_add(&w->seats, 1)];
    for (size_t at; (at = atomic_fetch_add(&w->next, piece)) < w->n;)
        put_some(w->b, own, w->keys, at, w->n - at < piece ? w->n - at : piece);
    end_writing();
}

void tamis__bulk_put(tamis_bulk *b, tamis_keys keys, size_t n) {
    if (b->threads == 1 || n <= b->piece) {
        put_some(b, &b->own[0], keys, 0, n);
        end_writing();
        return;
    }
    work w = {.b = b, .keys = keys, .n = n};
    tamis__workers_run(&w.workers, b->threads, put_pieces, &w);
}

static void drain_bins(void *ctx) {
    work *w = ctx;
    tamis_bulk *b = w->b;
    for (size_t bin; (bin = atomic_fetch_add(&w->next, 1)) < w->n;)
        for (unsigned t = 0; t < b->threads; t++) drain(b, &b->own[t], bin);
}

void tamis__bulk_close(tamis_bulk *b) {
    if (!b) return;
    work w = {.b = b, .n = (size_t)1 << b->bits};
    tamis__workers_run(&w.workers, b->threads, drain_bins, &w);
    tamis__bulk_free(b);
}

bool tamis__bulk_add(tamis *f, tamis_keys keys, size_t n, const tamis_bulk_rule *rule) {
    tamis_bulk *b = tamis__bulk_open(f, n, UINT64_MAX, f->threads, rule);
    if (!b) return false;
    tamis__bulk_put(b, keys, n);
    tamis__bulk_close(b);
    return true;
}
