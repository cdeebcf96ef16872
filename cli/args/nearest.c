/* SPDX-License-Identifier: MIT */
/* nearest.c: "did you mean": one way to say that a name is unknown. */
#include "cli/cli.h"

#include <string.h>

void nearest_try(struct nearest *nearest, const char *name) {
    size_t distance;
    if (!tamis_is_slip(nearest->typed, name, &distance)) return;
    if (nearest->name && distance >= nearest->distance) return;
    nearest->name = name;
    nearest->distance = distance;
}

struct human nearest_word(const char *typed, const char *words) {
    struct human nearest = {""};
    size_t best = 0, distance;
    for (const char *at = words; *at;) {
        const size_t len = strcspn(at, " ");
        const struct human each = human_words("%.*s", (int)len, at);
        if (tamis_is_slip(typed, each.text, &distance) && (!*nearest.text || distance < best)) {
            nearest = each;
            best = distance;
        }
        at += len + strspn(at + len, " ");
    }
    return nearest;
}
