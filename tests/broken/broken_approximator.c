/* SPDX-License-Identifier: MIT */
/* Lies of approximator: bounds that are none. */
#define tamis__approximator tamis__approximator_inside
#include "src/kinds/approximator.c"
#undef tamis__approximator

#include "tests/broken/liar.h"

#define SOUND                                                                                      \
    .word = {"bits", "hashes", "value", "lattice"}, .options = options,                            \
    .option_count = sizeof options / sizeof *options, .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, \
    .plan = plan, .check = check, .probes = probes, .rate = rate, .audit = audit, .query = query,  \
    .add = add, .get = get, .put = put, .max_value = max_value, .merge = merge, .measure = measure

/* The last one wins, also where cells are shared. */
static tamis_status put_over(tamis_body *f, const uint64_t *hash, const uint64_t *value, size_t n) {
    const tamis_cells c = cells_of(f);
    for (size_t j = 0; j < n; j++) {
        uint64_t x = tamis__chain_start(hash[j]);
        for (uint64_t i = 0; i < f->word[HASHES]; i++)
            tamis__field_put(c.bytes, tamis__chain_next(&x, c.n), c.width, value[j]);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_last_value = {SOUND, .name = "broken_last_value",
                                             .contract = "values_come_back", .put = put_over};

/* Looks at the first cell only: a bound, and a bad one. */
static void get_of_one(const tamis_body *f, const uint64_t *hash, size_t n, uint64_t *value,
                       uint8_t *hit) {
    const tamis_cells c = cells_of(f);
    get(f, hash, n, value, hit);
    for (size_t j = 0; j < n; j++) {
        uint64_t x = tamis__chain_start(hash[j]);
        if (hit[j]) value[j] = cell_load(c, tamis__chain_next(&x, c.n));
    }
}
const tamis_kind tamis__broken_one_cell = {SOUND, .name = "broken_one_cell",
                                           .contract = "values_come_back", .get = get_of_one};
