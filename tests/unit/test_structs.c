/* SPDX-License-Identifier: MIT */
/* Structs that begin with their size: programs compiled with other versions of the headers have
 * shorter or longer ones. Every struct with an _INIT macro is here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_edit.h"
#include "tamis_engine.h"
#include "tamis_formats.h"
#include "tamis_inline.h"
#include "tamis_jobs.h"
#include "tests/support/filters.h"
#include "tests/support/require_ok.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Arguments of the calls below. */
static struct {
    tamis *filter, *shard, *logged, *copy;
    tamis_builder *builder;
    tamis_session *session;
    tamis_admission *admission;
    tamis_aggregate *node;
    uint8_t message[1 << 16], patch[1 << 16], image[1 << 12];
    size_t message_size, patch_size, image_size;
} on;

static bool take_message(void *ctx, const void *bytes, size_t size) {
    (void)ctx;
    memcpy(on.message, bytes, on.message_size = size);
    return true;
}

static bool take_patch(void *ctx, const void *bytes, size_t size) {
    (void)ctx;
    memcpy(on.patch + on.patch_size, bytes, size);
    on.patch_size += size;
    return true;
}

static int make_all(void **state) {
    (void)state;
    char spec[256];
    on.filter = test_make("blocked:capacity=100,hashes=8");
    tamis_shard_spec("blocked:capacity=100", 1, 2, spec, sizeof spec);
    on.shard = test_make("%s", spec);
    on.logged = test_make("counting:capacity=100,bits=6400,hashes=4,log=yes");
    REQUIRE_OK(tamis_add(on.logged, "cat", 3));
    REQUIRE_OK(tamis_announce(on.logged, NULL, NULL, take_message, NULL));
    REQUIRE_OK(tamis_receive(&on.copy, on.message, on.message_size, NULL, NULL));
    on.image_size = (size_t)tamis_image_size(on.filter);
    REQUIRE_OK(tamis_serialize(on.filter, on.image, sizeof on.image));
    REQUIRE_OK(
        tamis_patch_make(on.image, on.image_size, on.image, on.image_size, NULL, take_patch, NULL));
    REQUIRE_OK(tamis_builder_create(&on.builder, "fuse:fpr=1/256", 0, NULL));
    REQUIRE_OK(tamis_session_create(&on.session, TAMIS_SENDER, NULL, 0, NULL));
    REQUIRE_OK(tamis_admission_create(&on.admission, "capacity=100", NULL));
    REQUIRE_OK(tamis_aggregate_create(&on.node, 100));
    return 0;
}

static int free_all(void **state) {
    (void)state;
    tamis_free(on.filter);
    tamis_free(on.shard);
    tamis_free(on.logged);
    tamis_free(on.copy);
    tamis_builder_free(on.builder);
    tamis_session_free(on.session);
    tamis_admission_free(on.admission);
    tamis_aggregate_free(on.node);
    return 0;
}

/* ---- Results -------------------------------------------------------------------------------- */

static bool plan(void *out) {
    return !tamis_plan_spec("capacity=100", out);
}
static bool spec_option(void *out) {
    return !tamis_spec_read("capacity=100", 0, out);
}
static bool measure(void *out) {
    tamis_measure(on.filter, out);
    return true;
}
static bool get_info(void *out) {
    tamis_get_info(on.filter, out);
    return true;
}
static bool kind_at(void *out) {
    return tamis_kind_at(0, out);
}
static bool kind_named(void *out) {
    return tamis_kind_named("blocked", out);
}
static bool format_at(void *out) {
    return tamis_format_at(0, out);
}
static bool format_named(void *out) {
    return tamis_format_named("guava", out);
}
static bool builder(void *out) {
    tamis_builder_get_info(on.builder, out);
    return true;
}
static bool shard(void *out) {
    return tamis_shard_get_info(on.shard, out);
}
static bool slice(void *out) {
    return !tamis_slice_find(out, on.image, on.image_size, NULL, "cat", 3);
}
static bool patch_make(void *out) {
    return !tamis_patch_make(on.image, on.image_size, on.image, on.image_size, out, NULL, NULL);
}
static bool patch(void *out) {
    return !tamis_patch_get_info(on.patch, on.patch_size, out);
}
static bool session(void *out) {
    tamis_session_get_info(on.session, out);
    return true;
}
static bool staleness(void *out) {
    return !tamis_get_staleness(on.logged, out);
}
static bool announced(void *out) {
    return !tamis_announce(on.logged, NULL, out, take_message, NULL);
}
static bool received(void *out) {
    return !tamis_receive(&on.copy, on.message, on.message_size, NULL, out);
}
static bool was_received(void *out) {
    return tamis_was_received(on.copy, out);
}
static bool admission(void *out) {
    tamis_admission_get_info(on.admission, out);
    return true;
}
static bool total(void *out) {
    tamis_aggregate_total(on.node, out);
    return true;
}

