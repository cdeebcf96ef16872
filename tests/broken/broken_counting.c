/* SPDX-License-Identifier: MIT */
/* Lies of counting: counters that go the wrong way, removes that take too much or too little, logs
 * with gaps. */
#define tamis__counting tamis__counting_inside
#include "src/kinds/counting.c"
#undef tamis__counting

#include "tests/broken/liar.h"

#define SOUND                                                                                 \
    .word = {"bits", "hashes", "width", "log"}, .traits = TAMIS_ANY_ORDER, .lacks = lacks,    \
    .plan = plan, .check = check, .probes = tamis__hash_probes, .rate = rate, .audit = audit, \
    .measure = measure, .query = query, .add = add,                                           \
    .counts = &(const tamis_counts){.count = count, .reliable_count = reliable_count},        \
    .reshape = &(const tamis_reshape){.fold = fold, .move = move},                            \
    .sets = &(const tamis_sets){.merge = merge},                                              \
    .special = &(const tamis_special){.log = &change_log}, .remove = remove_one

/* Sets one counter, and its bit of the summary. */
static void put(tamis_body *f, uint64_t i, uint64_t value) {
    const layout at = layout_of(f);
    tamis__field_put(f->bytes, i, at.counters.width, value);
    tamis__bits_put(f->bytes, at.summary + i, 1, value > 0);
}

static uint64_t get(const tamis_body *f, uint64_t i) {
    return tamis__cell_get(layout_of(f).counters, i);
}

static tamis_spots spots_of(const tamis_body *f, uint64_t hash) {
    return tamis__spots_of(hash, counters_of(f->word), f->word[HASHES]);
}

static tamis_status not_found(void) {
    return tamis__fail(TAMIS_NOT_FOUND, "a counter is too low");
}

static tamis_status plan_narrow(const tamis_params *params, uint64_t word[]) {
    tamis_params narrow = *params;
    narrow.has_option[OPT_WIDTH] = true;
    narrow.option[OPT_WIDTH] = 2;
    return plan(&narrow, word);
}

static tamis_status plan_with_log(const tamis_params *params, uint64_t word[]) {
    tamis_params with_log = *params;
    with_log.has_option[OPT_LOG] = true;
    with_log.option[OPT_LOG] = WITH_LOG;
    return plan(&with_log, word);
}

/* ---- Removing ------------------------------------------------------------------------------- */

