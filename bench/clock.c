/* SPDX-License-Identifier: MIT */
/* Time, medians, and one processor. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"

static double read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double wall_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double cpu_ns(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

int pin(unsigned threads) {
    static cpu_set_t given;
    if (CPU_COUNT(&given) == 0 && sched_getaffinity(0, sizeof given, &given)) return -1;
    cpu_set_t one;
    CPU_ZERO(&one);
    int cpu = CPU_SETSIZE - 1;
    while (cpu >= 0 && !CPU_ISSET(cpu, &given)) cpu--;
    if (threads > 1 || cpu < 0) {
        sched_setaffinity(0, sizeof given, &given);
        return -1;
    }
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) ? -1 : cpu;
}
