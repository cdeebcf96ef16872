/* Power that fails at any point of a save: the name leads to the old image or to the new one, and once
 * the call has said that all is well, to the new one. tests/help/journal.h says what a disk may lose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "tamis.h"
#include "tests/help/folder.h"
#include "tests/help/journal.h"

/* ---- A folder for each test ------------------------------------------------------------------ */

static char folder[TEST_FOLDER_BYTES], path[128];

static int enter_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tamis-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.tamis", folder);
    return 0;
}

static int leave_folder(void **state) {
    (void)state;
    journal_stop();
    return test_leave_folder(folder);
}

#define DEMAND(call) \
    if (call) fail_msg("%s: %s", #call, tamis_why())

static disk bytes_of_file(void) {
    disk d = {NULL, 0, 0};
    FILE *file = fopen(path, "rb");
    if (!file) return d;
    uint8_t piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        disk_put(&d, d.size, piece, got);
    fclose(file);
    return d;
}

/* ---- All that may be left -------------------------------------------------------------------- */

typedef struct outcome {
    uint64_t points, states;
    int bad_at; /* the entry behind which a state was neither old nor new; -1: none */
} outcome;

static bool is_same(const disk *a, const disk *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

typedef struct ends {
    disk old, new;
    bool has_old;
} ends;

/* After `n` of `all` entries, with these names and this fate of writes. */
static bool is_old_or_new(const op *ops, int n, int all, const ends *e, int file, int fate) {
    const bool may_be_old = n < all;
    if (file < 0) return may_be_old && !e->has_old;
    if (file == 0) return may_be_old; /* nobody wrote to it: that is looked at first */
    disk d = file_after(ops, n, file, fate, (uint64_t)n * FATES + (uint64_t)fate);
    const bool is_new = is_same(&d, &e->new);
    free(d.bytes);
    return is_new;
}

static outcome lose_power(const op *ops, int all, const ends *e) {
    outcome out = {.bad_at = -1};
    for (int n = 0; n <= all; n++, out.points++) {
        if (n > 0 && ops[n - 1].what == WRITE && ops[n - 1].file == 0) out.bad_at = n;
        int open[10];
        const int count = open_names(ops, n, open, 10);
        for (unsigned kept = 0; kept < 1u << count; kept++) {
            const int file = target_after(ops, n, open, count, kept, e->has_old ? 0 : -1);
            for (int fate = 0; fate < FATES; fate++, out.states++)
                if (!is_old_or_new(ops, n, all, e, file, fate) && out.bad_at < 0) out.bad_at = n;
        }
    }
    return out;
}

/* ---- The test can fail ----------------------------------------------------------------------- */

/* Every flush is needed: the same journal without any one of them loses something. So is their order:
 * with a rename brought before the flush in front of it, too. */
static void each_flush_counts(const ends *e, const char *what) {
    static op less[OPS];
    int flushes = 0;
    for (int i = 0; i < journal.count; i++) {
        const bool is_flush = journal.ops[i].what == SYNC || journal.ops[i].what == SYNC_FOLDER;
        if (is_flush) {
            memcpy(less, journal.ops, (size_t)i * sizeof *less);
            memcpy(less + i, journal.ops + i + 1, (size_t)(journal.count - i - 1) * sizeof *less);
            if (lose_power(less, journal.count - 1, e).bad_at < 0)
                fail_msg("%s: nothing is lost without flush %d", what, i);
            flushes++;
        }
        if (i > 0 && journal.ops[i].what == RENAME) {
            memcpy(less, journal.ops, (size_t)journal.count * sizeof *less);
            int before = i;
            while (before > 0 && less[before].what != SYNC) before--;
            const op flush = less[before];
            memmove(less + before, less + before + 1, (size_t)(i - before) * sizeof *less);
            less[i] = flush;
            if (lose_power(less, journal.count, e).bad_at < 0)
                fail_msg("%s: nothing is lost by an early rename", what);
        }
    }
    assert_int_equal(flushes, 2); /* the file and its folder */
}

/* ---- Ways to save ---------------------------------------------------------------------------- */

static tamis *filter_of(const char *spec, uint64_t keys) {
    tamis *f;
    DEMAND(tamis_create(&f, spec));
    for (uint64_t i = 0; i < keys; i++) DEMAND(tamis_add_u64(f, i));
    DEMAND(tamis_set_note(f, "comment", "what follows the payload"));
    return f;
}

static tamis_builder *builder_of(const char *spec, uint64_t keys) {
    tamis_builder *b;
    DEMAND(tamis_builder_create(&b, spec, 0, NULL));
    for (uint64_t i = 0; i < keys; i++) DEMAND(tamis_builder_add(b, &i, sizeof i));
    return b;
}

static tamis_edit *edit(void) {
    const struct tamis_edit_options options = {.struct_size = sizeof options, .may_be_new = true};
    tamis_edit *e;
    DEMAND(tamis_edit_open(&e, path, &options));
    return e;
}

static void by_save(uint64_t keys) {
    tamis *f = filter_of("split:capacity=1000", keys);
    DEMAND(tamis_save(f, path));
    tamis_free(f);
}

static void by_builder(uint64_t keys) {
    tamis_builder *b = builder_of("fuse:", keys);
    DEMAND(tamis_builder_finish_to(b, path));
    tamis_builder_free(b);
}

static void by_builder_that_adds(uint64_t keys) {
    tamis_builder *b = builder_of("cuckoo:capacity=1000", keys);
    DEMAND(tamis_builder_finish_to(b, path));
    tamis_builder_free(b);
}

/* As the verbs that change an image. */
static void by_edit(uint64_t keys) {
    tamis_edit *e = edit();
    tamis *f = filter_of("blocked:capacity=1000", keys);
    DEMAND(tamis_edit_save(e, f));
    tamis_free(f);
    tamis_edit_close(e);
}

static void by_edit_of_builder(uint64_t keys) {
    tamis_edit *e = edit();
    tamis_builder *b = builder_of("ribbon:", keys);
    DEMAND(tamis_edit_build(e, b));
    tamis_builder_free(b);
    tamis_edit_close(e);
}

/* As apply, diff, convert and keygen. */
static void by_edit_of_bytes(uint64_t keys) {
    static uint8_t piece[5000];
    tamis_edit *e = edit();
    memset(piece, (int)keys % 251, sizeof piece);
    for (int i = 0; i < 3; i++) DEMAND(tamis_edit_put(e, piece, sizeof piece - (size_t)i * 777));
    DEMAND(tamis_edit_commit(e));
    tamis_edit_close(e);
}

static const struct way {
    const char *name;
    void (*save)(uint64_t keys);
} ways[] = {
    {"save", by_save},
    {"builder", by_builder},
    {"builder that adds", by_builder_that_adds},
    {"edit", by_edit},
    {"edit of a builder", by_edit_of_builder},
    {"edit of bytes", by_edit_of_bytes},
};

static outcome try_way(const struct way *way, bool has_old) {
    ends e = {.has_old = has_old};
    unlink(path);
    if (has_old) way->save(500);
    e.old = bytes_of_file();
    journal_start(path, has_old);
    way->save(700);
    journal_stop();
    e.new = bytes_of_file();
    assert_true(e.new.size > 0 && !is_same(&e.old, &e.new));
    const outcome out = lose_power(journal.ops, journal.count, &e);
    if (out.bad_at >= 0)
        fail_msg("%s%s: after %d of %d calls neither the old nor the new file is left", way->name,
                 has_old ? "" : ", a new name", out.bad_at, journal.count);
    each_flush_counts(&e, way->name);
    free(e.old.bytes), free(e.new.bytes);
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
        cmocka_unit_test_setup_teardown(every_save_survives, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