static const struct result {
    const char *name;
    bool (*fill)(void *);
    size_t size;
    bool can_refuse; /* the call can report it */
} results[] = {
    {"plan", plan, sizeof(struct tamis_plan), true},
    {"spec_option", spec_option, sizeof(struct tamis_spec_option), true},
    {"info", measure, sizeof(struct tamis_info), false},
    {"info", get_info, sizeof(struct tamis_info), false},
    {"kind_info", kind_at, sizeof(struct tamis_kind_info), true},
    {"kind_info", kind_named, sizeof(struct tamis_kind_info), true},
    {"format_info", format_at, sizeof(struct tamis_format_info), true},
    {"format_info", format_named, sizeof(struct tamis_format_info), true},
    {"builder_info", builder, sizeof(struct tamis_builder_info), false},
    {"shard_info", shard, sizeof(struct tamis_shard_info), true},
    {"slice", slice, sizeof(struct tamis_slice), true},
    {"patch_info", patch_make, sizeof(struct tamis_patch_info), true},
    {"patch_info", patch, sizeof(struct tamis_patch_info), true},
    {"session_info", session, sizeof(struct tamis_session_info), false},
    {"staleness", staleness, sizeof(struct tamis_staleness), true},
    {"announced", announced, sizeof(struct tamis_announced), true},
    {"receive_info", received, sizeof(struct tamis_receive_info), true},
    {"receive_info", was_received, sizeof(struct tamis_receive_info), true},
    {"admission_info", admission, sizeof(struct tamis_admission_info), false},
    {"total", total, sizeof(struct tamis_total), false},
};

enum { ROOM = 1024, UNTOUCHED = 0x55 };

/* A struct that claims `size` bytes, followed by bytes that must not change. */
static bool fill(const struct result *r, size_t size, uint8_t room[ROOM]) {
    memset(room, UNTOUCHED, ROOM);
    memcpy(room, &size, sizeof size);
    const bool is_filled = r->fill(room);
    size_t said;
    memcpy(&said, room, sizeof said);
    if (said != size) fail_msg("%s: struct_size became %zu", r->name, said);
    return is_filled;
}

static bool is_all(const uint8_t *bytes, size_t n, uint8_t value) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != value) return false;
    return true;
}

/* Every size that an older header may have had: nothing is written past it, and the fields equal
 * those of the whole struct. */
static void older_structs_are_not_overrun(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(results); i++) {
        const struct result *r = &results[i];
        _Alignas(16) uint8_t whole[ROOM], older[ROOM];
        for (size_t size = sizeof size; size <= r->size; size++) {
            assert_true(fill(r, size, older));
            if (!is_all(older + size, ROOM - size, UNTOUCHED))
                fail_msg("%s: written past %zu bytes", r->name, size);
            assert_true(fill(r, r->size, whole));
            if (memcmp(older + sizeof size, whole + sizeof size, size - sizeof size) != 0 &&
                r->fill != announced) /* its messages are numbered */
                fail_msg("%s: other values in %zu bytes", r->name, size);
        }
    }
}

/* A newer header: fields that this library does not know become zero. */
static void newer_structs_are_cleared(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(results); i++) {
        const struct result *r = &results[i];
        _Alignas(16) uint8_t newer[ROOM];
        const size_t size = r->size + 100;
        assert_true(fill(r, size, newer));
        if (!is_all(newer + r->size, 100, 0)) fail_msg("%s: rubbish past its end", r->name);
        assert_true(is_all(newer + size, ROOM - size, UNTOUCHED));
    }
}

static void sizes_that_cannot_be_are_refused(void **state) {
    static const size_t wrong[] = {0, 7, 5000, SIZE_MAX};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(results); i++)
        for (size_t k = 0; k < COUNT_OF(wrong); k++) {
            const struct result *r = &results[i];
            _Alignas(16) uint8_t room[ROOM];
            if (fill(r, wrong[k], room) && r->can_refuse)
                fail_msg("%s: %zu bytes were taken", r->name, wrong[k]);
            assert_true(is_all(room + sizeof(size_t), ROOM - sizeof(size_t), UNTOUCHED));
            if (r->can_refuse) assert_non_null(strstr(tamis_why(), r->name));
        }
}

/* ---- Options -------------------------------------------------------------------------------- */

static tamis_status create_with(const void *options) {
    tamis *f;
    const tamis_status rc = tamis_create_with(&f, "capacity=10", options);
    tamis_free(f);
    return rc;
}
static tamis_status build_with(const void *options) {
    tamis_builder *b;
    const tamis_status rc = tamis_builder_create_with(&b, "fuse:fpr=1/256", options);
    tamis_builder_free(b);
    return rc;
}
static tamis_status edit_with(const void *options) {
    tamis_edit *edit;
    const tamis_status rc = tamis_edit_open(&edit, "tests/unit/test_structs.c", options);
    tamis_edit_close(edit);
    return rc;
}
static tamis_status talk_with(const void *options) {
    tamis_session *s;
    const tamis_status rc = tamis_session_create(&s, TAMIS_SENDER, NULL, 0, options);
    tamis_session_free(s);
    return rc;
}
static tamis_status announce_with(const void *options) {
    return tamis_announce(on.logged, options, NULL, take_message, NULL);
}
static tamis_status patch_with(const void *info) {
    return tamis_patch_fits(on.image, on.image_size, info);
}

