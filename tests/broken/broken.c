/* SPDX-License-Identifier: MIT */
/* Kinds that lie. Each is the template with one thing wrong, a mistake of real filters; its
 * contract names the law that must catch it. A law that lets its liar pass proves nothing. */
#define tamis__template tamis__template_inside
#include "src/kinds/template.c"
#undef tamis__template

#include "cpu/cpu.h"
#include "tests/broken/liar.h"

#define SOUND                                                                                    \
    .word = {"bits"}, .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, .plan = plan, .check = check, \
    .probes = tamis__one_probe, .rate = rate, .audit = tamis__bits_audit, .measure = measure,    \
    .query = query,                                                                              \
    .sets =                                                                                      \
        &(const tamis_sets){.merge = tamis__bitmap_merge, .intersect = tamis__bitmap_intersect}, \
    .add = add

static uint64_t position(const tamis_body *f, uint64_t hash) {
    return tamis__range(hash, f->word[BITS]);
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* Loses one key in a thousand. */
static tamis_status add_most(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++)
        if (b.hash[i] % 1000) tamis__bit_set(f->bytes, position(f, b.hash[i]));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_forgetful = {SOUND, .name = "broken_forgetful",
                                            .contract = "no_false_negative", .add = add_most};

/* Says yes to everything. */
static void query_yes(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    (void)f, (void)b.hash;
    for (size_t i = 0; i < b.n; i++) hit[i] = 1;
}
const tamis_kind tamis__broken_yes = {SOUND, .name = "broken_yes", .contract = "rate_as_promised",
                                      .query = query_yes};

/* Sees keys in an empty filter. */
static void query_haunted(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    query(f, b, hit);
    for (size_t i = 0; i < b.n; i++) hit[i] |= b.hash[i] % 1000 == 0;
}
const tamis_kind tamis__broken_haunted = {SOUND, .name = "broken_haunted",
                                          .contract = "empty_has_nothing", .query = query_haunted};

/* Promises a tenth less than it delivers. */
static double rate_low(const uint64_t word[], uint64_t items) {
    return rate(word, items) / 1.1;
}
static void measure_low(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    measure(f, other, out);
    out->fpr /= 1.1;
}
const tamis_kind tamis__broken_optimist = {SOUND, .name = "broken_optimist",
                                           .contract = "rate_as_promised", .rate = rate_low,
                                           .measure = measure_low};

/* Answers a batch from its first key. */
static void query_first(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) hit[i] = tamis__bit_get(f->bytes, position(f, b.hash[0]));
}
const tamis_kind tamis__broken_first_only = {
    SOUND, .name = "broken_first_only", .contract = "batch_equals_single", .query = query_first};

/* Sets two bits and looks at one: a probe that does nothing. */
static tamis_status add_two(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        tamis__bit_set(f->bytes, position(f, b.hash[i]));
        tamis__bit_set(f->bytes, position(f, tamis__mix(b.hash[i])));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_lazy_probe = {SOUND, .name = "broken_lazy_probe",
                                             .contract = "every_bit_counts", .add = add_two};

/* ---- Sets ----------------------------------------------------------------------------------- */

/* Union by exclusive or: keys of both sides vanish. */
static tamis_status merge_xor(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->size; i++) into->bytes[i] ^= from->bytes[i];
    return TAMIS_OK;
}
const tamis_kind tamis__broken_merge = {
    SOUND, .name = "broken_merge", .contract = "merge_is_union",
    .sets = &(const tamis_sets){.merge = merge_xor, .intersect = tamis__bitmap_intersect}};

/* Intersection that keeps the left side only half of the way. */
static tamis_status intersect_half(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->size; i++)
        into->bytes[i] &= i < into->size / 2 ? from->bytes[i] : 0;
    return TAMIS_OK;
}
const tamis_kind tamis__broken_intersect = {
    SOUND, .name = "broken_intersect", .contract = "intersection_keeps_common",
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge, .intersect = intersect_half}};

