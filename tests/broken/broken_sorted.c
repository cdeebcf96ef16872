/* SPDX-License-Identifier: MIT */
/* Kinds that are built and lie: sorted with one thing wrong. Verifying must catch them too. */
#define tamis__sorted      tamis__sorted_inside
#define tamis__sorted_map  tamis__sorted_map_inside
#define tamis__sorted_sets tamis__sorted_sets_inside
#include "tests/samples/sorted.c"
#undef tamis__sorted
#undef tamis__sorted_map
#undef tamis__sorted_sets

#include "tests/broken/liar.h"

/* Forgets the last record of the first segment. */
static tamis_status make_short(const uint64_t word[], const tamis_segment *segment, uint8_t *room,
                               uint8_t *out, uint64_t *size) {
    tamis_segment less = *segment;
    less.n -= segment->index == 0 && segment->n > 0;
    return make(word, &less, room, out, size);
}
static const tamis_build short_building = {SORTED_BUILD, .rule = TAMIS_RECORDS_KEYS,
                                           .made = TAMIS_SEGMENT_MADE, .make = make_short};
const tamis_kind tamis__broken_sorted = {SORTED,
                                         .name = "broken_sorted",
                                         .contract = "no_false_negative",
                                         .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers"},
                                         .plan = plan,
                                         .check = check,
                                         .next = next,
                                         .build = &short_building};

/* Takes every hundredth record for the one before it: of a key with many labels one is gone. */
static tamis_status make_blurred(const uint64_t word[], const tamis_segment *segment, uint8_t *room,
                                 uint8_t *out, uint64_t *size) {
    enum { BLURRED = 100 };
    uint64_t n = 0;
    (void)room;
    for (size_t i = 0; i < segment->n; i++) {
        if (i % BLURRED == BLURRED - 1) continue;
        tamis__put64(out + 8 + n * entry_size(word), segment->hash[i]);
        tamis__put64(out + 16 + n++ * entry_size(word), segment->value[i]);
    }
    tamis__put64(out, n);
    *size = max(word, n);
    return TAMIS_OK;
}
static const tamis_build blurred_building = {SORTED_BUILD, .rule = TAMIS_RECORDS_LABELS,
                                             .made = TAMIS_SEGMENT_MADE | 1 << LABELS | 1 << NAMES,
                                             .make = make_blurred};
const tamis_kind tamis__broken_sorted_sets = {
    SORTED,
    .name = "broken_sorted_sets",
    .contract = "members_have_their_labels",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers", "labels", "names"},
    .plan = plan_wide,
    .check = check_wide,
    .next = next,
    .build = &blurred_building,
    .special = &(const tamis_special){.labels = &labels}};
