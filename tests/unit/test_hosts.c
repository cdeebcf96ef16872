/* SPDX-License-Identifier: MIT */
/* What a server that stores filters as its own values needs: images in pieces, memory that moves,
 * info without reading the payload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_parts.h"

static tamis *make(const char *spec, unsigned keys) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    for (uint64_t i = 0; i < keys; i++) assert_int_equal(tamis_add_u64(f, i), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "comment", "for a host"), TAMIS_OK);
    return f;
}

static uint8_t *image_of(const tamis *f, size_t *size) {
    *size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(*size);
    assert_non_null(image);
    assert_int_equal(tamis_serialize(f, image, *size), TAMIS_OK);
    return image;
}

/* Every offset, many lengths: in header, payload and notes, and across their boundaries. */
static void pieces_are_the_image(void **state) {
    (void)state;
    tamis *f = make("blocked:capacity=20,hash=sip13", 20);
    size_t size;
    uint8_t *image = image_of(f, &size), *piece = malloc(size);
    for (size_t from = 0; from <= size; from++)
        for (size_t n = 0; n <= size - from; n += n < 10 || size - from - n < 10 ? 1 : 7) {
            memset(piece, 0xaa, size);
            assert_int_equal(tamis_serialize_at(f, from, piece, n), TAMIS_OK);
            assert_memory_equal(piece, image + from, n);
            if (n < size) assert_int_equal(piece[n], 0xaa);
        }
    assert_int_equal(tamis_serialize_at(f, 0, piece, size + 1), TAMIS_INVALID);
    assert_int_equal(tamis_serialize_at(f, size + 1, piece, 0), TAMIS_INVALID);
    assert_int_equal(tamis_serialize_at(f, UINT64_MAX, piece, 2), TAMIS_INVALID);
    free(piece);
    free(image);
    tamis_free(f);
}

/* An allocator that places blocks at odd multiples of 16, and a mover that changes the multiple, so
 * that the first cache line in a block is never at the same offset. */
enum { ROOM = 1 << 16 };
static size_t shift = 16, moved;

static void *alloc(void *ctx, size_t size) {
    uint8_t *base = aligned_alloc(64, ROOM);
    (void)ctx;
    if (!base || size + 128 > ROOM) abort();
    base[0] = (uint8_t)shift;
    return base + shift;
}

static void give_back(void *ctx, void *memory, size_t size) {
    (void)ctx, (void)size;
    free((void *)((uintptr_t)memory / 64 * 64));
}

static void *move(void *ctx, void *memory) {
    uint8_t *to = alloc(NULL, 0);
    if (*(int *)ctx && moved++ % 2) {
        give_back(NULL, to, 0);
        return NULL;
    }
    memcpy(to, memory, ROOM - 128);
    memset(memory, 0x55, ROOM - 128);
    give_back(NULL, memory, 0);
    return to;
}

static void a_filter_can_be_moved(void **state) {
    (void)state;
    const struct tamis_allocator allocator = {alloc, give_back, NULL, false};
    const struct tamis_options options = {.struct_size = sizeof options, .allocator = &allocator};
    tamis *plain = make("quotient:capacity=500", 300), *f;
    size_t size;
    uint8_t *image = image_of(plain, &size), *again = malloc(size);
    assert_int_equal(tamis_load_with(&f, image, size, &options), TAMIS_OK);
    for (int round = 0; round < 6; round++) {
        int every_second_stays = round % 2;
        shift = shift == 16 ? 48 : 16;
        f = tamis_relocate(f, move, &every_second_stays);
        assert_int_equal(tamis_serialize(f, again, size), TAMIS_OK);
        assert_memory_equal(again, image, size);
        for (uint64_t i = 0; i < 300; i++) assert_true(tamis_has_u64(f, i));
        assert_int_equal(tamis_add_u64(f, 1000), TAMIS_OK);
        assert_int_equal(tamis_remove_u64(f, 1000), TAMIS_OK);
        assert_string_equal(tamis_note(f, "comment"), "for a host");
    }
    tamis_free(f);
    free(again);
    free(image);
    tamis_free(plain);
}

