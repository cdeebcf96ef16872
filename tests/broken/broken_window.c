/* Lies of window: time that goes too fast, too slowly, or not at all. */
#define tamis__window tamis__window_inside
#include "src/kinds/window.c"
#undef tamis__window

#include "tests/broken/liar.h"

#define SOUND                                                                                     \
    .word = {"hashes", "generations", "each", "slice", "by"}, .traits = TAMIS_AGES, .plan = plan, \
    .check = check, .probes = probes, .rate = rate, .audit = audit, .query = query, .add = add,   \
    .tick = turn, .measure = measure

/* Turns one add too early. */
static tamis_status add_early(tamis_body *f, const uint64_t *hash, size_t n) {
    for (size_t j = 0; j < n; j++) {
        if (adds_of(f) + 1 >= f->word[EACH]) turn(f);
        add(f, hash + j, 1);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_early = {SOUND, .name = "broken_early",
                                        .contract = "window_holds_its_guarantee", .add = add_early};

/* Starts anew when it is full, as two filters do that are swapped without a look at the old one. */
static tamis_status add_anew(tamis_body *f, const uint64_t *hash, size_t n) {
    for (size_t j = 0; j < n; j++) {
        if (f->items + j && (f->items + j) % (f->word[GENERATIONS] * f->word[EACH]) == 0)
            for (uint64_t i = 0; i < slices_of(f->word); i++) turn(f);
        add(f, hash + j, 1);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_anew = {SOUND, .name = "broken_anew",
                                       .contract = "programs_agree_with_a_model", .add = add_anew};
