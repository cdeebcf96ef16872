/* SPDX-License-Identifier: MIT */
/* CPU features and sizes of caches, detected once. */
#include "cpu/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Features ------------------------------------------------------------------------------- */

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

/* ---- Caches --------------------------------------------------------------------------------- */

#ifndef TAMIS_PLAIN
_Atomic uint32_t tamis__cache_found[TAMIS_CACHES];

/* What a size may be, and what it is where the system knows none. A third cache beyond 64 MiB is
 * shared with many others. */
static const struct {
    uint32_t min, usual, max;
} sizes[TAMIS_CACHES] = {{1 << 17, 1 << 20, 1 << 23}, {1 << 21, 1 << 25, 1 << 26}};

static uint32_t sane(unsigned which, uint64_t size) {
    if (size == 0) return sizes[which].usual;
    if (size < sizes[which].min) return sizes[which].min;
    return size > sizes[which].max ? sizes[which].max : (uint32_t)size;
}

/* A number with its unit, like "1024K", from a file; 0 when there is none. */
static uint64_t number_in(unsigned index, const char *name) {
    char text[80];
    snprintf(text, sizeof text, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
    const int fd = open(text, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    char *end;
    const uint64_t number = strtoull(text, &end, 10);
    return number << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

/* The kernel's answer comes first: for a virtual machine on an EPYC whose cores share 32 MiB, the C
 * library told 384 MiB, those of the whole package. */
static uint64_t reported(unsigned which) {
    const unsigned level = which + 2;
    uint64_t size = number_in(level, "level") == level ? number_in(level, "size") : 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long said =
        size ? 0 : sysconf(which == TAMIS_CACHE_2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
    if (said > 0) size = (uint64_t)said;
#endif
    return size;
}

void tamis__cache_set(unsigned which, uint64_t size) {
    atomic_store_explicit(&tamis__cache_found[which], sane(which, size), memory_order_relaxed);
}

uint32_t tamis__cache_find(unsigned which) {
    const int saved = errno;
    const uint32_t size = sane(which, reported(which));
    errno = saved;
    tamis__cache_set(which, size);
    return size;
}
#endif
