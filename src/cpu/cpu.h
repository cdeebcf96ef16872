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

enum { TAMIS_CPU_AVX2 = 1 << 0 };

/* The abilities that may be used, found once and cached. The environment variable TAMIS_CPU
 * lowers them: "plain" means none, "avx2" means at most that. */
uint32_t tamis__cpu(void);

/* Tests: allow only these, whatever was found. */
void tamis__cpu_limit(uint32_t allowed);

#endif
