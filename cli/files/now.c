/* SPDX-License-Identifier: MIT */
/* now.c: the time, which only goes forward. */
#include "cli/files/files.h"

#include <time.h>

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int64_t now_ms(void) {
    return (int64_t)(now_ns() / 1000000);
}
