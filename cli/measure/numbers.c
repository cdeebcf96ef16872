/* SPDX-License-Identifier: MIT */
/* numbers.c: filters of numbers, to measure with. */
#include "cli/measure/numbers.h"

#include <stdlib.h>

enum { MANY = 1 << 16 };

uint64_t number_at(uint64_t i) {
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
    return i ^ i >> 31;
}

tamis_status numbers_builder(tamis_builder **builder, const char *spec,
                             const struct tamis_options *options) {
    const struct tamis_builder_options building = {
        .struct_size = sizeof building, .filter = options, .threads = options->threads};
    return tamis_builder_create_with(builder, spec, &building);
}

static tamis_status add_numbers(tamis_builder *builder, uint64_t first, uint64_t n) {
    uint64_t *numbers = malloc(MANY * sizeof *numbers);
    tamis_status status = numbers ? TAMIS_OK : TAMIS_NOMEM;
    for (uint64_t done = 0; done < n && !status; done += MANY) {
        const size_t now = n - done < MANY ? (size_t)(n - done) : MANY;
        for (size_t i = 0; i < now; i++) numbers[i] = number_at(first + done + i);
        status = tamis_builder_add_u64s(builder, numbers, now);
    }
    free(numbers);
    return status;
}

tamis_status numbers_build(const char *spec, uint64_t first, uint64_t keys,
                           const struct tamis_options *options, tamis **filter) {
    tamis_builder *builder = NULL;
    *filter = NULL;
    tamis_status status = numbers_builder(&builder, spec, options);
    if (!status) status = add_numbers(builder, first, keys);
    if (!status) status = tamis_builder_finish(builder, filter);
    tamis_builder_free(builder);
    return status;
}

uint64_t numbers_hits(const tamis *filter, uint64_t first, uint64_t n) {
    enum { LIST = 4096 };
    uint64_t numbers[LIST], hits = 0;
    uint8_t hit[LIST];
    for (uint64_t done = 0; done < n; done += LIST) {
        const size_t now = n - done < LIST ? (size_t)(n - done) : LIST;
        for (size_t i = 0; i < now; i++) numbers[i] = number_at(FIRST_NONMEMBER + first + done + i);
        tamis_has_u64s(filter, numbers, now, hit);
        for (size_t i = 0; i < now; i++) hits += hit[i];
    }
    return hits;
}
