/* SPDX-License-Identifier: MIT */
/* Fuzz target of the gate: any bytes are refused, or become a filter that can be asked, measured,
 * changed and written again; or are refused, or applied, as a patch; or as the memory of an
 * admission. Built with checksums off, because nobody guesses those. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_jobs.h"
#include "tamis_parts.h"
#include "tamis_special.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_true) {
    if (!is_true) abort();
}

static size_t hits_of(const uint8_t *hit, size_t n) {
    size_t hits = 0;
    while (n--) hits += hit[n];
    return hits;
}

/* Values and labels, and what is listed, agree with a plain question about the same hashes. */
static void use_values(const tamis *f, unsigned can, const uint64_t *hashes, const uint8_t *has) {
    uint64_t values[70], labels[3];
    uint8_t hit[70];
    tamis_get_hashes(f, hashes, 70, values, hit);
    for (size_t i = 0; i < 70; i++) demand(can & TAMIS_CAN_GET ? hit[i] == has[i] : !hit[i]);
    for (size_t i = 0; i < 70; i++) {
        const size_t n = tamis_labels_hash(f, hashes[i], labels, 3);
        demand(can & TAMIS_CAN_LABEL ? (n > 0) == has[i] : n == 0);
        for (size_t j = 0; j < n && j < 3; j++)
            demand(labels[j] < tamis_label_count(f) && (j == 0 || labels[j] > labels[j - 1]));
    }
    for (uint64_t i = 0; i < tamis_label_count(f) && i < 100; i++)
        demand(strlen(tamis_label_name(f, i)) > 0);
    demand(!tamis_label_name(f, tamis_label_count(f)));
}

static void use_list(const tamis *f, unsigned can) {
    uint64_t cursor = 0, hash, count;
    for (size_t i = 0; i < 100 && tamis_next(f, &cursor, &hash, &count); i++) {
        demand(tamis_has_hash(f, hash)); /* what is listed is there */
        if (can & TAMIS_CAN_LABEL) demand(count < tamis_label_count(f));
    }
}

/* Whatever blocks it has, an excerpt is tried at the places that were asked for, and not behind. */
enum { MAX_PLACE = 300 };

static bool receive(void *ctx, const struct tamis_traced *traced) {
    demand(traced->offset <= MAX_PLACE && traced->blocks > 0 && traced->flow < 2);
    return ++*(unsigned *)ctx < 10;
}

static void use_trace(const tamis *f) {
    static const uint8_t excerpt[10000];
    const struct tamis_key flows[] = {{"a", 1}, {"b", 1}};
    unsigned received = 0;
    const tamis_status rc =
        tamis_trace(f, excerpt, sizeof excerpt, flows, 2, MAX_PLACE, receive, &received);
    demand(rc == (received == 10 ? TAMIS_CANCELLED : TAMIS_OK));
    demand(tamis_false_traces(f, sizeof excerpt, 2, MAX_PLACE) >= 0);
}

static void use(tamis *f, unsigned can, size_t size) {
    static const char *const keys[] = {"", "a", "tamis",
                                       "a longer key that fills more than a block"};
    char spec[300];
    uint64_t hashes[70] = {0, UINT64_MAX, 1, (uint64_t)1 << 63};
    uint8_t hit[70];
    for (size_t i = 4; i < 70; i++) hashes[i] = i * 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < 4; i++) tamis_has(f, keys[i], strlen(keys[i]));
    tamis_has_hashes(f, hashes, 70, hit);
    if (hits_of(hit, 70) % 8 == 5) tamis_spec(f, spec, sizeof spec); /* it plans: milliseconds */
    struct tamis_estimate estimate;
    tamis_overlap(f, f, &estimate);
    uint64_t counts[70], cursor = 0, position;
    bool is_set;
    tamis_count_hashes(f, hashes, 70, counts);
    for (size_t i = 0; i < 70; i++) demand((counts[i] > 0) == hit[i]);
    use_values(f, can, hashes, hit);
    use_list(f, can);
    if (can & TAMIS_CAN_TRACE) use_trace(f);
    for (size_t i = 0; i < 100 && tamis_next_change(f, &cursor, &position, &is_set);) i++;
    tamis_level_hash(f, 1);
    demand(tamis_image_size(f) == size);
    const char *name, *value;
    for (size_t i = 0; tamis_note_at(f, i, &name, &value); i++)
        demand(tamis_note(f, name) == value);
}

