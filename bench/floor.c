/* SPDX-License-Identifier: MIT */
/* The floor: the machine's own cost for the memory that a filter touches.
 *
 * Each floor works on as many bytes as the filter, on the same pages, and prefetches its lines in
 * every way we know; the best of its variants counts:
 *
 *     one line      one random line of 64 bytes for a key, computed beforehand
 *     keys + line   the same, but the list of keys is read and each key is mixed in this loop
 *     three lines   three lines for a key, as in a fuse filter; keys read and mixed
 *     change line   one line is read, changed and written back: adding a key
 *
 * chase is one load that must complete before the next one can begin. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench.h"
#include "bench/floor.h"

const char floor_line[] = "floor: one line";
const char floor_keys[] = "floor: keys + line";
const char floor_three[] = "floor: three lines";
const char floor_change[] = "floor: change line";

enum { LINE = 64, LINE_WORDS = LINE / 8, LARGE_PAGE = 2 << 20 };
enum { LARGE_FROM = 4 << 20 }; /* as in the library: smaller payloads come from malloc */
enum hint { PLAIN, T0, T1, WRITE };

struct floor {
    uint64_t *words;
    uint64_t lines;
    size_t bytes, mapped; /* mapped: 0 when it came from malloc */
    uint32_t *prepared;   /* lines of the current list */
    floor_place *place;
};

/* ---- Which line ------------------------------------------------------------------------------ */

/* One multiplication mixes a key; another computes the line number from its upper half. */
static void place_plain(const uint64_t *keys, uint64_t lines, uint64_t factor, uint32_t *line) {
    for (size_t i = 0; i < FLOOR_GROUP; i++)
        line[i] = (uint32_t)(((keys[i] * factor) >> 32) * lines >> 32);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Large pages begin at multiples of their size, so one more is mapped, and the excess unmapped. */
static void *map_large(size_t bytes) {
    char *start =
        mmap(NULL, bytes + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    const size_t before = (LARGE_PAGE - (uintptr_t)start % LARGE_PAGE) % LARGE_PAGE;
    if (before) munmap(start, before);
    munmap(start + before + bytes, LARGE_PAGE - before);
    madvise(start + before, bytes, MADV_HUGEPAGE);
    return start + before;
}

static void floor_free(void *floor) {
    struct floor *f = floor;
    if (f->mapped)
        munmap(f->words, f->mapped);
    else
        free(f->words);
    free(f->prepared);
    free(f);
}

void *floor_make(size_t bytes, size_t max_keys) {
    struct floor *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->lines = bytes < LINE ? 1 : bytes / LINE;
    f->bytes = f->lines * LINE;
    f->place = floor_place_avx512() ? floor_place_avx512() : place_plain;
    if (f->bytes >= LARGE_FROM) {
        f->mapped = (f->bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
        f->words = map_large(f->mapped);
    } else
        f->words = aligned_alloc(LINE, f->bytes);
    f->prepared = malloc((max_keys + FLOOR_GROUP) * sizeof *f->prepared);
    if (f->words && f->prepared) {
        memset(f->words, 0x5a, f->bytes);
        return f;
    }
    f->mapped = f->words ? f->mapped : 0;
    floor_free(f);
    return NULL;
}

void floor_prepare(void *floor, const uint64_t *keys, size_t n) {
    struct floor *f = floor;
    for (size_t i = 0; i < n; i++) f->prepared[i] = (uint32_t)scaled(keys[i], f->lines);
    for (size_t i = n; i < n + FLOOR_GROUP; i++) f->prepared[i] = f->prepared[0];
}

static size_t floor_bytes(const void *floor) {
    return ((const struct floor *)floor)->bytes;
}

/* ---- Touching lines -------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

INLINE void ask_ahead(const void *p, enum hint hint) {
    if (hint == T0) __builtin_prefetch(p, 0, 3);
    if (hint == T1) __builtin_prefetch(p, 0, 2);
    if (hint == WRITE) __builtin_prefetch(p, 1, 3);
}

static const uint64_t factors[] = {0x9e3779b97f4a7c15, 0xd6e8feb86659fd93, 0xa0761d6478bd642f};
enum { MAX_LINES = COUNT_OF(factors) };

INLINE void ask_for_group(const struct floor *f, const uint32_t *line, enum hint hint) {
    for (size_t j = 0; j < FLOOR_GROUP && hint != PLAIN; j++)
        ask_ahead(f->words + (size_t)line[j] * LINE_WORDS, hint);
}

INLINE uint8_t touch(const struct floor *f, uint32_t line, enum hint hint) {
    uint64_t *word = f->words + (size_t)line * LINE_WORDS;
    if (hint == WRITE) *word += 1;
    return (uint8_t)*word;
}

/* While the lines of one group are touched, those of the next are prefetched. Samples are whole
 * groups. */
INLINE void touch_prepared(const struct floor *f, size_t n, uint8_t *hit, enum hint hint) {
    ask_for_group(f, f->prepared, hint);
    for (size_t i = 0; i < n; i += FLOOR_GROUP) {
        ask_for_group(f, f->prepared + i + FLOOR_GROUP, hint);
        for (size_t j = i; j < i + FLOOR_GROUP; j++) hit[j] = touch(f, f->prepared[j], hint);
    }
}

typedef uint32_t group[MAX_LINES][FLOOR_GROUP];

INLINE void begin_group(const struct floor *f, const uint64_t *keys, group line, int lines,
                        enum hint hint) {
    for (int k = 0; k < lines; k++) f->place(keys, f->lines, factors[k], line[k]);
    for (int k = 0; k < lines; k++) ask_for_group(f, line[k], hint);
}

INLINE void end_group(const struct floor *f, group line, int lines, uint8_t *hit, enum hint hint) {
    for (size_t j = 0; j < FLOOR_GROUP; j++) {
        uint8_t all = 0;
        for (int k = 0; k < lines; k++) all ^= touch(f, line[k][j], hint);
        hit[j] = all;
    }
}

INLINE void touch_keys(const struct floor *f, const uint64_t *keys, size_t n, uint8_t *hit,
                       int lines, enum hint hint) {
    group room[2];
    const size_t groups = n / FLOOR_GROUP;
    for (size_t g = 0; g <= groups; g++) {
        if (g < groups) begin_group(f, keys + g * FLOOR_GROUP, room[g % 2], lines, hint);
        if (g > 0) end_group(f, room[(g - 1) % 2], lines, hit + (g - 1) * FLOOR_GROUP, hint);
    }
}

static uint64_t chase(const void *floor, uint64_t key, size_t n) {
    const struct floor *f = floor;
    while (n--) key = bench_next(key, f->words[scaled(key, f->lines) * LINE_WORDS] & 1);
    return key;
}

/* ---- The variants ---------------------------------------------------------------------------- */

#define ONE_LINE(hint)                                                                         \
    static void one_line_##hint(const void *f, const uint64_t *keys, size_t n, uint8_t *hit) { \
        (void)keys;                                                                            \
        touch_prepared(f, n, hit, hint);                                                       \
    }
#define KEYS(lines, hint)                                                            \
    static void keys_##lines##_##hint(const void *f, const uint64_t *keys, size_t n, \
                                      uint8_t *hit) {                                \
        touch_keys(f, keys, n, hit, lines, hint);                                    \
    }
ONE_LINE(PLAIN)
ONE_LINE(T0)
ONE_LINE(T1)
KEYS(1, PLAIN)
KEYS(1, T0)
KEYS(1, T1)
KEYS(3, PLAIN)
KEYS(3, T0)
KEYS(3, T1)
KEYS(1, WRITE)

/* The same for strings: all their bytes are read and mixed. */
INLINE void touch_strings(const struct floor *f, const uint8_t *keys, size_t len, size_t n,
                          uint8_t *hit, enum hint hint) {
    uint64_t mixes[8 * FLOOR_GROUP];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < COUNT_OF(mixes) ? n - i : COUNT_OF(mixes);
        for (size_t j = 0; j < m; j++) {
            uint64_t word[STRING_BYTES / 8];
            memcpy(word, keys + (i + j) * len, sizeof word);
            mixes[j] = (word[0] ^ word[1]) * factors[1] + (word[2] ^ word[3]) * factors[2];
        }
        touch_keys(f, mixes, m, hit + i, 1, hint);
    }
}
#define STRINGS(hint)                                                                    \
    static void strings_##hint(const void *f, const uint8_t *keys, size_t len, size_t n, \
                               uint8_t *hit) {                                           \
        touch_strings(f, keys, len, n, hit, hint);                                       \
    }
