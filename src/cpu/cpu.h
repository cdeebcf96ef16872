/* SPDX-License-Identifier: MIT */
/* Kinds and tests may include this: what this machine can do. */
#ifndef TAMIS_CPU_CPU_H
#define TAMIS_CPU_CPU_H

#include <stdatomic.h>
#include <stdint.h>

/* Kernel files are compiled for every target; they are empty where the vector unit is unknown, and
 * in small builds, which have TAMIS_PLAIN. Kernels for x86 load words as they lie and know only
 * this byte order; so do those for NEON. */
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
    TAMIS_CPU_TEST = 1 << 29, /* no machine has it; tests set it to see that bytes stay the same */
    TAMIS_CPU_ALL = TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512 | TAMIS_CPU_NEON
};

/* Payloads up to this size stay in the second cache of a core: prefetching them costs more than it
 * brings. */
enum { TAMIS_NEAR_BYTES = 1 << 20 };

/* Zero until the first question. */
extern _Atomic uint32_t tamis__cpu_found;
uint32_t tamis__cpu_find(void);

/* The abilities that may be used, found once and cached. The environment variable TAMIS_CPU
 * lowers them: "plain" means none, "avx2" means nothing beyond that. */
static inline uint32_t tamis__cpu(void) {
    const uint32_t bits = atomic_load_explicit(&tamis__cpu_found, memory_order_relaxed);
    return bits ? bits : tamis__cpu_find();
}

/* Tests: use these from now on. Bits that the machine lacks are left out. */
void tamis__cpu_set(uint32_t bits);

#endif
