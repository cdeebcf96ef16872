/* SPDX-License-Identifier: MIT */
/* Lies of kinds that are built once: each is sorted, or its map, or its sets, with one thing wrong
 * that was right when the last key was added. */
#define tamis__sorted      tamis__sorted_of_liars
#define tamis__sorted_map  tamis__sorted_map_of_liars
#define tamis__sorted_sets tamis__sorted_sets_of_liars
#include "tests/samples/sorted.c"
#undef tamis__sorted
#undef tamis__sorted_map
#undef tamis__sorted_sets

#include "cpu/cpu.h"
#include "tests/broken/liar.h"

#define SET                                                                              \
    SORTED, .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers"}, .plan = plan, .check = check, \
            .next = next, .build = &building
#define MAP                                                                                        \
    SORTED, .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers"}, .plan = plan_wide, .check = check_wide, \
            .values = &(const tamis_values){.get = get, .max_value = max_value},                   \
            .build = &map_building
#define SETS                                                                                     \
    SORTED, .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers", "labels", "names"}, .plan = plan_wide, \
            .check = check_wide, .next = next,                                                   \
            .special = &(const tamis_special){.labels = &labels}, .build = &sets_building
#define FACET SORTED_BUILD, .rule = TAMIS_RECORDS_KEYS, .made = TAMIS_SEGMENT_MADE

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* A segment with one number more than it needs. */
static uint64_t most_and_one(const uint64_t word[], uint64_t n) {
    return max(word, n) + 8;
}
static tamis_status make_with(const uint64_t word[], const tamis_segment *segment, uint64_t number,
                              uint8_t *out, uint64_t *size) {
    const tamis_status rc = make(word, segment, NULL, out, size);
    tamis__put64(out + *size, number);
    *size += 8;
    return rc;
}

/* Counts the segments it has made. */
static tamis_status make_by_turn(const uint64_t word[], const tamis_segment *segment, uint8_t *room,
                                 uint8_t *out, uint64_t *size) {
    static uint64_t turn;
    (void)room;
    return make_with(word, segment, turn++, out, size);
}
static const tamis_build by_turn = {FACET, .max = most_and_one, .make = make_by_turn};
const tamis_kind tamis__broken_turn = {SET, .name = "broken_turn",
                                       .contract = "one_set_is_one_filter", .audit = NULL,
                                       .build = &by_turn};
const tamis_kind tamis__broken_two_files = {SET, .name = "broken_two_files",
                                            .contract = "file_is_the_image", .audit = NULL,
                                            .build = &by_turn};

/* Another layout where the CPU has more features. */
static tamis_status make_by_cpu(const uint64_t word[], const tamis_segment *segment, uint8_t *room,
                                uint8_t *out, uint64_t *size) {
    (void)room;
    return make_with(word, segment, tamis__cpu() & TAMIS_CPU_TEST, out, size);
}
static const tamis_build by_cpu = {FACET, .max = most_and_one, .make = make_by_cpu};
const tamis_kind tamis__broken_cpu_segment = {SET, .name = "broken_cpu_segment",
                                              .contract = "same_bytes_on_every_cpu", .audit = NULL,
                                              .build = &by_cpu};

/* Plans another cut on every call. */
static tamis_status plan_anew(const tamis_params *params, uint64_t word[]) {
    static uint64_t turn;
    const tamis_status rc = plan(params, word);
    word[TAMIS_SEGMENT_KEYS] -= turn++ % 1000;
    return rc;
}
const tamis_kind tamis__broken_anew_each = {SET, .name = "broken_anew_each",
                                            .contract = "spec_builds_it_again", .plan = plan_anew};

/* Takes half of what it plans. */
static tamis_status plan_double(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = plan(params, word);
    word[TAMIS_SEGMENT_BYTES] *= 2;
    return rc;
}
const tamis_kind tamis__broken_double = {SET, .name = "broken_double",
                                         .contract = "plan_tells_the_truth", .plan = plan_double};

/* Merges with filters that are cut in another way. */
static const tamis_build any_cut = {FACET, .made = TAMIS_SEGMENT_MADE | 1 << TAMIS_SEGMENT_KEYS};
const tamis_kind tamis__broken_any_cut = {SET, .name = "broken_any_cut",
                                          .contract = "mismatch_refused", .build = &any_cut};

/* ---- Answers -------------------------------------------------------------------------------- */

