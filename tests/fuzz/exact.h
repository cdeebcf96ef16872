/* SPDX-License-Identifier: MIT */
/* Those who replay inputs of fuzzers may include this. */
#ifndef TAMIS_TESTS_FUZZ_EXACT_H
#define TAMIS_TESTS_FUZZ_EXACT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly the right length, so that a checked build sees every byte too far. */
static inline void try_bytes(const uint8_t *bytes, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

#endif