STRINGS(PLAIN)
STRINGS(T0)
STRINGS(T1)

#define FLOOR_OF(what, how, ...)                                                          \
    {                                                                                     \
        .version = BENCH_CONTESTANT, .name = what, .api = how, .release = "",             \
        .bytes = floor_bytes, .free = floor_free, .large_pages = true, .has = __VA_ARGS__ \
    }
static const struct bench_contestant floors[] = {
    FLOOR_OF(floor_line, "plain", one_line_PLAIN),
    FLOOR_OF(floor_line, "t0", one_line_T0),
    FLOOR_OF(floor_line, "t1", one_line_T1),
    FLOOR_OF(floor_keys, "plain", keys_1_PLAIN, .has_strings = strings_PLAIN, .chase = chase),
    FLOOR_OF(floor_keys, "t0", keys_1_T0, .has_strings = strings_T0, .chase = chase),
    FLOOR_OF(floor_keys, "t1", keys_1_T1, .has_strings = strings_T1, .chase = chase),
    FLOOR_OF(floor_three, "plain", keys_3_PLAIN),
    FLOOR_OF(floor_three, "t0", keys_3_T0),
    FLOOR_OF(floor_three, "t1", keys_3_T1),
    FLOOR_OF(floor_change, "write", keys_1_WRITE),
};

size_t floor_enter(struct contestant *all, size_t count) {
    for (size_t i = 0; i < COUNT_OF(floors) && count < MAX_CONTESTANTS; i++) {
        struct contestant *c = &all[count++];
        *c = (struct contestant){.calls = &floors[i], .side = FLOOR};
        snprintf(c->name, sizeof c->name, "%s", floors[i].name);
    }
    return count;
}

/* ---- Sequential access ----------------------------------------------------------------------- */

/* The best of a few passes, in 10^9 bytes a second. */
void floor_bandwidth(void *floor, double *read_gbs, double *write_gbs) {
    struct floor *f = floor;
    const size_t n = f->bytes / 8;
    volatile uint64_t *sink = f->words; /* so that the sums are really computed */
    *read_gbs = *write_gbs = 0;
    for (int pass = 0; pass < 5; pass++) {
        uint64_t sum[8] = {0};
        double start = wall_ns();
        for (size_t i = 0; i + 8 <= n; i += 8)
            for (size_t j = 0; j < 8; j++) sum[j] ^= f->words[i + j];
        for (size_t j = 0; j < 8; j++) *sink ^= sum[j];
        const double read = (double)f->bytes / (wall_ns() - start);
        start = wall_ns();
        memset(f->words, 0x5a + pass, f->bytes);
        const double write = (double)f->bytes / (wall_ns() - start);
        if (read > *read_gbs) *read_gbs = read;
        if (write > *write_gbs) *write_gbs = write;
    }
}