/* Forgets a key, and is queried for it before the filter is returned. */
static tamis_status make_without_last(const uint64_t word[], const tamis_segment *segment,
                                      uint8_t *room, uint8_t *out, uint64_t *size) {
    tamis_segment less = *segment;
    less.n -= segment->n > 0;
    return make(word, &less, room, out, size);
}
static const tamis_build without_last = {FACET, .make = make_without_last};
const tamis_kind tamis__broken_last = {SET, .name = "broken_last", .contract = "file_is_the_image",
                                       .build = &without_last};
const tamis_kind tamis__broken_any_kind = {
    SET, .name = "broken_any_kind", .contract = "every_kind_can_be_built", .build = &without_last};

/* Answers a batch from its first hash. */
static void query_of_first(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    query(f, tamis__hashes(b.hash, b.n ? 1 : 0), hit);
    for (size_t i = 1; i < b.n; i++) hit[i] = hit[0];
}
const tamis_kind tamis__broken_first_built = {
    SET, .name = "broken_first_built", .contract = "batch_equals_single", .query = query_of_first};

/* Without any key there is nothing to compare with, and it says yes. */
static void query_of_none(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    query(f, b, hit);
    for (size_t i = 0; i < b.n; i++) hit[i] |= entries_of(f, segment_of(f->word, b.hash[i])).n == 0;
}
const tamis_kind tamis__broken_nothing = {SET, .name = "broken_nothing",
                                          .contract = "empty_has_nothing", .query = query_of_none};

/* Accepts an add, and drops it. */
static tamis_status add_to_nowhere(tamis_body *f, tamis_batch b) {
    (void)f, (void)b.hash, (void)b.n;
    return TAMIS_OK;
}
const tamis_kind tamis__broken_nowhere = {SET, .name = "broken_nowhere", .contract = "built_once",
                                          .add = add_to_nowhere};

/* ---- Lists ---------------------------------------------------------------------------------- */

/* Leaves out one in twenty. */
static bool next_but_some(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    bool is_there = next(f, cursor, hash, count);
    while (is_there && *hash % 20 == 0) is_there = next(f, cursor, hash, count);
    return is_there;
}
const tamis_kind tamis__broken_short_list = {
    SET, .name = "broken_short_list", .contract = "list_builds_it_again", .next = next_but_some};
const tamis_kind tamis__broken_short_union = {SET, .name = "broken_short_union",
                                              .contract = "merge_is_union", .next = next_but_some};
const tamis_kind tamis__broken_starts_anew = {SET, .name = "broken_starts_anew",
                                              .contract = "going_on_is_building_at_once",
                                              .next = next_but_some};

/* Lists the neighbours of its keys. */
static bool next_beside(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    const bool is_there = next(f, cursor, hash, count);
    if (is_there && *hash % 20 == 0) ++*hash;
    return is_there;
}
const tamis_kind tamis__broken_beside = {SET, .name = "broken_beside",
                                         .contract = "list_builds_it_again", .next = next_beside};

/* Starts again at the end, as if there were always more. */
static bool next_for_ever(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    if (next(f, cursor, hash, count)) return true;
    *cursor = 0;
    return next(f, cursor, hash, count);
}
const tamis_kind tamis__broken_endless = {
    SET, .name = "broken_endless", .contract = "list_builds_it_again", .next = next_for_ever};

/* ---- Values --------------------------------------------------------------------------------- */

/* Mixes up the values of two neighbours. */
static tamis_status make_mixed_up(const uint64_t word[], const tamis_segment *segment,
                                  uint8_t *room, uint8_t *out, uint64_t *size) {
    const tamis_status rc = make(word, segment, room, out, size);
    if (segment->n < 2) return rc;
    tamis__put64(out + 16, segment->value[1]);
    tamis__put64(out + 32, segment->value[0]);
    return rc;
}
#define MAP_FACET SORTED_BUILD, .rule = TAMIS_RECORDS_VALUES, .made = TAMIS_SEGMENT_MADE
static const tamis_build mixed_up = {MAP_FACET, .make = make_mixed_up};
const tamis_kind tamis__broken_mixed_up = {MAP, .name = "broken_mixed_up",
                                           .contract = "values_come_back", .build = &mixed_up};

/* Writes a value for absent keys. */
static void get_anything(const tamis_body *f, tamis_batch b, uint64_t *value, uint8_t *hit) {
    get(f, b, value, hit);
    for (size_t i = 0; i < b.n; i++)
        if (!hit[i]) value[i] = 0;
}
const tamis_kind tamis__broken_writes = {
    MAP, .name = "broken_writes", .contract = "values_come_back",
    .values = &(const tamis_values){.get = get_anything, .max_value = max_value}};

