/* SPDX-License-Identifier: MIT */
/* One event: everything is built, checked, and then queried in rounds. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/bench.h"

const char *const question_names[QUESTIONS] = {"miss", "mixed", "hit", "chase"};

enum { MAX_THREADS = 64, CHECK_KEYS = 1 << 20, CHECK_CHUNK = 1 << 14 };

/* ---- Shared filters -------------------------------------------------------------------------- */

static bool takes_part(const struct event *e, const struct contestant *c) {
    const bool is_bulk = !strcmp(way_of(c), "bulk");
    if (c->side == FLOOR && !strcmp(c->name, floor_line) && e->threads > 1) return false;
    if (c->side == OURS && is_bulk && e->threads == 1) return false; /* the same as batch */
    if (e->key_bytes == 8) return true;
    return c->calls->has_strings && (c->calls->build_strings || c->side != PEER);
}

static bool builds_alike(const struct contestant *a, const struct contestant *b) {
    if (a->side != b->side) return false;
    if (a->side == FLOOR) return true;
    if (a->side == OURS) return ours_are_built_alike(a, b);
    return a->calls->build == b->calls->build && a->calls->free == b->calls->free;
}

static void share_filters(struct event *e) {
    for (size_t i = 0; i < e->count; i++) {
        struct contestant *c = &e->all[i];
        c->filter = NULL;
        if (!takes_part(e, c)) continue;
        for (size_t j = 0; j < i && !c->filter; j++)
            if (e->all[j].filter && builds_alike(&e->all[j], c)) c->filter = e->all[j].filter;
        if (c->filter) continue;
        c->filter = &e->filters[i];
        *c->filter = (struct filter){.maker = c};
    }
}