static void facts_are_infos_without_the_payload(void **state) {
    (void)state;
    tamis *f = make("scalable:capacity=100,fpr=1%", 500);
    struct tamis_info info = TAMIS_INFO_INIT, facts = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    tamis_get_info(f, &facts);
    assert_true(info.fill > 0 && info.fpr_now > 0 && info.items_now.value > 400);
    assert_true(facts.fill == 0 && facts.fpr_now == 0 && facts.items_now.value == 0);
    info.fill = info.fpr_now = info.fpr_expected = info.items_now.value = info.items_now.error = 0;
    info.is_degraded = info.is_saturated = false;
    assert_memory_equal(&info, &facts, sizeof info);
    tamis_free(f);
}

static void remaining_counts_adds_until_growth(void **state) {
    (void)state;
    tamis *f = make("scalable:capacity=100,fpr=1%", 0);
    assert_int_equal(tamis_remaining(f), 100);
    for (uint64_t i = 0; tamis_remaining(f); i++) assert_int_equal(tamis_add_u64(f, i), TAMIS_OK);
    const uint64_t before = tamis_image_size(f);
    assert_int_equal(tamis_add_u64(f, UINT64_MAX), TAMIS_OK);
    assert_true(tamis_image_size(f) > before && tamis_remaining(f) > 100);
    tamis_free(f);
    f = make("blocked:capacity=1", 5);
    assert_int_equal(tamis_remaining(f), UINT64_MAX);
    tamis_free(f);
}

static void a_filter_returns_its_secret(void **state) {
    (void)state;
    const uint8_t secret[16] = "sixteen letters";
    const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};
    uint8_t found[16] = {0};
    tamis *f = make("classic:capacity=1", 0);
    assert_false(tamis_secret(f, found));
    tamis_free(f);
    assert_int_equal(tamis_create_with(&f, "classic:capacity=1,hash=sip13", &options), TAMIS_OK);
    assert_true(tamis_secret(f, found));
    assert_memory_equal(found, secret, sizeof secret);
    tamis_free(f);
}

/* ---- Slices --------------------------------------------------------------------------------- */

static void only_some_kinds_have_slices(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bytes;
    } with[] = {{"blocked:capacity=1000", 64},
                {"blocked:capacity=1000,hashes=5", 64},
                {"split:capacity=1000", 32},
                {"split:capacity=1000,index=wide", 32},
                {"shard:capacity=1000,shards=1", 64},
                {"shard:layout=split,capacity=1000,shards=1", 32},
                {"classic:capacity=1000", 0},
                {"scalable:capacity=1000", 0},
                {"guava:capacity=1000", 0}};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        struct tamis_slice s = TAMIS_SLICE_INIT;
        size_t size;
        tamis *f = make(with[i].spec, 3);
        uint8_t *image = image_of(f, &size);
        assert_int_equal(tamis_slice_find(&s, image, size, NULL, "a key", 5),
                         with[i].bytes ? TAMIS_OK : TAMIS_UNSUPPORTED);
        assert_int_equal(s.size, with[i].bytes);
        assert_int_equal(s.hash, with[i].bytes ? tamis_hash(f, "a key", 5) : 0);
        free(image);
        tamis_free(f);
    }
}

/* The block of another shard is not here: the answer is maybe, as from the whole. */
static void keys_of_other_shards_need_no_bytes(void **state) {
    (void)state;
    size_t size, others = 0;
    char spec[128];
    tamis *f;
    tamis_shard_spec("blocked:capacity=1000", 1, 4, spec, sizeof spec);
    assert_int_equal(tamis_create(&f, spec), TAMIS_OK);
    uint8_t *image = image_of(f, &size);
    for (uint64_t i = 0; i < 1000; i++) {
        struct tamis_slice s = TAMIS_SLICE_INIT;
        assert_int_equal(tamis_slice_find(&s, image, size, NULL, &i, sizeof i), TAMIS_OK);
        const bool is_other = tamis_shard_of(f, s.hash) != 1;
        others += is_other;
        assert_int_equal(s.size, is_other ? 0 : 64);
        assert_int_equal(tamis_slice_has(&s, is_other ? NULL : image + s.offset), is_other);
    }
    assert_in_range(others, 700, 800);
    free(image);
    tamis_free(f);
}