/* Folds as if positions were remainders, although they are scaled. */
static tamis_status fold_bits(const tamis_body *f, uint64_t by, uint64_t word[]) {
    return tamis__fold_units(f->word[BITS], by, "bits", &word[BITS]);
}
static tamis_status move_strides(tamis_body *to, const tamis_body *from) {
    tamis__bitmap_fold_strides(to->bytes, from->bytes, from->word[BITS],
                               from->word[BITS] / to->word[BITS]);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_fold = {
    SOUND, .name = "broken_fold", .contract = "fold_keeps_keys",
    .reshape = &(const tamis_reshape){.fold = fold_bits, .move = move_strides}};

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* The bit depends on how many came before. */
static tamis_status add_by_turn(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        const uint64_t at = position(f, b.hash[i]);
        tamis__bit_set(f->bytes, at);
        if ((f->items + i) % 64 == 0) tamis__bit_set(f->bytes, at ^ (at + 1 < f->word[BITS]));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_order = {SOUND, .name = "broken_order",
                                        .contract = "any_order_same_bytes", .add = add_by_turn};

/* A second add undoes the first. */
static tamis_status add_toggle(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        const uint64_t at = position(f, b.hash[i]);
        f->bytes[at / 8] ^= (uint8_t)(1 << at % 8);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_toggle = {SOUND, .name = "broken_toggle",
                                         .contract = "duplicates_harmless", .add = add_toggle};

/* Positions depend on the address of the payload. */
static uint64_t by_address(const tamis_body *f, uint64_t hash) {
    return position(f, tamis__mix(hash + (uintptr_t)f->bytes));
}
static void query_address(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) hit[i] = tamis__bit_get(f->bytes, by_address(f, b.hash[i]));
}
static tamis_status add_address(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) tamis__bit_set(f->bytes, by_address(f, b.hash[i]));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_address = {SOUND, .name = "broken_address",
                                          .contract = "save_load_same", .query = query_address,
                                          .add = add_address};

/* Assumes an aligned payload. */
static void query_aligned(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    const uint8_t *bytes = f->bytes - (uintptr_t)f->bytes % 8;
    for (size_t i = 0; i < b.n; i++) {
        const uint64_t at = position(f, b.hash[i]);
        hit[i] = bytes[at / 8] >> at % 8 & 1;
    }
}
const tamis_kind tamis__broken_aligned = {
    SOUND, .name = "broken_aligned", .contract = "view_at_any_alignment", .query = query_aligned};

/* Reads the word past the last one. */
static void query_beyond(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    query(f, b, hit);
    const volatile uint8_t *beyond = f->bytes + f->size;
    for (size_t i = 0; i < b.n; i++) hit[i] |= (uint8_t)(*beyond & 0);
}
const tamis_kind tamis__broken_reach = {SOUND, .name = "broken_reach",
                                        .contract = "reads_stay_inside", .query = query_beyond};

/* Accepts stray bits past the last one. */
const tamis_kind tamis__broken_audit = {SOUND, .name = "broken_audit",
                                        .contract = "stray_bits_refused", .audit = NULL};

/* ---- The rest ------------------------------------------------------------------------------- */

/* Plans half of what the rate needs. */
static tamis_status plan_half(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = plan(params, word);
    if (word[BITS] > 64) word[BITS] /= 2;
    return rc;
}
const tamis_kind tamis__broken_planner = {SOUND, .name = "broken_planner",
                                          .contract = "plan_tells_the_truth", .plan = plan_half};

/* Loses keys when many threads add. */
static void add_shared_most(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        const uint64_t at = position(f, b.hash[i]);
        if (b.hash[i] % 1000) tamis__or64_shared(f->bytes + at / 64 * 8, (uint64_t)1 << at % 64);
    }
}
const tamis_kind tamis__broken_shared = {
    SOUND, .name = "broken_shared", .contract = "many_threads_add",
    .speed = &(const tamis_speed){.add_shared = add_shared_most}};

/* Answers only the thread that added. */
static _Thread_local bool has_added;
static tamis_status add_here(tamis_body *f, tamis_batch b) {
    has_added = true;
    return add(f, b);
}
static void query_here(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    query(f, b, hit);
    for (size_t i = 0; i < b.n; i++) hit[i] &= has_added;
}
const tamis_kind tamis__broken_thread = {SOUND, .name = "broken_thread",
                                         .contract = "many_threads_ask", .query = query_here,
                                         .add = add_here};

/* Another layout where the CPU has more features. */
static tamis_status add_by_cpu(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        tamis__bit_set(f->bytes, position(f, b.hash[i]));
        if (tamis__cpu() & TAMIS_CPU_TEST) tamis__bit_set(f->bytes, position(f, ~b.hash[i]));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_cpu = {SOUND, .name = "broken_cpu",
                                      .contract = "same_bytes_on_every_cpu", .add = add_by_cpu};

/* Says no to half of its keys when they come alone. */
static bool has_half(const tamis_body *f, uint64_t hash) {
    uint8_t hit;
    query(f, tamis__hashes(&hash, 1), &hit);
    return hit && hash & 1;
}
const tamis_kind tamis__broken_single = {SOUND, .name = "broken_single",
                                         .contract = "batch_equals_single",
                                         .speed = &(const tamis_speed){.has = has_half}};

/* Prefetches the last of a list of integers too late. */
static bool numbers_late(const tamis_body *f, uint64_t flip, const uint64_t *numbers, size_t n,
                         uint8_t *hit) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t hash = tamis_inline_xxh3(flip, numbers[i]);
        query(f, tamis__hashes(&hash, 1), hit + i);
    }
    if (n > 8) hit[n - 1] = 0;
    return true;
}
const tamis_kind tamis__broken_list = {
    SOUND, .name = "broken_list", .contract = "batch_equals_single",
    .speed = &(const tamis_speed){.query_numbers = numbers_late}};

