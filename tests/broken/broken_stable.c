/* SPDX-License-Identifier: MIT */
/* Lies of stable: wear at the wrong moment. */
#define tamis__stable tamis__stable_inside
#include "src/kinds/stable.c"
#undef tamis__stable

#include "tests/broken/liar.h"

#define SOUND                                                                                \
    .word = {"cells", "width", "hashes", "decrements", "dice"},                              \
    .traits = TAMIS_AGES | TAMIS_MAY_FORGET, .plan = plan, .check = check, .probes = probes, \
    .rate = rate, .measure = measure, .query = query, .add = add

/* Cells of one bit, so that wear shows at once. */
static tamis_status plan_narrow(const tamis_params *params, uint64_t word[]) {
    tamis_params narrow = *params;
    narrow.has_option[OPT_WIDTH] = true;
    narrow.option[OPT_WIDTH] = 1;
    return plan(&narrow, word);
}

/* Sets the cells of a key first and wears then, so that a key may be gone as soon as it is
 * added. */
static tamis_status add_then_wear(tamis_body *f, tamis_batch b) {
    const unsigned width = (unsigned)f->word[WIDTH];
    for (size_t j = 0; j < b.n; j++) {
        const uint64_t from = draw(f), left = f->word[CELLS] - from;
        uint64_t x = tamis__chain_start(b.hash[j]);
        for (uint64_t i = 0; i < f->word[HASHES]; i++)
            tamis__field_put(cells_at(f), tamis__chain_next(&x, f->word[CELLS]), width,
                             tamis__field_mask(width));
        const uint64_t worn = f->word[DECREMENTS] < left ? f->word[DECREMENTS] : left;
        wear(f, from * width, (from + worn) * width);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_wear = {SOUND, .name = "broken_wear", .contract = "add_new_tells",
                                       .plan = plan_narrow, .add = add_then_wear};

/* Nothing is ever worn. */
static tamis_status add_without_wear(tamis_body *f, tamis_batch b) {
    const unsigned width = (unsigned)f->word[WIDTH];
    for (size_t j = 0; j < b.n; j++) {
        uint64_t x = tamis__chain_start(b.hash[j]);
        for (uint64_t i = 0; i < f->word[HASHES]; i++)
            tamis__field_put(cells_at(f), tamis__chain_next(&x, f->word[CELLS]), width,
                             tamis__field_mask(width));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_wearless = {SOUND, .name = "broken_wearless",
                                           .contract = "old_keys_leave", .add = add_without_wear};