/* Clears what it should count down, as if these were the bits of classic, without a query first. */
static tamis_status remove_bits(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = spots_of(f, *b.hash);
    for (unsigned i = 0; i < spots.n; i++) put(f, spots.spot[i].at, 0);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_clears = {SOUND, .name = "broken_clears",
                                         .contract = "remove_forgets_only_that_key",
                                         .remove = remove_bits};

/* Reports a removal, and leaves the key where it was. */
static tamis_status remove_nothing(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = spots_of(f, *b.hash);
    return tamis__spots_hold(layout_of(f).counters, &spots) ? TAMIS_OK : not_found();
}
const tamis_kind tamis__broken_stays = {SOUND, .name = "broken_stays",
                                        .contract = "remove_forgets_only_that_key",
                                        .remove = remove_nothing};

/* Counts down all counters but the last: the key is gone, and that one stays for good. */
static tamis_status remove_most(tamis_body *f, tamis_batch b) {
    tamis_spots spots = spots_of(f, *b.hash);
    if (!tamis__spots_hold(layout_of(f).counters, &spots)) return not_found();
    for (unsigned i = 0; i + 1 < spots.n; i++)
        put(f, spots.spot[i].at, get(f, spots.spot[i].at) - spots.spot[i].weight);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_residue = {SOUND, .name = "broken_residue",
                                          .contract = "remove_forgets_only_that_key",
                                          .remove = remove_most};
const tamis_kind tamis__broken_leftover = {SOUND, .name = "broken_leftover",
                                           .contract = "programs_agree_with_a_model",
                                           .remove = remove_most};

/* Guards against counters below zero, and stops one too early. */
static tamis_status remove_guarded(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = spots_of(f, *b.hash);
    for (unsigned i = 0; i < spots.n; i++)
        if (get(f, spots.spot[i].at) <= spots.spot[i].weight) return not_found();
    return remove_one(f, tamis__hashes(b.hash, 1));
}
const tamis_kind tamis__broken_guard = {SOUND, .name = "broken_guard",
                                        .contract = "remove_forgets_only_that_key",
                                        .remove = remove_guarded};
const tamis_kind tamis__broken_last_one = {SOUND, .name = "broken_last_one",
                                           .contract = "count_follows_removes",
                                           .remove = remove_guarded};

/* Logs a cleared bit with the wrong value, so that an emptied filter differs from a new one,
 * although it answers like one. */
static tamis_status remove_with_trace(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = spots_of(f, *b.hash);
    const tamis_status rc = remove_one(f, tamis__hashes(b.hash, 1));
    for (unsigned i = 0; i < spots.n && !rc; i++)
        if (get(f, spots.spot[i].at) == 0)
            tamis__bit_set(f->bytes, layout_of(f).told + spots.spot[i].at);
    return rc;
}
const tamis_kind tamis__broken_trace = {SOUND, .name = "broken_trace",
                                        .contract = "remove_forgets_only_that_key",
                                        .plan = plan_with_log, .remove = remove_with_trace};

/* Adds a key only when it is absent, although a remove will come for each add. */
static tamis_status add_unless_there(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        uint8_t hit;
        query(f, tamis__hashes(b.hash + i, 1), &hit);
        if (!hit) add(f, tamis__hashes(b.hash + i, 1));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_skips = {SOUND, .name = "broken_skips",
                                        .contract = "second_add_needs_second_remove",
                                        .add = add_unless_there};

/* "Removed" is always true of what was never there. */
static tamis_status remove_politely(tamis_body *f, tamis_batch b) {
    remove_one(f, tamis__hashes(b.hash, 1));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_polite = {SOUND, .name = "broken_polite",
                                         .contract = "removing_strangers_is_refused",
                                         .remove = remove_politely};

/* Looks at the first counter, and lowers what can be lowered. */
static tamis_status remove_by_first(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = spots_of(f, *b.hash);
    if (get(f, spots.spot[0].at) == 0) return not_found();
    for (unsigned i = 0; i < spots.n; i++)
        if (get(f, spots.spot[i].at)) put(f, spots.spot[i].at, get(f, spots.spot[i].at) - 1);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_by_first = {SOUND, .name = "broken_by_first",
                                           .contract = "removing_strangers_is_refused",
                                           .remove = remove_by_first};

/* Finds the counter that is too low after lowering those before it. */
static tamis_status remove_half(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = spots_of(f, *b.hash);
    for (unsigned i = 0; i < spots.n; i++) {
        if (get(f, spots.spot[i].at) < spots.spot[i].weight) return not_found();
        put(f, spots.spot[i].at, get(f, spots.spot[i].at) - spots.spot[i].weight);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_half_removed = {SOUND, .name = "broken_half_removed",
                                               .contract = "removing_strangers_is_refused",
                                               .remove = remove_half};

/* Counts down from the top, although the true count is unknown there. */
static tamis_status remove_stuck(tamis_body *f, tamis_batch b) {
    const tamis_spots spots = spots_of(f, *b.hash);
    if (!tamis__spots_hold(layout_of(f).counters, &spots)) return not_found();
    for (unsigned i = 0; i < spots.n; i++) {
        const uint64_t value = get(f, spots.spot[i].at), less = spots.spot[i].weight;
        put(f, spots.spot[i].at, value > less ? value - less : 0);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_unstuck = {SOUND, .name = "broken_unstuck",
                                          .contract = "programs_agree_with_a_model",
                                          .plan = plan_narrow, .remove = remove_stuck};

/* ---- Counting ------------------------------------------------------------------------------- */

/* Wraps from the top to zero. */
static tamis_status add_round(tamis_body *f, tamis_batch b) {
    const uint64_t top = reliable_count(f->word);
    for (size_t j = 0; j < b.n; j++) {
        const tamis_spots spots = spots_of(f, b.hash[j]);
        for (unsigned i = 0; i < spots.n; i++)
            put(f, spots.spot[i].at, (get(f, spots.spot[i].at) + spots.spot[i].weight) & top);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_wraps = {SOUND, .name = "broken_wraps",
                                        .contract = "one_key_a_million_times", .add = add_round};
const tamis_kind tamis__broken_odometer = {SOUND, .name = "broken_odometer",
                                           .contract = "count_never_under", .add = add_round};

/* One remove undoes all adds of a key. */
const tamis_kind tamis__broken_all_at_once = {SOUND, .name = "broken_all_at_once",
                                              .contract = "count_follows_removes",
                                              .remove = remove_bits};

/* The larger of two counters for their sum: right for bits, and wrong for anything that is
 * removed. */
static tamis_status merge_by_larger(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < counters_of(into->word); i++)
        if (get(from, i) > get(into, i)) put(into, i, get(from, i));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_larger = {SOUND, .name = "broken_larger",
                                         .contract = "programs_agree_with_a_model",
                                         .sets = &(const tamis_sets){.merge = merge_by_larger}};

/* Adds up the items of a merge, which core does too. */
static tamis_status merge_items(tamis_body *into, const tamis_body *from) {
    into->items += from->items;
    return merge(into, from);
}
const tamis_kind tamis__broken_items = {SOUND, .name = "broken_items",
                                        .contract = "programs_agree_with_a_model",
                                        .sets = &(const tamis_sets){.merge = merge_items}};

/* The gate takes a counter at its top for damage. */
static tamis_status audit_strictly(const tamis_body *f) {
    for (uint64_t i = 0; i < counters_of(f->word); i++)
        if (get(f, i) == reliable_count(f->word))
            return tamis__fail(TAMIS_CORRUPT, "a counter is full");
    return audit(f);
}
const tamis_kind tamis__broken_gate = {SOUND, .name = "broken_gate",
                                       .contract = "programs_agree_with_a_model",
                                       .plan = plan_narrow, .audit = audit_strictly};

/* ---- Change logs ---------------------------------------------------------------------------- */

static bool is_in_summary(const tamis_body *f, uint64_t i) {
    return tamis__bit_get(f->bytes, layout_of(f).summary + i);
}

static bool is_told(const tamis_body *f, uint64_t i) {
    return tamis__bit_get(f->bytes, layout_of(f).told + i);
}

/* Reports set bits and forgets cleared ones. */
static bool next_set(const tamis_body *f, uint64_t *cursor, uint64_t *position, bool *is_set) {
    while (next_change(f, cursor, position, is_set))
        if (*is_set) return true;
    return false;
}
static const tamis_log_facet log_of_sets = {next_set, forget_changes, arrays};
const tamis_kind tamis__broken_log_sets = {
    SOUND, .name = "broken_log_sets", .contract = "log_tells_every_flip", .plan = plan_with_log,
    .special = &(const tamis_special){.log = &log_of_sets}};

/* Reports the same changes again. */
static void forget_nothing(tamis_body *f) {
    (void)f;
}
static const tamis_log_facet log_for_ever = {next_change, forget_nothing, arrays};
const tamis_kind tamis__broken_log_twice = {
    SOUND, .name = "broken_log_twice", .contract = "log_tells_every_flip", .plan = plan_with_log,
    .special = &(const tamis_special){.log = &log_for_ever}};

/* Reports whole words: every bit of one in which a bit has changed. */
static bool has_change(const tamis_body *f, uint64_t word) {
    uint64_t cursor = word * TAMIS_LOGGED_RUN, position;
    bool is_set;
    return next_change(f, &cursor, &position, &is_set) && position / TAMIS_LOGGED_RUN == word;
}
static bool next_word(const tamis_body *f, uint64_t *cursor, uint64_t *position, bool *is_set) {
    const uint64_t n = counters_of(f->word);
    while (*cursor < n && !has_change(f, *cursor / TAMIS_LOGGED_RUN))
        *cursor = (*cursor / TAMIS_LOGGED_RUN + 1) * TAMIS_LOGGED_RUN;
    if (*cursor >= n) return false;
    *position = (*cursor)++;
    *is_set = is_in_summary(f, *position);
    return true;
}
static const tamis_log_facet log_of_words = {next_word, forget_changes, arrays};
const tamis_kind tamis__broken_log_words = {
    SOUND, .name = "broken_log_words", .contract = "log_tells_every_flip", .plan = plan_with_log,
    .special = &(const tamis_special){.log = &log_of_words}};

/* From the last to the first; the cursor is the position before, counted from the end. */
static bool next_back(const tamis_body *f, uint64_t *cursor, uint64_t *position, bool *is_set) {
    const uint64_t n = counters_of(f->word);
    while (*cursor < n && is_in_summary(f, n - 1 - *cursor) == is_told(f, n - 1 - *cursor))
        ++*cursor;
    if (*cursor == n) return false;
    *position = n - 1 - (*cursor)++;
    *is_set = is_in_summary(f, *position);
    return true;
}
static const tamis_log_facet log_from_the_end = {next_back, forget_changes, arrays};
const tamis_kind tamis__broken_log_back = {
    SOUND, .name = "broken_log_back", .contract = "log_tells_every_flip", .plan = plan_with_log,
    .special = &(const tamis_special){.log = &log_from_the_end}};
