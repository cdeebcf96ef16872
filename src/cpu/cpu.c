/* What this machine can do, asked once. */
#include "cpu/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The answer is the same for every thread that asks first, so a race to fill it in is harmless. */
enum { KNOWN = 1 << 30 };
static _Atomic uint32_t found;

static uint32_t find(void) {
    uint32_t bits = 0;
#if TAMIS_HAS_AVX2
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) bits |= TAMIS_CPU_AVX2;
#endif
    const char *limit = getenv("TAMIS_CPU");
    if (limit && strcmp(limit, "plain") == 0) bits = 0;
    if (limit && strcmp(limit, "avx2") == 0) bits &= TAMIS_CPU_AVX2;
    return bits;
}

uint32_t tamis__cpu(void) {
    uint32_t bits = atomic_load_explicit(&found, memory_order_relaxed);
    if (!bits) {
        bits = find() | KNOWN;
        atomic_store_explicit(&found, bits, memory_order_relaxed);
    }
    return bits;
}

void tamis__cpu_set(uint32_t bits) {
    const uint32_t usable = bits & (find() | TAMIS_CPU_TEST);
    atomic_store_explicit(&found, usable | KNOWN, memory_order_relaxed);
}
