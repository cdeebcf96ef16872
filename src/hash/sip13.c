/* SipHash-1-3, from the paper's description. */
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

TAMIS_HOT void absorb(state *s, uint64_t word) {
    s->d ^= word;
    sip_round(s);
    s->a ^= word;
}

uint64_t tamis__sip13(const uint8_t secret[16], const void *key, size_t len) {
    const uint64_t k0 = tamis__get64(secret), k1 = tamis__get64(secret + 8);
    const uint8_t *p = key;
    /* "somepseudorandomlygeneratedbytes", the constants of the paper. */
    state s = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
               k1 ^ 0x7465646279746573};
    for (size_t words = len / 8; words; words--, p += 8) absorb(&s, tamis__get64(p));

    uint64_t last = (uint64_t)len << 56;
    for (size_t i = 0; i < len % 8; i++) last |= (uint64_t)p[i] << (8 * i);
    absorb(&s, last);

    s.c ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}
