/* SPDX-License-Identifier: MIT */
#include "tests/support/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

static void demand(bool is_so, const char *what) {
    if (is_so) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

void test_demand_rate(const tamis *f, uint64_t family, uint64_t probes) {
    const uint64_t hits = test_count_hits(f, family, TEST_STRANGERS, probes);
    test_demand_possible(hits, probes, tamis_fpr_now(f), "strangers, by the bits");
}

static const tamis *original;

static void use(const tamis *forged) {
    tamis *g = test_copy(forged);
    test_count_hits(g, 1, 0, 20);
    test_info(g);
    if (tamis_add_hash(g, 12345) == TAMIS_OK) demand(tamis_has_hash(g, 12345), "an add is lost");
    tamis_tick(g);
    if (tamis_merge(g, original) == TAMIS_OK) test_info(g);
    test_demand_loads(g); /* what we write, we read */
    tamis_free(g);
}

void test_demand_safe_forgeries(const tamis *f, uint64_t family) {
    size_t size;
    uint8_t *image = test_image(f, &size), *forged = malloc(size);
    unsigned taken = 0, refused = 0;
    demand(forged != NULL, "no memory");
    original = f;
    for (uint64_t i = 0; i < 4000; i++) {
        memcpy(forged, image, size);
        for (uint64_t changes = 1 + i % 3, c = 0; c < changes; c++) {
            const uint64_t r = test_number(family, 10 * i + c);
            const uint64_t at = i % 2 ? TEST_WORDS_AT + r % 64 : TEST_HEADER_BYTES + r % 192;
            forged[at % size] = (uint8_t)(r >> 32) & (r >> 40 & 1 ? 0xff : 3);
        }
        if (test_load_resealed(forged, size, use))
            refused++;
        else
            taken++;
    }
    demand(taken > 20 && refused > 20, "forgeries are all refused, or all taken");
    free(image);
    free(forged);
}

void test_demand_refused(const tamis *f, size_t at, uint64_t value, bool is_refused) {
    size_t size;
    uint8_t *image = test_image(f, &size);
    const tamis_status rc = test_load_forged(image, size, at, value, NULL);
    if ((rc == TAMIS_CORRUPT) != is_refused)
        fprintf(stderr, "%llu at %zu: %s\n", (unsigned long long)value, at, tamis_status_name(rc));
    demand((rc == TAMIS_CORRUPT) == is_refused, "the gate decides otherwise");
    free(image);
}
