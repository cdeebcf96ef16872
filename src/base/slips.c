/* SPDX-License-Identifier: MIT */
/* Which name a word is nearest to.
 *
 * The distance counts letters added, dropped, changed, or swapped with their neighbour, which is
 * what hands do (optimal string alignment). Three rows of the usual table are enough.
 */
#include "base/slips.h"

#include <string.h>

enum { LONGEST = 40 }; /* No name of ours is longer; what is longer is no slip. */

static size_t min(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static size_t word_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) above[j] = before[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = a[i - 1] != b[j - 1];
            row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[m];
}

bool tamis_is_slip(const char *typed, const char *name, size_t *distance) {
    const size_t n = strlen(typed), m = strlen(name);
    /* One slip in a short word, two or three in a longer one: more would suggest nonsense. What is
     * left of a short name after a slip may have two letters. */
    const size_t most = n < 2 ? 0 : n < 6 ? 1 : n < 10 ? 2 : 3;
    if (n > LONGEST || m > LONGEST) return false;
    *distance = word_distance(typed, n, name, m);
    return *distance <= most && *distance < m;
}

void tamis__nearest_try(tamis_nearest *nearest, const char *name) {
    size_t distance;
    if (!tamis_is_slip(nearest->typed, name, &distance)) return;
    if (nearest->name && distance >= nearest->distance) return;
    nearest->name = name;
    nearest->distance = distance;
}
