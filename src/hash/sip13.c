/* SPDX-License-Identifier: MIT */
/* SipHash-1-3 and 2-4, from the paper's description: c rounds per word, d at the end. */
#include "hash/sip13.h"

#include "bits/bits.h"

typedef struct state {
    uint64_t a, b, c, d;
} state;

TAMIS_HOT uint64_t turn(uint64_t x, unsigned by) {
    return x << by | x >> (64 - by);
}

TAMIS_HOT void sip_round(state *s) {
    s->a += s->b, s->c += s->d;
    s->b = turn(s->b, 13) ^ s->a, s->d = turn(s->d, 16) ^ s->c;
    s->a = turn(s->a, 32);
    s->c += s->b, s->a += s->d;
    s->b = turn(s->b, 17) ^ s->c, s->d = turn(s->d, 21) ^ s->a;
    s->c = turn(s->c, 32);
}

TAMIS_HOT void absorb(state *s, uint64_t word, int c) {
    s->d ^= word;
    for (int i = 0; i < c; i++) sip_round(s);
    s->a ^= word;
}

/* "somepseudorandomlygeneratedbytes", the constants of the paper. */
TAMIS_HOT state start(const uint8_t secret[16]) {
    const uint64_t k0 = tamis__get64(secret), k1 = tamis__get64(secret + 8);
    return (state){k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                   k1 ^ 0x7465646279746573};
}

/* The last word has the length in its top byte and the rest of the key below. */
TAMIS_HOT uint64_t finish(state s, uint64_t tail, uint64_t len, int c, int d) {
    absorb(&s, len << 56 | tail, c);
    s.c ^= 0xff;
    for (int i = 0; i < d; i++) sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}

/* The last len % 8 bytes of a key, from p on. Longer keys have eight bytes that end with them: a
 * loop over so few would be mispredicted. */
TAMIS_HOT uint64_t tail_at(const uint8_t *p, size_t len) {
    const unsigned bits = len % 8 * 8;
    uint64_t tail = 0;
    if (len >= 8) return tamis__get64(p + len % 8 - 8) >> 1 >> (63 - bits);
    for (size_t i = 0; i < len; i++) tail |= (uint64_t)p[i] << (8 * i);
    return tail;
}

TAMIS_HOT uint64_t whole(const uint8_t secret[16], const void *key, size_t len, int c, int d) {
    const uint8_t *p = key;
    state s = start(secret);
    for (size_t words = len / 8; words; words--, p += 8) absorb(&s, tamis__get64(p), c);
    return finish(s, tail_at(p, len), len, c, d);
}

TAMIS_ONE_KEY uint64_t tamis__sip13(const uint8_t secret[16], const void *key, size_t len) {
    return whole(secret, key, len, 1, 3);
}

uint64_t tamis__sip24(const uint8_t secret[16], const void *key, size_t len) {
    return whole(secret, key, len, 2, 4);
}

/* ---- Piece by piece ---- */

void tamis__sip13_start(tamis_sip13_sum *sum, const uint8_t secret[16]) {
    const state s = start(secret);
    *sum = (tamis_sip13_sum){.a = s.a, .b = s.b, .c = s.c, .d = s.d};
}

void tamis__sip13_more(tamis_sip13_sum *sum, const void *bytes, size_t len) {
    state s = {sum->a, sum->b, sum->c, sum->d};
    const uint8_t *p = bytes, *end = p + len;
    unsigned in_tail = (unsigned)(sum->len % 8);
    sum->len += len;
    while (p < end) {
        if (in_tail == 0 && end - p >= 8) {
            absorb(&s, tamis__get64(p), 1);
            p += 8;
            continue;
        }
        sum->tail |= (uint64_t)*p++ << (8 * in_tail);
        in_tail = (in_tail + 1) % 8;
        if (in_tail > 0) continue;
        absorb(&s, sum->tail, 1);
        sum->tail = 0;
    }
    sum->a = s.a, sum->b = s.b, sum->c = s.c, sum->d = s.d;
}

uint64_t tamis__sip13_end(const tamis_sip13_sum *sum) {
    return finish((state){sum->a, sum->b, sum->c, sum->d}, sum->tail, sum->len, 1, 3);
}
