/* SPDX-License-Identifier: MIT */
/* hashlittle of lookup3: three words are mixed with twelve bytes of the key at a time. */
#include "foreign/foreign_hashes.h"

#include "foreign/bytes.h"

enum { ROUND = 12 };

typedef struct state {
    uint32_t a, b, c;
} state;

static void take(state *s, const uint8_t *p) {
    s->a += tamis__get32(p);
    s->b += tamis__get32(p + 4);
    s->c += tamis__get32(p + 8);
}

/* What was last changed is taken from x, turned into it, and then grows by the third. */
static void step(uint32_t *x, uint32_t *before, const uint32_t *next, unsigned by) {
    *x -= *before;
    *x ^= tamis__rotl32(*before, by);
    *before += *next;
}

static void mix(state *s) {
    step(&s->a, &s->c, &s->b, 4);
    step(&s->b, &s->a, &s->c, 6);
    step(&s->c, &s->b, &s->a, 8);
    step(&s->a, &s->c, &s->b, 16);
    step(&s->b, &s->a, &s->c, 19);
    step(&s->c, &s->b, &s->a, 4);
}

static void last_step(uint32_t *x, uint32_t by_word, unsigned by) {
    *x ^= by_word;
    *x -= tamis__rotl32(by_word, by);
}

static uint32_t finish(state *s) {
    last_step(&s->c, s->b, 14);
    last_step(&s->a, s->c, 11);
    last_step(&s->b, s->a, 25);
    last_step(&s->c, s->b, 16);
    last_step(&s->a, s->c, 4);
    last_step(&s->b, s->a, 14);
    last_step(&s->c, s->b, 24);
    return s->c;
}

uint32_t tamis__lookup3(const struct tamis_key *key, uint32_t init) {
    const uint8_t *p = key->bytes;
    const uint32_t start = 0xdeadbeef + (uint32_t)key->len + init;
    state s = {start, start, start};
    uint8_t rest[ROUND] = {0};
    size_t left = key->len;
    for (; left > ROUND; left -= ROUND, p += ROUND) {
        take(&s, p);
        mix(&s);
    }
    if (left == 0) return s.c;
    memcpy(rest, p, left);
    take(&s, rest);
    return finish(&s);
}
