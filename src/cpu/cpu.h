/* SPDX-License-Identifier: MIT */
/* For kinds, core and tests: CPU features and caches. */
#ifndef TAMIS_CPU_CPU_H
#define TAMIS_CPU_CPU_H

#include <stdatomic.h>
#include <stdint.h>

/* Kernel files are compiled for every target; they are empty where the vector unit is unknown, and
 * in small builds, which define TAMIS_PLAIN. Kernels for x86 and NEON load words directly and know
 * only little-endian order. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(TAMIS_PLAIN)
#define TAMIS_HAS_X86 1
#else
#define TAMIS_HAS_X86 0
#endif
#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__) && !defined(TAMIS_PLAIN)
#define TAMIS_HAS_NEON 1
#else
#define TAMIS_HAS_NEON 0
#endif

enum {
    TAMIS_CPU_AVX2 = 1 << 0,
    TAMIS_CPU_AVX512 = 1 << 1, /* F BW CD DQ VL and IFMA VBMI VBMI2 BITALG VPOPCNTDQ: since 2019 */
    TAMIS_CPU_NEON = 1 << 2,
    TAMIS_CPU_PRODUCTS = 1 << 3, /* AVX-512 multiplies 64-bit lanes in one step: AMD's */
    TAMIS_CPU_TEST = 1 << 29,    /* no machine has it; tests check that bytes stay the same */
    TAMIS_CPU_ALL = TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512 | TAMIS_CPU_NEON | TAMIS_CPU_PRODUCTS
};

/* Zero until detected. */
extern _Atomic uint32_t tamis__cpu_found;
uint32_t tamis__cpu_find(void);

/* The features that may be used, detected once and cached. The environment variable TAMIS_CPU
 * lowers them: "plain" means none, "avx2" means nothing beyond that. */
static inline uint32_t tamis__cpu(void) {
    const uint32_t bits = atomic_load_explicit(&tamis__cpu_found, memory_order_relaxed);
    return bits ? bits : tamis__cpu_find();
}

/* For tests: use these from now on. Bits that the machine lacks are ignored. */
void tamis__cpu_set(uint32_t bits);

/* The caches that decide how payloads are read: a core's own second one, and the third. */
enum { TAMIS_CACHE_2, TAMIS_CACHE_3, TAMIS_CACHES };

#ifdef TAMIS_PLAIN
/* Small builds take usual ones. */
static inline uint32_t tamis__cache(unsigned which) {
    return which == TAMIS_CACHE_2 ? (uint32_t)1 << 20 : (uint32_t)1 << 25;
}
#else
/* Zero until known. */
extern _Atomic uint32_t tamis__cache_found[TAMIS_CACHES];
uint32_t tamis__cache_find(unsigned which);

/* Its size in bytes as the system reports it, or a usual one, asked for once. */
static inline uint32_t tamis__cache(unsigned which) {
    const uint32_t size = atomic_load_explicit(&tamis__cache_found[which], memory_order_relaxed);
    return size ? size : tamis__cache_find(which);
}

/* For tests: from now on the system reports this size; 0 is none. */
void tamis__cache_set(unsigned which, uint64_t size);
#endif

/* Payloads up to this size stay in the second cache of a core: prefetching them costs more than it
 * gains. */
static inline uint32_t tamis__near_bytes(void) {
    return tamis__cache(TAMIS_CACHE_2);
}

#endif