/* Has a value for every key, including absent ones. */
static void get_always(const tamis_body *f, tamis_batch b, uint64_t *value, uint8_t *hit) {
    get(f, b, value, hit);
    memset(hit, 1, b.n);
}
const tamis_kind tamis__broken_always = {
    MAP, .name = "broken_always", .contract = "values_come_back",
    .values = &(const tamis_values){.get = get_always, .max_value = max_value}};

/* Gets the values of a batch in groups of seven, and forgets what comes before the first. */
static void get_in_groups(const tamis_body *f, tamis_batch b, uint64_t *value, uint8_t *hit) {
    const size_t odd = b.n > 7 ? b.n % 7 : 0;
    query(f, tamis__hashes(b.hash, odd), hit);
    get(f, tamis__hashes(b.hash + odd, b.n - odd), value + odd, hit + odd);
}
const tamis_kind tamis__broken_groups = {
    MAP, .name = "broken_groups", .contract = "values_come_back",
    .values = &(const tamis_values){.get = get_in_groups, .max_value = max_value}};

/* Takes two values for one key, and keeps both. */
static const tamis_build tolerant = {MAP_FACET, .rule = TAMIS_RECORDS_LABELS};
const tamis_kind tamis__broken_tolerant = {MAP, .name = "broken_tolerant",
                                           .contract = "conflicts_are_told", .build = &tolerant};

/* Sets a value later: soundly, for the liars below. */
static tamis_status put_at(tamis_body *f, uint64_t hash, uint64_t value, uint64_t beside) {
    const entries e = entries_of(f, segment_of(f->word, hash));
    const uint64_t i = find(e, hash);
    if (i >= e.n || hash_at(e, i) != hash) return tamis__fail(TAMIS_NOT_FOUND, "no such key");
    for (uint64_t j = i; j <= i + beside && j < e.n; j++)
        tamis__put64((uint8_t *)e.bytes + j * e.size + 8, value);
    return TAMIS_OK;
}

/* Sets it for the neighbour, too. */
static tamis_status put_two(tamis_body *f, tamis_batch b, const uint64_t *value) {
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; i < b.n && !rc; i++) rc = put_at(f, b.hash[i], value[i], 1);
    return rc;
}
const tamis_kind tamis__broken_put_two = {
    MAP, .name = "broken_put_two", .contract = "put_changes_one_value",
    .values = &(const tamis_values){.get = get, .put = put_two, .max_value = max_value}};

