/* SPDX-License-Identifier: MIT */
/* duration.c: times as people write them. */
#include "cli/args/args.h"

#include <stdlib.h>
#include <string.h>

uint64_t parse_duration(const char *text) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    if (strspn(text, "0123456789.") == 0) return 0;
    const double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        const double seconds = value * units[i].seconds;
        return seconds >= 1e-3 && seconds <= 1e9 ? (uint64_t)(seconds * 1e9) : 0;
    }
    return 0;
}
