/* SPDX-License-Identifier: MIT */
#include "tests/support/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "hash/hash.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

void test_reseal(uint8_t *image, size_t size) {
    tamis__put64(image + 176,
                 tamis__checksum(image + TEST_HEADER_BYTES, size - TEST_HEADER_BYTES, NULL, 0));
    tamis__put64(image + 184, tamis__checksum(image, 184, NULL, 0));
}

tamis_status test_load_resealed(uint8_t *image, size_t size, test_use use) {
    tamis *f;
    test_reseal(image, size);
    const tamis_status rc = tamis_load(&f, image, size);
    if (rc ? f != NULL : f == NULL) {
        fprintf(stderr, "load returned %s, but did the opposite\n", tamis_status_name(rc));
        abort();
    }
    if (f && use) use(f);
    tamis_free(f);
    return rc;
}

tamis_status test_load_forged(uint8_t *image, size_t size, size_t at, uint64_t value,
                              test_use use) {
    const uint64_t right = tamis__get64(image + at);
    tamis__put64(image + at, value);
    const tamis_status rc = test_load_resealed(image, size, use);
    tamis__put64(image + at, right);
    return rc;
}

bool test_takes_word(uint8_t *image, size_t size, size_t word, uint64_t value) {
    return test_load_forged(image, size, TEST_HEADER_BYTES + 8 * word, value, NULL) == TAMIS_OK;
}

bool test_takes_flip(const tamis *f, uint64_t bit) {
    size_t size;
    uint8_t *image = test_image(f, &size);
    image[TEST_HEADER_BYTES + bit / 8] ^= (uint8_t)(1 << bit % 8);
    const bool is_taken = test_load_resealed(image, size, NULL) == TAMIS_OK;
    free(image);
    return is_taken;
}

bool test_refuses_words(const tamis *f, const test_word *list, size_t n, test_use use) {
    size_t size;
    uint8_t *image = test_image(f, &size);
    bool is_refused = true;
    for (size_t i = 0; i < n; i++) {
        const size_t at = TEST_WORDS_AT + 8 * (size_t)list[i].word;
        const tamis_status rc = test_load_forged(image, size, at, list[i].value, use);
        if (rc == TAMIS_CORRUPT) continue;
        fprintf(stderr, "word %u, %#llx: %s\n", list[i].word, (unsigned long long)list[i].value,
                tamis_status_name(rc));
        is_refused = false;
    }
    const bool is_let_in = test_load_resealed(image, size, use) == TAMIS_OK;
    free(image);
    return is_refused && is_let_in;
}

unsigned test_flip_bits(const tamis *f, unsigned images, test_use use) {
    size_t size;
    unsigned let_in = 0;
    uint8_t *image = test_image(f, &size), *forged = malloc(size);
    if (!forged) abort();
    for (uint64_t i = 0; i < images; i++) {
        memcpy(forged, image, size);
        for (uint64_t j = 0; j <= i % 3; j++) {
            const size_t from = i % 8 < 7 ? TEST_HEADER_BYTES : TEST_WORDS_AT;
            const size_t bytes = i % 8 < 7 ? size - TEST_HEADER_BYTES : 8 * TAMIS_WORDS;
            const uint64_t bit = 8 * from + test_number(i, j) % (8 * bytes);
            forged[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        let_in += test_load_resealed(forged, size, use) == TAMIS_OK;
    }
    free(forged);
    free(image);
    return let_in;
}
