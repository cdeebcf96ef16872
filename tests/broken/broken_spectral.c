/* Lies of spectral: counts that are wrong by more than a promise allows. */
#define tamis__spectral tamis__spectral_inside
#include "src/kinds/spectral.c"
#undef tamis__spectral

#include "tests/broken/liar.h"

#define SOUND                                                                                     \
    .word = {"bits", "hashes", "mode", "width"}, .traits = TAMIS_ANY_ORDER, .lacks = lacks,       \
    .plan = plan, .check = check, .probes = probes, .rate = rate, .audit = audit, .query = query, \
    .add = add, .remove = remove_one, .count = count, .sure_count = sure_count, .fold = fold,     \
    .move = move, .merge = merge, .measure = measure

/* The largest cell for the smallest. */
static void count_largest(const tamis_body *f, const uint64_t *hash, size_t n, uint64_t *out) {
    for (size_t j = 0; j < n; j++) {
        const tamis_spots spots = primary_spots(f, hash[j]);
        uint8_t hit;
        query(f, hash + j, 1, &hit);
        out[j] = 0;
        for (unsigned i = 0; i < spots.n && hit; i++) {
            const uint64_t value = tamis__cell_get(primary(f), spots.spot[i].at);
            if (value > out[j]) out[j] = value;
        }
    }
}
const tamis_kind tamis__broken_largest = {SOUND, .name = "broken_largest",
                                          .contract = "count_never_under", .count = count_largest};

/* Counts by two of the cells: seldom too high for a key, often more than nothing for a stranger. */
static void count_by_two(const tamis_body *f, const uint64_t *hash, size_t n, uint64_t *out) {
    for (size_t j = 0; j < n; j++) {
        tamis_spots spots = primary_spots(f, hash[j]);
        if (spots.n > 2) spots.n = 2;
        out[j] = tamis__spots_count(primary(f), &spots, NULL);
    }
}
const tamis_kind tamis__broken_two_cells = {SOUND, .name = "broken_two_cells",
                                            .contract = "count_never_under", .count = count_by_two};

/* Is full when it has had as many adds as a tenth of its cells, whatever they were. */
static uint64_t room_by_adds(const tamis_body *f) {
    const uint64_t most = primary_of(f->word) / 10;
    return f->items < most ? most - f->items : 0;
}
const tamis_kind tamis__broken_full = {SOUND, .name = "broken_full",
                                       .contract = "count_never_under", .room = room_by_adds};

/* Counts from one to one more. */
static void count_one_more(const tamis_body *f, const uint64_t *hash, size_t n, uint64_t *out) {
    count(f, hash, n, out);
    for (size_t j = 0; j < n; j++) out[j] += out[j] > 0;
}
const tamis_kind tamis__broken_one_more = {
    SOUND, .name = "broken_one_more", .contract = "count_follows_removes", .count = count_one_more};
