/* The floor: what the machine itself takes for the memory that a filter touches.
 *
 * Each floor works on as many bytes as the filter, on the same pages, and asks for its lines ahead
 * of their use in every way we know; of its variants the best one of each round counts:
 *
 *     one line      one random line of 64 bytes for a key; which one was worked out beforehand
 *     keys + line   the same, but the list of keys is read and each key is mixed in this loop
 *     three lines   three lines for a key, as in a fuse filter; keys read and mixed
 *     change line   one line is read, changed and goes back: adding a key
 *
 * chase is one load that must have arrived before the next one can begin. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench.h"

const char floor_line[] = "floor: one line";
const char floor_keys[] = "floor: keys + line";
const char floor_three[] = "floor: three lines";
const char floor_change[] = "floor: change line";

enum { LINE = 64, LINE_WORDS = LINE / 8, AHEAD = 64, GROUP = 128, LARGE_PAGE = 2 << 20 };
enum { LARGE_FROM = 4 << 20 }; /* as the library: smaller payloads come from malloc */
enum hint { PLAIN, T0, T1 };

struct floor {
    uint64_t *words;
    uint64_t lines;
    size_t bytes, mapped; /* mapped: 0 when it came from malloc */
    uint32_t *prepared;   /* lines of the present list */
};

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Large pages begin at multiples of their size, so one more is mapped, and its ends are cut off. */
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

void *floor_make(size_t bytes, size_t most_keys) {
    struct floor *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->lines = bytes < LINE ? 1 : bytes / LINE;
    f->bytes = f->lines * LINE;
    if (f->bytes >= LARGE_FROM) {
        f->mapped = (f->bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
        f->words = map_large(f->mapped);
    } else
        f->words = aligned_alloc(LINE, f->bytes);
    f->prepared = malloc((most_keys + AHEAD) * sizeof *f->prepared);
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
    for (size_t i = n; i < n + AHEAD; i++) f->prepared[i] = f->prepared[0];
}

static size_t floor_bytes(const void *floor) {
    return ((const struct floor *)floor)->bytes;
}

/* ---- Touching lines -------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

INLINE void ask_ahead(const void *p, enum hint hint) {
    if (hint == T0) __builtin_prefetch(p, 0, 3);
    if (hint == T1) __builtin_prefetch(p, 0, 2);
}

INLINE void touch_lines(const struct floor *f, size_t n, uint8_t *hit, enum hint hint) {
    const uint32_t *line = f->prepared;
    for (size_t i = 0; i < n; i++) {
        ask_ahead(f->words + (size_t)line[i + AHEAD] * LINE_WORDS, hint);
        hit[i] = (uint8_t)f->words[(size_t)line[i] * LINE_WORDS];
    }
}

/* The cheapest mixing that spreads a key over all bits: two multiplications. */
INLINE uint64_t mixed(uint64_t key) {
    key *= 0x9e3779b97f4a7c15;
    return (key ^ key >> 32) * 0xd6e8feb86659fd93;
}

INLINE void touch_keys(const struct floor *f, const uint64_t *keys, size_t n, uint8_t *hit,
                       enum hint hint) {
    const uint64_t *at[GROUP];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < GROUP ? n - i : GROUP;
        for (size_t j = 0; j < m; j++) {
            at[j] = f->words + scaled(mixed(keys[i + j]), f->lines) * LINE_WORDS;
            ask_ahead(at[j], hint);
        }
        for (size_t j = 0; j < m; j++) hit[i + j] = (uint8_t)*at[j];
    }
}

INLINE void touch_three(const struct floor *f, const uint64_t *keys, size_t n, uint8_t *hit,
                        enum hint hint) {
    const uint64_t *at[GROUP][3];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < GROUP ? n - i : GROUP;
        for (size_t j = 0; j < m; j++) {
            uint64_t x = mixed(keys[i + j]);
            for (int k = 0; k < 3; k++, x *= 0x9e3779b97f4a7c15) {
                at[j][k] = f->words + scaled(x, f->lines) * LINE_WORDS;
                ask_ahead(at[j][k], hint);
            }
        }
        for (size_t j = 0; j < m; j++) hit[i + j] = (uint8_t)(*at[j][0] ^ *at[j][1] ^ *at[j][2]);
    }
}

