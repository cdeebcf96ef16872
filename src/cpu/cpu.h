/* Kinds and tests may include this: what this machine can do. */
#ifndef TAMIS_CPU_CPU_H
#define TAMIS_CPU_CPU_H

#include <stdint.h>

/* Kernel files are compiled for every target; they are empty where the vector unit is unknown. */
#if defined(__x86_64__) && defined(__GNUC__)
#define TAMIS_HAS_AVX2 1
#else
#define TAMIS_HAS_AVX2 0
#endif

enum {
    TAMIS_CPU_AVX2 = 1 << 0,
    TAMIS_CPU_TEST = 1 << 29, /* no machine has it; tests set it to see that bytes stay the same */
    TAMIS_CPU_ALL = TAMIS_CPU_AVX2
};

/* The abilities that may be used, found once and cached. The environment variable TAMIS_CPU
 * lowers them: "plain" means none, "avx2" means at most that. */
uint32_t tamis__cpu(void);

/* Tests: use these from now on. Bits that the machine lacks are left out. */
void tamis__cpu_set(uint32_t bits);

#endif