/* Every verb that may change a body: whatever it was, what comes out must pass the gate again. */
static void change(tamis *f) {
    static const uint64_t trouble[] = {1, 2, 3}, keys[] = {4, 5, 6, 7};
    bool is_new;
    uint64_t value = 0;
    if (tamis_put_hash(f, 1, 1) == TAMIS_OK) demand(tamis_get_hash(f, 1, &value) && value >= 1);
    for (size_t i = 0; i < 20; i++) {
        const uint64_t hash = i % 10 * 0x9e3779b97f4a7c15;
        if (i % 3 == 0 && tamis_add_hash(f, hash) == TAMIS_OK) demand(tamis_has_hash(f, hash));
        if (i % 3 == 1) tamis_remove_hash(f, hash);
        if (i % 3 == 2 && tamis_add_new_hash(f, hash, &is_new) == TAMIS_OK)
            demand(tamis_has_hash(f, hash));
    }
    tamis_tick(f);
    tamis_clear_changes(f);
    tamis_merge_farther(f, f);
    tamis_record(f, "a", 1, 64, "a payload that is long enough for the smallest blocks", 53);
    tamis_retouch(f, TAMIS_RETOUCH_RATIO, trouble, 3, keys, 4, 1, NULL);
    tamis_retouch_share(f, 0.1, 2, NULL);
    tamis_resize(f, 300);
}

/* The same bytes as a patch: refused, or applied to an image of the size that it is for, within the
 * memory that it promises. Checksums are off here too. */
static void use_patch(const uint8_t *data, size_t size) {
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    const size_t max = 1 << 20;
    if (tamis_patch_get_info(data, size, &info)) return;
    demand(info.patch_bytes <= size);
    demand(info.is_whole || info.result_bytes / 4 <= info.base_bytes + info.patch_bytes);
    if (info.base_bytes > max || info.result_bytes > max) return;
    const size_t base_size = (size_t)info.base_bytes, result_size = (size_t)info.result_bytes;
    uint8_t *base = calloc(base_size + 1, 1), *result = malloc(result_size + 1);
    demand(base && result);
    result[result_size] = 0xa5;
    if (tamis_patch_apply(base, base_size, data, size, result, result_size) == TAMIS_OK)
        demand(info.result_bytes == result_size && info.patch_bytes <= size);
    demand(result[result_size] == 0xa5);
    free(base);
    free(result);
}

/* The same bytes as the memory of an admission: refused, or asked, and then written and read
 * again. */
static void use_admission(const uint8_t *data, size_t size, const struct tamis_options *options) {
    tamis_admission *a, *again;
    if (tamis_admission_load(&a, data, size, options)) {
        demand(!a);
        return;
    }
    tamis_admission_ask_hash(a, 1);
    demand(tamis_admission_ask_hash(a, 1));
    for (uint64_t i = 0; i < 100; i++) tamis_admission_ask_hash(a, i * 0x9e3779b97f4a7c15);
    const size_t bytes = (size_t)tamis_admission_size(a);
    uint8_t *written = malloc(bytes);
    demand(bytes == size && written && tamis_admission_bytes(a, written, bytes) == TAMIS_OK);
    demand(tamis_admission_load(&again, written, bytes, options) == TAMIS_OK);
    tamis_admission_free(again);
    tamis_admission_free(a);
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t secret[16] = "0123456789abcdef";
    const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};
    tamis *view, *f, *copy;
    use_patch(data, size);
    use_admission(data, size, &options);
    if (tamis_view_with(&view, data, size, &options)) {
        /* All ways in must agree. */
        demand(!view && tamis_load_with(&f, data, size, &options) != TAMIS_OK && !f);
        return 0;
    }
    struct tamis_info info =
        TAMIS_INFO_INIT; /* works out rates, which is most of the time here: once is enough */
    tamis_measure(view, &info);
    use(view, info.abilities, size);
    demand(tamis_load_with(&f, data, size, &options) == TAMIS_OK);
    use(f, info.abilities, size);
    change(f);
    /* What was added is found, also after another trip through the gate. */
    if (tamis_add(f, "tamis", 5) == TAMIS_OK) demand(tamis_has(f, "tamis", 5));
    demand(tamis_set_note(f, "fuzz", "1") == TAMIS_OK || tamis_image_size(f) > (1u << 20));
    const size_t again = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(again);
    demand(image && tamis_serialize(f, image, again) == TAMIS_OK);
    demand(tamis_load_with(&copy, image, again, &options) == TAMIS_OK);
    demand(tamis_merge(copy, f) != TAMIS_MISMATCH);
    if (tamis_fold(copy, 2) == TAMIS_OK && tamis_has(f, "tamis", 5))
        demand(tamis_has(copy, "tamis", 5));
    free(image);
    tamis_free(copy);
    tamis_free(f);
    tamis_free(view);
    return 0;
}