static const struct choice {
    const char *name;
    tamis_status (*use)(const void *);
    size_t size;
} choices[] = {
    {"options", create_with, sizeof(struct tamis_options)},
    {"builder_options", build_with, sizeof(struct tamis_builder_options)},
    {"edit_options", edit_with, sizeof(struct tamis_edit_options)},
    {"session_options", talk_with, sizeof(struct tamis_session_options)},
    {"announce_options", announce_with, sizeof(struct tamis_announce_options)},
};

/* Garbage past the end of an older struct must not be read. */
static void options_of_other_versions(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        const struct choice *c = &choices[i];
        _Alignas(16) uint8_t room[ROOM];
        for (size_t size = sizeof size; size <= c->size + 100; size++) {
            memset(room, 0xff, sizeof room);
            memset(room, 0, size);
            memcpy(room, &size, sizeof size);
            if (c->use(room)) fail_msg("%s of %zu bytes: %s", c->name, size, tamis_why());
            if (size <= c->size) continue;
            room[size - 1] = 1; /* an option that this version does not know */
            assert_int_equal(c->use(room), TAMIS_INVALID);
        }
        memset(room, 0, sizeof room);
        assert_int_equal(c->use(room), TAMIS_INVALID);
        assert_non_null(strstr(tamis_why(), c->name));
    }
}

/* A patch's info is both output and input. */
static void an_older_patch_info_fits(void **state) {
    (void)state;
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    REQUIRE_OK(tamis_patch_get_info(on.patch, on.patch_size, &info));
    REQUIRE_OK(patch_with(&info));
    info.struct_size = offsetof(struct tamis_patch_info, is_whole);
    REQUIRE_OK(patch_with(&info));
    info.struct_size = 0;
    assert_int_equal(patch_with(&info), TAMIS_INVALID);
}

/* A header that does not know a filter's rule would look in the wrong places. */
static void an_older_inline_header_is_refused(void **state) {
    (void)state;
    struct {
        struct tamis_inline now;
        uint8_t later[100];
    } view;
    memset(&view, UNTOUCHED, sizeof view);
    view.now = tamis_inline_init();
    view.now.version = 0;
    assert_int_equal(tamis_inline_view(on.filter, &view.now), TAMIS_UNSUPPORTED);
    view.now = tamis_inline_init();
    view.now.struct_size = offsetof(struct tamis_inline, hash);
    assert_int_equal(tamis_inline_view(on.filter, &view.now), TAMIS_UNSUPPORTED);
    view.now.struct_size = 0;
    assert_int_equal(tamis_inline_view(on.filter, &view.now), TAMIS_INVALID);
    view.now = tamis_inline_init();
    assert_int_equal(tamis_inline_view(on.filter, &view.now), TAMIS_OK);
    assert_true(is_all(view.later, sizeof view.later, UNTOUCHED));
    view.now.version = 9;
    view.now.struct_size = sizeof view;
    assert_int_equal(tamis_inline_view(on.filter, &view.now), TAMIS_OK);
    assert_true(is_all(view.later, sizeof view.later, 0));
}

/* ---- Every struct is here ------------------------------------------------------------------- */

static bool is_here(const char *name, size_t len) {
    for (size_t i = 0; i < COUNT_OF(results); i++)
        if (strlen(results[i].name) == len && memcmp(results[i].name, name, len) == 0) return true;
    for (size_t i = 0; i < COUNT_OF(choices); i++)
        if (strlen(choices[i].name) == len && memcmp(choices[i].name, name, len) == 0) return true;
    return false;
}

static void every_struct_with_a_size_is_here(void **state) {
    static const char *const headers[] = {"tamis",         "tamis_formats", "tamis_parts",
                                          "tamis_special", "tamis_jobs",    "tamis_engine",
                                          "tamis_edit"};
    (void)state;
    size_t found = 0;
    for (size_t h = 0; h < COUNT_OF(headers); h++) {
        char path[64], line[256];
        snprintf(path, sizeof path, "include/%s.h", headers[h]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) {
            const char *of = strstr(line, "TAMIS_INIT(struct tamis_");
            if (!of || strncmp(line, "#define", 7) != 0) continue;
            of += strlen("TAMIS_INIT(struct tamis_");
            if (!is_here(of, strcspn(of, ")"))) fail_msg("%s is not tested: %s", path, line);
            found++;
        }
        fclose(file);
    }
    assert_int_equal(found, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_structs_are_not_overrun),
        cmocka_unit_test(newer_structs_are_cleared),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(options_of_other_versions),
        cmocka_unit_test(an_older_patch_info_fits),
        cmocka_unit_test(an_older_inline_header_is_refused),
        cmocka_unit_test(every_struct_with_a_size_is_here),
    };
    return cmocka_run_group_tests_name("structs", tests, make_all, free_all);
}
