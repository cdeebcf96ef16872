/* SPDX-License-Identifier: MIT */
/* Power failure at any point of a save: the name refers to the old image or to the new one, and
 * after the call has succeeded, to the new one. tests/support/power.h says what a disk may lose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "tamis_edit.h"
#include "tamis_parts.h"
#include "tests/support/power.h"
#include "tests/support/require_ok.h"
#include "tests/support/temp_dir.h"

/* ---- A directory for each test --------------------------------------------------------------- */

static char dir[TEST_FOLDER_BYTES], path[128];

static int enter_dir(void **state) {
    (void)state;
    if (!test_enter_dir(dir)) return -1;
    snprintf(path, sizeof path, "%s/a.tamis", dir);
    return 0;
}

static int leave_dir(void **state) {
    (void)state;
    journal_stop();
    return test_leave_dir(dir);
}

/* ---- Ways to save ---------------------------------------------------------------------------- */

static tamis *filter_of(const char *spec, uint64_t keys) {
    tamis *f;
    REQUIRE_OK(tamis_create(&f, spec));
    for (uint64_t i = 0; i < keys; i++) REQUIRE_OK(tamis_add_u64(f, i));
    REQUIRE_OK(tamis_set_note(f, "comment", "what follows the payload"));
    return f;
}

static tamis_builder *builder_of(const char *spec, uint64_t keys) {
    tamis_builder *b;
    REQUIRE_OK(tamis_builder_create(&b, spec, 0, NULL));
    for (uint64_t i = 0; i < keys; i++) REQUIRE_OK(tamis_builder_add(b, &i, sizeof i));
    return b;
}

static tamis_edit *edit(void) {
    const struct tamis_edit_options options = {.struct_size = sizeof options, .may_be_new = true};
    tamis_edit *e;
    REQUIRE_OK(tamis_edit_open(&e, path, &options));
    return e;
}

/* As in apply, diff, convert and keygen. */
static void by_edit_of_bytes(uint64_t keys) {
    static uint8_t piece[5000];
    tamis_edit *e = edit();
    memset(piece, (int)keys % 251, sizeof piece);
    for (int i = 0; i < 3; i++)
        REQUIRE_OK(tamis_edit_put(e, piece, sizeof piece - (size_t)i * 777));
    REQUIRE_OK(tamis_edit_commit(e));
    tamis_edit_close(e);
}

/* As in assemble. */
static const tamis *next_shard(void *ctx, uint64_t i) {
    tamis **shards = ctx;
    return shards[i];
}

static void by_edit_of_shards(uint64_t keys) {
    tamis *whole = filter_of("split:capacity=1000", keys), *shards[2];
    for (uint64_t i = 0; i < 2; i++) REQUIRE_OK(tamis_shard_cut(&shards[i], whole, i, 2, NULL));
    tamis_edit *e = edit();
    REQUIRE_OK(tamis_edit_join(e, next_shard, shards));
    tamis_edit_close(e);
    for (int i = 0; i < 2; i++) tamis_free(shards[i]);
    tamis_free(whole);
}

static const struct way {
    const char *name, *spec;
    bool is_built, is_edit;
    void (*save)(uint64_t keys); /* instead of the above */
} ways[] = {
    {"save", "split:capacity=1000", false, false, NULL},
    {"builder", "fuse:", true, false, NULL},
    {"builder that adds", "cuckoo:capacity=1000", true, false, NULL},
    {"edit", "blocked:capacity=1000", false, true, NULL},
    {"edit of a builder", "ribbon:", true, true, NULL},
    {"edit of bytes", NULL, false, true, by_edit_of_bytes},
    {"edit of shards", NULL, false, true, by_edit_of_shards},
};

static void save(const struct way *way, uint64_t keys) {
    if (way->save) {
        way->save(keys);
        return;
    }
    tamis_edit *e = way->is_edit ? edit() : NULL;
    tamis_builder *b = way->is_built ? builder_of(way->spec, keys) : NULL;
    tamis *f = b ? NULL : filter_of(way->spec, keys);
    if (b) REQUIRE_OK(e ? tamis_edit_build(e, b) : tamis_builder_finish_to(b, path));
    if (f) REQUIRE_OK(e ? tamis_edit_save(e, f) : tamis_save(f, path));
    tamis_free(f);
    tamis_builder_free(b);
    tamis_edit_close(e);
}

/* Every flush is needed where it is: the same journal without it, or with it elsewhere, loses
 * data. */
static void each_flush_counts(const char *what) {
    int flushes = 0;
    for (int i = 0; i < journal.count; i++) {
        const bool is_flush = journal.ops[i].what == SYNC || journal.ops[i].what == SYNC_FOLDER;
        if (is_flush && is_safe_without(i, 0))
            fail_msg("%s: nothing is lost without flush %d", what, i);
        flushes += is_flush;
    }
    assert_int_equal(flushes, 2); /* the file and its directory */
    if (is_safe_in_other_order()) fail_msg("%s: nothing is lost by a flush elsewhere", what);
}

static outcome try_way(const struct way *way, bool has_old) {
    unlink(path);
    if (has_old) save(way, 500);
    journal_start(dir);
    save(way, 700);
    journal_stop();
    if (journal_misses()) fail_msg("%s: a call was not written down", way->name);
    const outcome out = lose_power(journal.ops, journal.count, 1);
    if (out.bad_at >= 0)
        fail_msg("%s%s: after %d of %d calls neither the old nor the new file is left", way->name,
                 has_old ? "" : ", a new name", out.bad_at, journal.count);
    each_flush_counts(way->name);
    return out;
}

static void every_save_survives(void **state) {
    (void)state;
    uint64_t points = 0, states = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int has_old = 0; has_old < 2; has_old++) {
            const outcome out = try_way(&ways[i], has_old);
            points += out.points;
            states += out.states;
        }
    print_message("# %llu save points, %llu states of the disk, all of them old or new\n",
                  (unsigned long long)points, (unsigned long long)states);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_save_survives, enter_dir, leave_dir),
    };
    return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
