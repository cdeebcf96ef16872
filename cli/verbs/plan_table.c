/* SPDX-License-Identifier: MIT */
/* plan_table.c: the published tables of false-positive rates, for `tamis plan --table`.
 *
 * Rows are bits per key (m/n), columns the number of probes (k). A row ends two columns after the
 * best k, rounded down, and never has more probes than bits per key: beyond that a larger k only
 * costs. These are the limits of the tables in print.
 */
#include "cli/cli.h"
#include "cli/verbs/plan.h"
#include "tamis_math.h"

enum { FIRST_ROW = 2, LAST_ROW = 32, LAST_COLUMN = 24, BAND = 8 };

static int last_useful(int bits_per_key) {
    const int beyond_best = (int)tamis_best_hashes_derivative(1, bits_per_key) + 2;
    return beyond_best < bits_per_key ? beyond_best : bits_per_key;
}

static void print_band(int first) {
    const int last = first + BAND - 1;
    printf("%4s %6s", "m/n", "k_opt");
    for (int k = first; k <= last; k++) printf(" %*sk=%d", k < 10 ? 5 : 4, "", k);
    putchar('\n');
    for (int ratio = FIRST_ROW; ratio <= LAST_ROW; ratio++) {
        if (last_useful(ratio) < first) continue;
        printf("%4d %6.2f", ratio, tamis_best_hashes_derivative(1, ratio));
        for (int k = first; k <= last && k <= last_useful(ratio); k++)
            printf(" %#8.3g", tamis_rate_approx(1, ratio, k));
        putchar('\n');
    }
}

static void write_tables(void) {
    struct json json = json_start(stdout);
    json_open(&json, "rows", '[');
    for (int ratio = FIRST_ROW; ratio <= LAST_ROW; ratio++) {
        json_open(&json, NULL, '{');
        json_count(&json, "bits_per_key", (uint64_t)ratio);
        json_real(&json, "best_probes", tamis_best_hashes_derivative(1, ratio));
        json_open(&json, "fpr_by_probes", '[');
        for (int k = 1; k <= last_useful(ratio); k++)
            json_real(&json, NULL, tamis_rate_approx(1, ratio, k));
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

int print_rate_tables(bool as_json) {
    if (as_json) {
        write_tables();
        return EXIT_FOUND;
    }
    for (int first = 1; first <= LAST_COLUMN; first += BAND) {
        if (first > 1) putchar('\n');
        print_band(first);
    }
    return EXIT_FOUND;
}