/* Takes the slice of a smaller filter. */
static uint64_t slice_start(const tamis_body *f, uint64_t hash, tamis_body *part) {
    (void)f, (void)hash;
    part->word[BITS] = 64;
    part->size = 8;
    return 0;
}
const tamis_kind tamis__broken_slice = {SOUND, .name = "broken_slice",
                                        .contract = "slice_equals_whole",
                                        .speed = &(const tamis_speed){.slice = slice_start}};

/* Has all it needs, and names a byte more than there is. */
static uint64_t slice_late(const tamis_body *f, uint64_t hash, tamis_body *part) {
    (void)f, (void)hash, (void)part;
    return 1;
}
const tamis_kind tamis__broken_edge = {SOUND, .name = "broken_edge",
                                       .contract = "slice_equals_whole",
                                       .speed = &(const tamis_speed){.slice = slice_late}};

/* Answers from what a handle keeps of it. */
static size_t kept_flag_size(const uint64_t word[]) {
    (void)word;
    return 1;
}
static void keep_flag(const tamis_body *f, void *kept) {
    (void)f;
    *(uint8_t *)kept = 1;
}
static void query_kept(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    query(f, b, hit);
    for (size_t i = 0; i < b.n && !f->kept; i++) hit[i] = 0;
}
const tamis_kind tamis__broken_kept = {
    SOUND, .name = "broken_kept", .contract = "page_equals_filter", .query = query_kept,
    .speed = &(const tamis_speed){.kept_size = kept_flag_size, .keep = keep_flag}};

/* Shows itself to inlined code as something else. */
static bool view_of_another(const tamis_body *f, struct tamis_inline *view) {
    view->rule = TAMIS_INLINE_FUSE;
    view->blocks = 1;
    view->arity = 3;
    view->width = 8;
    return f->size >= view->arity;
}
const tamis_kind tamis__broken_view = {
    SOUND, .name = "broken_view", .contract = "batch_equals_single",
    .speed = &(const tamis_speed){.inline_view = view_of_another}};

/* Estimates a quarter too much. */
static void measure_high(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    measure(f, other, out);
    out->items.value *= 1.25;
}
const tamis_kind tamis__broken_count = {SOUND, .name = "broken_count", .contract = "estimates_hold",
                                        .measure = measure_high};

/* Adds half of a batch, then finds that it is full. */
static uint64_t room_always(const tamis_body *f) {
    (void)f;
    return UINT64_MAX;
}
static tamis_status add_half(tamis_body *f, tamis_batch b) {
    if (b.n < 1000) return add(f, b);
    add(f, tamis__hashes(b.hash, b.n / 2));
    return tamis__fail(TAMIS_FULL, "full");
}
const tamis_kind tamis__broken_half = {SOUND, .name = "broken_half",
                                       .contract = "failure_changes_nothing", .add = add_half,
                                       .room = room_always};

/* Takes every add for another key: a bit for the key, and one for its turn. */
static tamis_status add_salted(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++)
        tamis__bit_set(f->bytes, position(f, tamis__mix(b.hash[i] + f->items + i)));
    return add(f, b);
}
const tamis_kind tamis__broken_salted = {SOUND, .name = "broken_salted",
                                         .contract = "one_key_a_million_times", .add = add_salted};

/* Grows, and forgets what it held. */
static tamis_status grow_double(const tamis_body *f, uint64_t need, uint64_t word[]) {
    word[BITS] = 2 * (f->word[BITS] + need);
    return TAMIS_OK;
}
static tamis_status move_nothing(tamis_body *to, const tamis_body *from) {
    (void)to, (void)from;
    return TAMIS_OK;
}
static uint64_t room_by_capacity(const tamis_body *f) {
    return f->word[BITS] / 100 > f->items ? f->word[BITS] / 100 - f->items : 0;
}
const tamis_kind tamis__broken_grow = {
    SOUND, .name = "broken_grow", .contract = "growth_keeps_keys", .room = room_by_capacity,
    .reshape = &(const tamis_reshape){.grow = grow_double, .move = move_nothing}};
