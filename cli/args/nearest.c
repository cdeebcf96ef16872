/* SPDX-License-Identifier: MIT */
/* nearest.c: which name a word is nearest to, for "did you mean".
 *
 * The distance counts letters added, dropped, changed, or swapped with their neighbour, which is
 * what hands do (optimal string alignment). Three rows of the usual table are enough.
 */
#include "cli/cli.h"

#include <string.h>

enum { LONGEST = 40 }; /* No name of ours is longer; what is longer is no slip. */

static size_t min(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static size_t word_distance(const char *a, const char *b) {
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return n + m;

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

void nearest_try(struct nearest *nearest, const char *name) {
    const size_t distance = word_distance(nearest->typed, name);
    if (nearest->name && distance >= nearest->distance) return;
    nearest->name = name;
    nearest->distance = distance;
}

const char *nearest_found(const struct nearest *nearest) {
    /* One slip in a short word, two in a longer one: more would suggest nonsense. */
    const size_t len = strlen(nearest->typed);
    const size_t most = len < 3 ? 0 : len < 6 ? 1 : len < 10 ? 2 : 3;
    return nearest->name && nearest->distance <= most ? nearest->name : NULL;
}