/* Returns success and does nothing. */
static tamis_status put_nothing(tamis_body *f, tamis_batch b, const uint64_t *value) {
    (void)value;
    for (size_t i = 0; i < b.n; i++) {
        const tamis_status rc = put_at(f, b.hash[i], 0, (uint64_t)-1);
        if (rc) return rc;
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_put_none = {
    MAP, .name = "broken_put_none", .contract = "put_changes_one_value",
    .values = &(const tamis_values){.get = get, .put = put_nothing, .max_value = max_value}};

/* Sets values for non-members: those of the keys where they would be. */
static tamis_status put_for_nonmembers(tamis_body *f, tamis_batch b, const uint64_t *value) {
    for (size_t i = 0; i < b.n; i++) put_at(f, b.hash[i], value[i], 0);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_put_any = {
    MAP, .name = "broken_put_any", .contract = "put_changes_one_value",
    .values = &(const tamis_values){.get = get, .put = put_for_nonmembers, .max_value = max_value}};

/* ---- Known-good keys ------------------------------------------------------------------------ */

static const tamis_build with_good = {MAP_FACET, .member = 1};
#define GOOD                                                                                       \
    SORTED, .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers"}, .plan = plan_wide, .check = check_wide, \
            .build = &with_good

/* Says yes to every key that it has heard of. */
const tamis_kind tamis__broken_heard_of = {GOOD, .name = "broken_heard_of",
                                           .contract = "known_good_stay_out"};

/* Says yes to one known-good key in a thousand, and no to one member. */
static void query_guessing(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) {
        uint64_t value = 0;
        get(f, tamis__hashes(&b.hash[i], 1), &value, &hit[i]);
        hit[i] = hit[i] && (value || b.hash[i] % 1000 == 0);
    }
}
const tamis_kind tamis__broken_guess = {GOOD, .name = "broken_guess",
                                        .contract = "known_good_stay_out", .query = query_guessing};
static void query_careful(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    query_guessing(f, b, hit);
    for (size_t i = 0; i < b.n; i++) hit[i] &= b.hash[i] % 1000 != 0;
}
const tamis_kind tamis__broken_careful = {
    GOOD, .name = "broken_careful", .contract = "known_good_stay_out", .query = query_careful};

/* ---- Labels --------------------------------------------------------------------------------- */

#define LIE_OF_LABELS(kind_name, find_, count_, name_)                               \
    static const tamis_label_facet kind_name##_labels = {find_, count_, name_};      \
    const tamis_kind tamis__broken_##kind_name = {                                   \
        SETS, .name = "broken_" #kind_name, .contract = "members_have_their_labels", \
        .special = &(const tamis_special){.labels = &kind_name##_labels}}

/* Finds the last label first. */
static size_t find_backwards(const tamis_body *f, uint64_t hash, uint64_t *label, size_t room) {
    const size_t n = find_labels(f, hash, label, room);
    if (n == 2 && room >= 2) {
        const uint64_t first = label[0];
        label[0] = label[1], label[1] = first;
    }
    return n;
}
LIE_OF_LABELS(backwards, find_backwards, label_count, label_name);

/* Finds a label that was never given. */
static size_t find_more(const tamis_body *f, uint64_t hash, uint64_t *label, size_t room) {
    const size_t n = find_labels(f, hash, label, room);
    if (n != 1 || hash % 8) return n;
    if (room > 1) label[1] = 1;
    return 2;
}
LIE_OF_LABELS(more_labels, find_more, label_count, label_name);

/* Counts only as far as there is room. */
static size_t find_in_room(const tamis_body *f, uint64_t hash, uint64_t *label, size_t room) {
    const size_t n = find_labels(f, hash, label, room);
    return n < room ? n : room;
}
LIE_OF_LABELS(small_room, find_in_room, label_count, label_name);

/* Writes to all of the room. */
static size_t find_all_over(const tamis_body *f, uint64_t hash, uint64_t *label, size_t room) {
    for (size_t i = 0; i < room; i++) label[i] = 0;
    return find_labels(f, hash, label, room);
}
LIE_OF_LABELS(all_over, find_all_over, label_count, label_name);

/* Finds labels for non-members that `has` does not know. */
static size_t find_for_all(const tamis_body *f, uint64_t hash, uint64_t *label, size_t room) {
    const size_t n = find_labels(f, hash, label, room);
    if (n == 0 && room) label[0] = 0;
    return n ? n : 1;
}
LIE_OF_LABELS(label_for_all, find_for_all, label_count, label_name);

/* Has a name too few, or too many, or the names in another order. */
static uint64_t count_one_less(const tamis_body *f) {
    return label_count(f) - (label_count(f) > 0);
}
LIE_OF_LABELS(name_less, find_labels, count_one_less, label_name);
static const char *name_of_other(const tamis_body *f, uint64_t label) {
    return label_name(f, label_count(f) - 1 - label);
}
LIE_OF_LABELS(other_name, find_labels, label_count, name_of_other);

/* ---- The gate ------------------------------------------------------------------------------- */

/* Believes every offset. */
const tamis_kind tamis__broken_offsets = {SET, .name = "broken_offsets",
                                          .contract = "forged_payloads_are_safe", .audit = NULL};

/* Checks the offsets, and believes the counts. */
static tamis_status audit_offsets(const tamis_body *f) {
    return tamis__segments_audit(f, 0, 8);
}
const tamis_kind tamis__broken_counts = {
    SET, .name = "broken_counts", .contract = "forged_payloads_are_safe", .audit = audit_offsets};

/* Walks from hash to hash for as long as they do not fall back, which forged ones always do. */
static void query_walking(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) {
        const entries e = entries_of(f, segment_of(f->word, b.hash[j]));
        volatile uint64_t i = e.n ? b.hash[j] % e.n : 0;
        while (i + 1 < e.n && hash_at(e, i + 1) <= hash_at(e, i)) i = i ? i - 1 : 0;
    }
    query(f, b, hit);
}
static tamis_status audit_sizes(const tamis_body *f) {
    const tamis_status rc = audit_offsets(f);
    if (rc) return rc;
    for (uint64_t s = 0; s < f->word[TAMIS_SEGMENTS]; s++) {
        uint64_t size;
        tamis__segment(f, s, &size);
        if (entries_of(f, s).n != size / 8 - 1) return tamis__fail(TAMIS_CORRUPT, "damaged");
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_walk = {SET, .name = "broken_walk",
                                       .contract = "forged_payloads_are_safe", .audit = audit_sizes,
                                       .query = query_walking};
