/* SPDX-License-Identifier: MIT */
/* For code that works on payload bytes: kinds, file, hash, core, tests.
 *
 * Payloads are little-endian 64-bit words at any address. These few functions are the only place
 * that knows the byte order of the machine and how a payload is read while others write. */
#ifndef TAMIS_BITS_BITS_H
#define TAMIS_BITS_BITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Functions that CPU and GPU code share; a device compiler defines this as it needs. */
#ifndef TAMIS_FN
#define TAMIS_FN static inline
#endif

/* Reads in hot loops must be inlined into the kernels that call them, at every optimisation
 * level. */
#define TAMIS_HOT static inline __attribute__((always_inline))

/* What a call with one key runs through, from the door of the library to the payload. A server does
 * thousands of other things between two such calls, and finds this again in few lines and pages of
 * its caches, because the linker puts it all in one place. */
#define TAMIS_ONE_KEY __attribute__((hot))

TAMIS_FN uint64_t tamis__swap64(uint64_t x) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(x);
#else
    return x;
#endif
}

TAMIS_FN uint32_t tamis__swap32(uint32_t x) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(x);
#else
    return x;
#endif
}

/* Little-endian access at any alignment, for one writer or for readers only. */
TAMIS_FN uint64_t tamis__get64(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return tamis__swap64(x);
}

TAMIS_FN void tamis__put64(uint8_t *p, uint64_t x) {
    x = tamis__swap64(x);
    memcpy(p, &x, sizeof x);
}

TAMIS_FN uint32_t tamis__get32(const uint8_t *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return tamis__swap32(x);
}

TAMIS_FN void tamis__put32(uint8_t *p, uint32_t x) {
    x = tamis__swap32(x);
    memcpy(p, &x, sizeof x);
}

TAMIS_FN uint16_t tamis__get16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

TAMIS_FN void tamis__put16(uint8_t *p, uint16_t x) {
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
}

/* Queries may run while other threads add with tamis__or64_shared. In core's own payloads, which
 * are aligned, a relaxed atomic load makes that well-defined and costs the same instruction; a view
 * may be at any address, but is never written to. */
TAMIS_FN bool tamis__is_aligned8(const void *p) {
    return ((uintptr_t)p & 7) == 0;
}

TAMIS_FN uint64_t tamis__load64(const uint8_t *p) {
    if (!tamis__is_aligned8(p)) return tamis__get64(p);
    return tamis__swap64(
        atomic_load_explicit((const _Atomic uint64_t *)(const void *)p, memory_order_relaxed));
}

TAMIS_FN uint32_t tamis__load32(const uint8_t *p) {
    if ((uintptr_t)p & 3) return tamis__get32(p);
    return tamis__swap32(
        atomic_load_explicit((const _Atomic uint32_t *)(const void *)p, memory_order_relaxed));
}

/* Counts up by one while others read and count; saturates at the top. */
TAMIS_FN void tamis__raise32_shared(uint8_t *p) {
    _Atomic uint32_t *counter = (_Atomic uint32_t *)(void *)p;
    uint32_t now = atomic_load_explicit(counter, memory_order_relaxed);
    while (now != UINT32_MAX && !atomic_compare_exchange_weak_explicit(
                                    counter, &now, tamis__swap32(tamis__swap32(now) + 1),
                                    memory_order_relaxed, memory_order_relaxed)) {
    }
}

TAMIS_FN void tamis__raise64_shared(uint8_t *p) {
    _Atomic uint64_t *counter = (_Atomic uint64_t *)(void *)p;
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    while (now != UINT64_MAX && !atomic_compare_exchange_weak_explicit(
                                    counter, &now, tamis__swap64(tamis__swap64(now) + 1),
                                    memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* Sets bits while others read and set bits. The load comes first because most bits of a full filter
 * are set already, and a plain load leaves the cache line shared. */
TAMIS_FN void tamis__or64_shared(uint8_t *p, uint64_t bits) {
    _Atomic uint64_t *word = (_Atomic uint64_t *)(void *)p;
    bits = tamis__swap64(bits);
    if ((atomic_load_explicit(word, memory_order_relaxed) & bits) != bits)
        atomic_fetch_or_explicit(word, bits, memory_order_relaxed);
}

TAMIS_FN void tamis__or64(uint8_t *p, uint64_t bits) {
    tamis__put64(p, tamis__get64(p) | bits);
}

/* Bit i of a payload is bit i%64 of its little-endian word i/64, that is bit i%8 of byte i/8. */
TAMIS_FN bool tamis__bit_get(const uint8_t *bytes, uint64_t i) {
    return tamis__load64(bytes + (i >> 6) * 8) >> (i & 63) & 1;
}

TAMIS_FN void tamis__bit_set(uint8_t *bytes, uint64_t i) {
    bytes[i >> 3] |= (uint8_t)(1u << (i & 7));
}

TAMIS_FN unsigned tamis__popcount64(uint64_t x) {
    return (unsigned)__builtin_popcountll(x);
}

/* floor(log2(x)) for x > 0. */
TAMIS_FN unsigned tamis__log2_floor(uint64_t x) {
    return 63u - (unsigned)__builtin_clzll(x);
}

#endif
