/* SPDX-License-Identifier: MIT */
#include "tests/support/differences.h"

#include <stdio.h>
#include <stdlib.h>

#include "tamis_engine.h"
#include "tamis_special.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static bool count_one(void *ctx, uint64_t hash, bool is_first) {
    (void)hash, (void)is_first;
    ++*(uint64_t *)ctx;
    return true;
}

uint64_t test_count_unlisted(const char *spec, uint64_t family, uint64_t d, uint64_t pairs) {
    uint64_t failed = 0;
    tamis *empty = test_make("%s", spec);
    for (uint64_t t = 0; t < pairs; t++) {
        uint64_t listed = 0;
        tamis *f = test_copy(empty);
        test_add_hashes(f, family, t * d, (t + 1) * d);
        const tamis_status rc = tamis_difference(f, empty, count_one, &listed);
        if (rc != TAMIS_PARTIAL) test_demand(rc, "list");
        if ((listed == d) != (rc == TAMIS_OK)) {
            fprintf(stderr, "%s: %llu of %llu are listed, with status %d\n", spec,
                    (unsigned long long)listed, (unsigned long long)d, rc);
            abort();
        }
        failed += rc != TAMIS_OK;
        tamis_free(f);
    }
    tamis_free(empty);
    return failed;
}

test_sizes test_estimate_sizes(const char *spec, uint64_t family, uint64_t d, uint64_t pairs) {
    test_sizes sizes = {{0, 0, 0}, 0};
    for (uint64_t t = 0; t < pairs; t++) {
        struct tamis_estimate size;
        tamis *a = test_make("%s", spec), *b = test_copy(a);
        test_add_hashes(a, family, t * d, t * d + d / 2);
        test_add_hashes(b, family, t * d + d / 2, (t + 1) * d);
        test_demand(tamis_difference_size(a, b, &size), "size");
        test_spread_add(&sizes.found, size.value);
        sizes.told += size.error * size.error / (double)pairs;
        tamis_free(a);
        tamis_free(b);
    }
    return sizes;
}
