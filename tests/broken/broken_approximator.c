/* SPDX-License-Identifier: MIT */
/* Lies of approximator: bounds that do not hold. */
#define tamis__approximator tamis__approximator_inside
#include "src/kinds/approximator.c"
#undef tamis__approximator

#include "tests/broken/liar.h"

#define SOUND                                                                                   \
    .word = {"bits", "hashes", "value", "lattice"}, .options = options,                         \
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, .plan = plan, .check = check,                  \
    .probes = tamis__hash_probes, .rate = rate, .audit = tamis__bits_audit, .measure = measure, \
    .query = query,                                                                             \
    .values = &(const tamis_values){.get = get, .put = put, .max_value = max_value},            \
    .sets = &(const tamis_sets){.merge = merge}, .add = add

/* The last one wins, also where cells are shared. */
static tamis_status put_over(tamis_body *f, tamis_batch b, const uint64_t *value) {
    const tamis_cells c = cells_of(f);
    for (size_t j = 0; j < b.n; j++) {
        uint64_t x = tamis__chain_start(b.hash[j]);
        for (uint64_t i = 0; i < f->word[HASHES]; i++)
            tamis__field_put(c.bytes, tamis__chain_next(&x, c.n), c.width, value[j]);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_last_value = {
    SOUND, .name = "broken_last_value", .contract = "values_come_back",
    .values = &(const tamis_values){.get = get, .put = put_over, .max_value = max_value}};

/* Looks at the first cell only: a bound, and a bad one. */
static void get_of_one(const tamis_body *f, tamis_batch b, uint64_t *value, uint8_t *hit) {
    const tamis_cells c = cells_of(f);
    get(f, b, value, hit);
    for (size_t j = 0; j < b.n; j++) {
        uint64_t x = tamis__chain_start(b.hash[j]);
        if (hit[j]) value[j] = cell_load(c, tamis__chain_next(&x, c.n));
    }
}
const tamis_kind tamis__broken_one_cell = {
    SOUND, .name = "broken_one_cell", .contract = "values_come_back",
    .values = &(const tamis_values){.get = get_of_one, .put = put, .max_value = max_value}};