static void a_slice_needs_the_secret(void **state) {
    (void)state;
    const uint8_t secret[16] = "sixteen letters", other[16] = "fifteen letters";
    struct tamis_options options = {.struct_size = sizeof options, .secret = secret};
    struct tamis_slice s = TAMIS_SLICE_INIT;
    size_t size;
    tamis *f;
    const char *spec = "blocked:capacity=100,hash=sip13,key=outside";
    assert_int_equal(tamis_create_with(&f, spec, &options), TAMIS_OK);
    uint8_t *image = image_of(f, &size);
    assert_int_equal(tamis_slice_find(&s, image, size, NULL, "x", 1), TAMIS_SECRET);
    assert_int_equal(tamis_slice_find(&s, image, size, &options, "x", 1), TAMIS_OK);
    assert_int_equal(s.hash, tamis_hash(f, "x", 1));
    options.secret = other;
    assert_int_equal(tamis_slice_find(&s, image, size, &options, "x", 1), TAMIS_SECRET);
    free(image);
    tamis_free(f);
}

/* What nobody filled in, or somebody changed, is answered maybe without a look at the bytes. */
static void forged_slices_read_nothing(void **state) {
    (void)state;
    struct tamis_slice s = TAMIS_SLICE_INIT, forged;
    uint8_t *empty = calloc(1, 64);
    size_t size;
    tamis *f = make("blocked:capacity=1000", 0);
    uint8_t *image = image_of(f, &size);
    assert_true(tamis_slice_has(&s, NULL));
    assert_int_equal(tamis_slice_find(&s, image, size, NULL, "x", 1), TAMIS_OK);
    assert_false(tamis_slice_has(&s, empty));
    for (unsigned i = 0; i < 8; i++) {
        forged = s;
        if (i == 0) forged.struct_size = 3;
        if (i == 1) forged.kind = UINT32_MAX;
        if (i == 2) forged.kind = 1; /* classic */
        if (i == 3) forged.word[0] = 0;
        if (i == 4) forged.word[1] = 17;
        if (i == 5) forged.size = 63;
        if (i == 6) forged.size = UINT64_MAX;
        if (i == 7) forged.kind = 3; /* split: half a block */
        assert_true(tamis_slice_has(&forged, NULL));
    }
    free(empty);
    free(image);
    tamis_free(f);
}

static void notes_of_a_slice_are_checked(void **state) {
    (void)state;
    static const char notes[] = "canon\0domains\0encoding\0utf8", twice[] = "a\0b\0a\0c";
    const char *value;
    assert_int_equal(tamis_slice_note(notes, sizeof notes, "encoding", &value), TAMIS_OK);
    assert_string_equal(value, "utf8");
    assert_int_equal(tamis_slice_note(notes, sizeof notes, "canon", &value), TAMIS_OK);
    assert_string_equal(value, "domains");
    assert_int_equal(tamis_slice_note(notes, sizeof notes, "utf8", &value), TAMIS_OK);
    assert_null(value);
    assert_int_equal(tamis_slice_note(NULL, 0, "encoding", &value), TAMIS_OK);
    assert_null(value);
    assert_int_equal(tamis_slice_note(notes, sizeof notes - 1, "canon", &value), TAMIS_CORRUPT);
    assert_null(value);
    assert_int_equal(tamis_slice_note(notes, 6, "canon", &value), TAMIS_CORRUPT);
    assert_int_equal(tamis_slice_note(twice, sizeof twice, "a", &value), TAMIS_CORRUPT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_the_image),
        cmocka_unit_test(a_filter_can_be_moved),
        cmocka_unit_test(facts_are_infos_without_the_payload),
        cmocka_unit_test(remaining_counts_adds_until_growth),
        cmocka_unit_test(a_filter_returns_its_secret),
        cmocka_unit_test(only_some_kinds_have_slices),
        cmocka_unit_test(keys_of_other_shards_need_no_bytes),
        cmocka_unit_test(a_slice_needs_the_secret),
        cmocka_unit_test(forged_slices_read_nothing),
        cmocka_unit_test(notes_of_a_slice_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