/* A fixed shuffle for each round, so that no contestant always follows the same one. */
static void shuffle(size_t *order, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)scaled(mix64(seed * 1000003 + i), i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* ---- Building -------------------------------------------------------------------------------- */

static void *make(const struct event *e, const struct contestant *c, const struct keys *k) {
    const struct bench_contestant *calls = c->calls;
    if (e->key_bytes == 8)
        return c->side == OURS ? ours_build(c, k->members, k->n, e->threads)
                               : calls->build(k->members, k->n, e->threads);
    return c->side == OURS ? ours_build_strings(c->name, k->strings, e->key_bytes, k->n, e->threads)
                           : calls->build_strings(k->strings, e->key_bytes, k->n, e->threads);
}

static void drop(struct filter *f) {
    if (f->handle) f->maker->calls->free(f->handle);
    f->handle = NULL;
}

/* One thread is measured by its processor time, which other programs disturb least; several only by
 * wall-clock time. */
static void build_one(struct event *e, struct filter *f, const struct keys *k) {
    drop(f);
    const size_t large = large_page_bytes();
    const double start = e->threads == 1 ? cpu_ns() : wall_ns();
    f->handle = make(e, f->maker, k);
    const double end = e->threads == 1 ? cpu_ns() : wall_ns();
    if (!f->handle) return;
    f->build_ns[f->builds++] = (end - start) / (double)k->n;
    f->bytes = f->maker->calls->bytes(f->handle);
    const size_t now = large_page_bytes();
    f->large_bytes = now > large ? now - large : 0;
    if (f->large_bytes > f->bytes) f->large_bytes = f->bytes;
}

static size_t builds_of(const struct event *e) {
    if (e->set.builds) return e->set.builds;
    return e->keys <= 200000 ? 15 : e->keys <= 2000000 ? 7 : e->keys <= 20000000 ? 3 : 1;
}

static void build_all(struct event *e, const struct keys *k) {
    const size_t builds = builds_of(e);
    size_t order[MAX_CONTESTANTS];
    for (size_t round = 0; round < builds; round++) {
        shuffle(order, e->count, round);
        for (size_t i = 0; i < e->count; i++) {
            struct filter *f = &e->filters[order[i]];
            const bool has_failed = round > 0 && !f->handle;
            if (f->maker && f->maker->side != FLOOR && !has_failed) build_one(e, f, k);
        }
    }
}

/* The floor is as large as the first filter. */
static void build_floor(struct event *e, size_t max_keys) {
    size_t bytes = 0;
    struct filter *floor = NULL;
    for (size_t i = 0; i < e->count; i++) {
        struct filter *f = &e->filters[i];
        if (f->maker && f->maker->side == FLOOR) floor = f;
        if (f->handle && !bytes) bytes = f->bytes;
    }
    if (!floor || !bytes) return;
    const size_t large = large_page_bytes();
    floor->handle = floor_make(bytes, max_keys);
    if (!floor->handle) return;
    floor->bytes = floor->maker->calls->bytes(floor->handle);
    floor->large_bytes = large_page_bytes() - large;
    if (floor->large_bytes > floor->bytes) floor->large_bytes = floor->bytes;
    floor_bandwidth(floor->handle, &e->read_gbs, &e->write_gbs);
}

/* ---- Queries --------------------------------------------------------------------------------- */

struct list {
    const uint64_t *numbers;
    const uint8_t *strings; /* NULL for keys of 8 bytes */
};

static struct list part_of(const struct keys *k, enum question q, size_t from) {
    return (struct list){k->ask[q] + from,
                         k->ask_strings[q] ? k->ask_strings[q] + from * STRING_BYTES : NULL};
}

static void ask(const struct contestant *c, struct list keys, size_t n, uint8_t *hit) {
    if (keys.strings)
        c->calls->has_strings(c->filter->handle, keys.strings, STRING_BYTES, n, hit);
    else
        c->calls->has(c->filter->handle, keys.numbers, n, hit);
}

struct piece {
    const struct contestant *c;
    struct list keys;
    size_t n;
    uint8_t *hit;
};

static void *ask_piece(void *piece) {
    const struct piece *p = piece;
    ask(p->c, p->keys, p->n, p->hit);
    return NULL;
}

/* Every list is split into as many pieces as there are threads, except for a contestant that uses
 * threads itself. */
static void ask_together(const struct event *e, const struct contestant *c, struct list keys,
                         size_t n, uint8_t *hit) {
    const size_t threads = strcmp(way_of(c), "bulk") || c->side != OURS ? e->threads : 1;
    pthread_t thread[MAX_THREADS];
    struct piece piece[MAX_THREADS];
    size_t started = 1;
    for (size_t t = 0; t < threads; t++) {
        const size_t from = n * t / threads, to = n * (t + 1) / threads;
        piece[t] = (struct piece){c, keys, to - from, hit + from};
        piece[t].keys.numbers += from;
        if (keys.strings) piece[t].keys.strings += from * STRING_BYTES;
    }
    while (started < threads && !pthread_create(&thread[started], NULL, ask_piece, &piece[started]))
        started++;
    ask_piece(&piece[0]);
    for (size_t t = 1; t < threads; t++)
        if (t < started)
            pthread_join(thread[t], NULL);
        else
            ask_piece(&piece[t]);
}

/* How often this thread was preempted. */
static long interruptions(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

enum { TRIES = 4, GRAIN = 1024, MAX_WARM_LINES = 1 << 19 };
static const double longest_ns = 250e3, longest_warm_up_ns = 4e6;

/* Other programs would interrupt long samples of slow contestants more often than those of fast
 * ones, so all are about as short; whole grains, because the floor works in groups. */
static size_t short_enough(size_t n, double ns_per_key) {
    const size_t max = (size_t)(longest_ns / ns_per_key) / GRAIN * GRAIN;
    return n < max ? n : max ? max : GRAIN;
}

static double time_list(const struct event *e, const struct contestant *c, struct list keys,
                        size_t n, uint8_t *hit) {
    if (c->side == FLOOR && !strcmp(c->name, floor_line))
        floor_prepare(c->filter->handle, keys.numbers, n);
    const double start = wall_ns();
    if (e->threads > 1)
        ask_together(e, c, keys, n, hit);
    else
        ask(c, keys, n, hit);
    return (wall_ns() - start) / (double)n;
}

/* Keys are in the second-level cache when they are queried, as if they had just been made; else it
 * would depend on the previous contestant whether they come from memory, which at 10^5 keys is half
 * of the floor. */
static void read_keys(struct list keys, size_t n) {
    const volatile uint8_t *from = keys.strings ? keys.strings : (const uint8_t *)keys.numbers;
    const size_t bytes = n * (keys.strings ? STRING_BYTES : sizeof *keys.numbers);
    for (size_t i = 0; i < bytes; i += 64) (void)from[i];
}

/* Queries until a filter is in the caches as far as it would be in a long run, whatever ran before:
 * every line many times. Of huge ones only page tables stay, in part those of the machine below:
 * after one chunk 1.27 GB took 10 ns per key, and 4.2 as in a long run after 16. After another
 * contestant that takes as long as it takes: a limit of time would leave slow ones with cold lines,
 * which made them slower still. Returns the time per key. */
static double warm_up(const struct event *e, const struct contestant *c, enum question q,
                      const struct keys *k, size_t from, bool is_cold, uint8_t *hit) {
    const size_t lines = c->filter->bytes / 64, chunk = e->set.chunk;
    const bool is_huge = lines > MAX_WARM_LINES;
    const size_t wanted = 16 * (is_huge ? chunk : lines), needed = is_cold ? wanted / 2 : 0;
    const double start = wall_ns();
    double ns;
    size_t asked = 0;
    do {
        ns = time_list(e, c, part_of(k, q, (from + asked) % k->questions), chunk, hit);
        asked += chunk;
    } while (asked < needed || (asked < wanted && wall_ns() - start < longest_warm_up_ns));
    return ns;
}

/* A sample comes after others that are not timed. It is repeated, with other keys, when the thread
 * was preempted. */
static double sample(const struct event *e, const struct contestant *c, enum question q,
                     const struct keys *k, size_t from, bool is_cold, uint8_t *hit) {
    const size_t chunk = e->set.chunk;
    double ns = warm_up(e, c, q, k, from + TRIES * chunk, is_cold, hit);
    const size_t n = e->threads > 1 ? chunk : short_enough(chunk, ns);
    for (size_t try = 0; try < TRIES; try++) {
        const struct list keys = part_of(k, q, (from + try * chunk) % k->questions);
        const long before = interruptions();
        if (e->threads == 1) read_keys(keys, n);
        ns = time_list(e, c, keys, n, hit);
        if (interruptions() == before || e->threads > 1) break;
    }
    return ns;
}

static double sample_chase(const struct event *e, const struct contestant *c, uint64_t seed) {
    const size_t n = e->set.chunk / 8;
    double ns = 0;
    for (uint64_t try = 0; try <= TRIES; try++) {
        const long before = interruptions();
        const double start = wall_ns();
        (void)c->calls->chase(c->filter->handle, mix64(seed * 8 + try), n);
        ns = (wall_ns() - start) / (double)n;
        if (try > 0 && interruptions() == before) break; /* the first one warms the cache */
    }
    return ns;
}

static void ask_round(struct event *e, const struct keys *k, size_t round, uint8_t *hit) {
    const size_t chunks = k->questions / e->set.chunk;
    size_t order[MAX_CONTESTANTS];
    shuffle(order, e->count, 0x5eed + round);
    for (size_t i = 0; i < e->count; i++) {
        struct contestant *c = &e->all[order[i]];
        bool is_cold = true;
        for (int q = 0; q < CHASE; q++) {
            if (!was_asked(e, c, q)) continue;
            const size_t from = (2 * round + (size_t)q) % chunks * e->set.chunk;
            c->ns[q][round] = sample(e, c, q, k, from, is_cold, hit);
            is_cold = false;
        }
        if (was_asked(e, c, CHASE)) c->ns[CHASE][round] = sample_chase(e, c, round);
    }
}

/* ---- Checking -------------------------------------------------------------------------------- */

static size_t count_yes(const struct contestant *c, struct list keys, size_t n, uint8_t *hit) {
    size_t yes = 0;
    ask(c, keys, n, hit);
    for (size_t i = 0; i < n; i++) yes += hit[i] != 0;
    return yes;
}

/* Members in pieces that are spread evenly over all of them. */
static void check_members(const struct event *e, struct contestant *c, const struct keys *k,
                          uint8_t *hit) {
    const size_t wanted = e->set.checks_all || k->n < CHECK_KEYS ? k->n : CHECK_KEYS;
    const size_t pieces = (wanted + CHECK_CHUNK - 1) / CHECK_CHUNK;
    for (size_t i = 0; i < pieces; i++) {
        const size_t from = (size_t)((double)k->n / (double)pieces * (double)i);
        const size_t left = k->n - from, n = left < CHECK_CHUNK ? left : CHECK_CHUNK;
        const struct list keys = {k->members + from,
                                  k->strings ? k->strings + from * STRING_BYTES : NULL};
        c->checked += n;
        c->lost += n - count_yes(c, keys, n, hit);
    }
}

static void check(const struct event *e, struct contestant *c, const struct keys *k, uint8_t *hit) {
    c->checked = c->lost = c->nonmembers = c->yes = 0;
    if (c->side == FLOOR || !c->filter || !c->filter->handle) return;
    check_members(e, c, k, hit);
    for (size_t i = 0; i + CHECK_CHUNK <= k->questions; i += CHECK_CHUNK) {
        c->nonmembers += CHECK_CHUNK;
        c->yes += count_yes(c, part_of(k, MISS, i), CHECK_CHUNK, hit);
    }
    c->fpr_expected = c->side == OURS ? ours_rate(c->name, k->n) : 0;
}

/* ---- The whole event ------------------------------------------------------------------------- */

/* The memory of the keys, of all filters at once and of the hungriest builder, generously. */
static bool fits(const struct event *e) {
    size_t filters = 0;
    double need = e->key_bytes == 8 ? 8 : 8 + STRING_BYTES, builder = 0;
    for (size_t i = 0; i < e->count; i++) {
        const struct contestant *maker = e->filters[i].maker;
        if (!maker) continue;
        filters++, need += 1.8;
        if (maker->side == PEER || (maker->side == OURS && ours_is_built_once(maker->name)))
            builder = 32;
    }
    need = (need + builder) * (double)e->keys;
    const size_t have = memory_available();
    if (!have || need < (double)have) return true;
    fprintf(stderr,
            "bench: skipped %zu keys: %zu filters may need %.1f GB, and %.1f GB are free; name "
            "fewer with --kinds and --peers\n",
            e->keys, filters, need / 1e9, (double)have / 1e9);
    return false;
}

bool event_run(struct event *e) {
    struct keys k;
    /* Freed memory is not reused: every build starts with fresh pages, as in a program of its own,
     * whatever was built before. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    share_filters(e);
    if (!fits(e) || !keys_make(&k, e->keys, e->key_bytes)) return false;
    if (e->threads > MAX_THREADS) e->threads = MAX_THREADS;
    e->cpu = pin(e->threads);
    /* Threads take about 50 us to start; their samples must be much longer. */
    if (e->threads > 1) e->set.chunk = k.questions / 4;
    build_all(e, &k);
    build_floor(e, e->set.chunk);
    const size_t room = e->set.chunk > CHECK_CHUNK ? e->set.chunk : CHECK_CHUNK;
    uint8_t *hit = malloc(room);
    if (hit) {
        for (size_t i = 0; i < e->count; i++) check(e, &e->all[i], &k, hit);
        for (size_t r = 0; r < e->set.rounds; r++) ask_round(e, &k, r, hit);
    }
    free(hit);
    keys_free(&k);
    return hit != NULL;
}

void event_end(struct event *e) {
    for (size_t i = 0; i < e->count; i++) drop(&e->filters[i]);
}