INLINE void change_keys(const struct floor *f, const uint64_t *keys, size_t n, uint8_t *hit,
                        bool asks_ahead) {
    uint64_t *at[GROUP];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < GROUP ? n - i : GROUP;
        for (size_t j = 0; j < m; j++) {
            at[j] = f->words + scaled(mixed(keys[i + j]), f->lines) * LINE_WORDS;
            if (asks_ahead) __builtin_prefetch(at[j], 1, 3);
        }
        for (size_t j = 0; j < m; j++) *at[j] += 1;
    }
    memset(hit, 1, n);
}

static uint64_t chase(const void *floor, uint64_t key, size_t n) {
    const struct floor *f = floor;
    while (n--) key = bench_next(key, f->words[scaled(key, f->lines) * LINE_WORDS] & 1);
    return key;
}

/* ---- The variants ---------------------------------------------------------------------------- */

#define LINES(hint)                                                                         \
    static void lines_##hint(const void *f, const uint64_t *keys, size_t n, uint8_t *hit) { \
        (void)keys;                                                                         \
        touch_lines(f, n, hit, hint);                                                       \
    }
#define KEYS(verb, how)                                                                     \
    static void verb##_##how(const void *f, const uint64_t *keys, size_t n, uint8_t *hit) { \
        verb(f, keys, n, hit, how);                                                         \
    }
LINES(PLAIN)
LINES(T0)
LINES(T1)
KEYS(touch_keys, PLAIN)
KEYS(touch_keys, T0)
KEYS(touch_keys, T1)
KEYS(touch_three, PLAIN)
KEYS(touch_three, T0)
KEYS(touch_three, T1)
KEYS(change_keys, false)
KEYS(change_keys, true)

/* The same for strings: all their bytes are read and mixed. */
INLINE void touch_strings(const struct floor *f, const uint8_t *keys, size_t len, size_t n,
                          uint8_t *hit, enum hint hint) {
    uint64_t mixes[GROUP];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < GROUP ? n - i : GROUP;
        for (size_t j = 0; j < m; j++) {
            uint64_t word[STRING_BYTES / 8];
            memcpy(word, keys + (i + j) * len, sizeof word);
            mixes[j] = mixed(word[0] ^ word[1]) + mixed(word[2] ^ word[3]);
        }
        touch_keys(f, mixes, m, hit + i, hint);
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
    FLOOR_OF(floor_line, "plain", lines_PLAIN),
    FLOOR_OF(floor_line, "t0", lines_T0),
    FLOOR_OF(floor_line, "t1", lines_T1),
    FLOOR_OF(floor_keys, "plain", touch_keys_PLAIN, .has_strings = strings_PLAIN, .chase = chase),
    FLOOR_OF(floor_keys, "t0", touch_keys_T0, .has_strings = strings_T0),
    FLOOR_OF(floor_keys, "t1", touch_keys_T1, .has_strings = strings_T1),
    FLOOR_OF(floor_three, "plain", touch_three_PLAIN),
    FLOOR_OF(floor_three, "t0", touch_three_T0),
    FLOOR_OF(floor_three, "t1", touch_three_T1),
    FLOOR_OF(floor_change, "plain", change_keys_false),
    FLOOR_OF(floor_change, "t0", change_keys_true),
};

size_t floor_enter(struct contestant *all, size_t count) {
    for (size_t i = 0; i < COUNT_OF(floors) && count < MOST_CONTESTANTS; i++) {
        struct contestant *c = &all[count++];
        *c = (struct contestant){.calls = &floors[i], .side = FLOOR};
        snprintf(c->name, sizeof c->name, "%s", floors[i].name);
    }
    return count;
}

/* ---- One byte after the other ---------------------------------------------------------------- */

/* The best of a few passes, in 10^9 bytes a second. */
void floor_bandwidth(void *floor, double *read_gbs, double *write_gbs) {
    struct floor *f = floor;
    const size_t n = f->bytes / 8;
    volatile uint64_t sink = 0;
    *read_gbs = *write_gbs = 0;
    for (int pass = 0; pass < 5; pass++) {
        uint64_t sum[8] = {0};
        double start = wall_ns();
        for (size_t i = 0; i + 8 <= n; i += 8)
            for (size_t j = 0; j < 8; j++) sum[j] ^= f->words[i + j];
        for (size_t j = 0; j < 8; j++) sink ^= sum[j];
        const double read = (double)f->bytes / (wall_ns() - start);
        start = wall_ns();
        memset(f->words, 0x5a + pass, f->bytes);
        const double write = (double)f->bytes / (wall_ns() - start);
        if (read > *read_gbs) *read_gbs = read;
        if (write > *write_gbs) *write_gbs = write;
    }
}
