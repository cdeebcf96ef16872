/* SPDX-License-Identifier: MIT */
/* Files: reading, mapping, replacing, and failures at any system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "tamis.h"
#include "tests/support/faults.h"
#include "tests/support/temp_dir.h"

/* ---- A directory for each test --------------------------------------------------------------- */

static char dir[TEST_FOLDER_BYTES], path[128];

static int enter_dir(void **state) {
    (void)state;
    if (!test_enter_dir(dir)) return -1;
    snprintf(path, sizeof path, "%s/a.tamis", dir);
    memset(&fault, 0, sizeof fault);
    return 0;
}

static int leave_dir(void **state) {
    (void)state;
    fault.is_on = false;
    return test_leave_dir(dir);
}

static tamis *filter_of(const char *spec, int from, int to) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s", tamis_why());
    for (int i = from; i < to; i++) assert_int_equal(tamis_add_u64(f, (uint64_t)i), TAMIS_OK);
    return f;
}

static bool holds(const char *file, int from, int to) {
    tamis *f;
    if (tamis_read(&f, file)) return false;
    bool has_all = true;
    for (int i = from; i < to; i++) has_all &= tamis_has_u64(f, (uint64_t)i);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    tamis_free(f);
    return has_all && info.items == (uint64_t)(to - from);
}

static const char *const spec = "split:capacity=1000";

/* ---- Tests ---------------------------------------------------------------------------------- */

static void save_read_map_agree(void **state) {
    (void)state;
    tamis *f = filter_of(spec, 0, 500), *read, *map;
    assert_int_equal(tamis_set_note(f, "comment", "a note"), TAMIS_OK);
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    assert_int_equal(test_files_in(dir), 1);
    assert_int_equal(tamis_read(&read, path), TAMIS_OK);
    assert_int_equal(tamis_map(&map, path), TAMIS_OK);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_int_equal(tamis_has_u64(f, i), tamis_has_u64(read, i));
        assert_int_equal(tamis_has_u64(f, i), tamis_has_u64(map, i));
    }
    assert_string_equal(tamis_note(map, "comment"), "a note");
    assert_int_equal(tamis_add_u64(map, 1), TAMIS_READONLY);
    assert_int_equal(tamis_add_u64(read, 501), TAMIS_OK);
    /* A map keeps answering from the old file after the name has a new one. */
    assert_int_equal(tamis_save(read, path), TAMIS_OK);
    assert_true(tamis_has_u64(map, 3));
    tamis_free(f);
    tamis_free(read);
    tamis_free(map);
}

/* An image is read in chunks of 256 KiB: one, several, a partial one at the end, and notes. */
static void large_images_are_read_whole(void **state) {
    (void)state;
    static const char *const sizes[] = {"256KiB", "512KiB", "1MiB", "1000KiB"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char params[64];
        uint64_t written, read;
        tamis *f, *g;
        snprintf(params, sizeof params, "classic:capacity=100000,size=%s", sizes[i]);
        assert_int_equal(tamis_create(&f, params), TAMIS_OK);
        for (uint64_t key = 0; key < 2000; key++) assert_int_equal(tamis_add_u64(f, key), TAMIS_OK);
        assert_int_equal(tamis_set_note(f, "name", sizes[i]), TAMIS_OK);
        assert_int_equal(tamis_save(f, path), TAMIS_OK);
        assert_int_equal(tamis_read(&g, path), TAMIS_OK);
        const void *a = tamis_payload(f, &written), *b = tamis_payload(g, &read);
        assert_true(written >= (uint64_t)1 << 18 && read == written);
        assert_memory_equal(a, b, (size_t)written);
        assert_string_equal(tamis_note(g, "name"), sizes[i]);
        tamis_free(f);
        tamis_free(g);
    }
}

static void mode_and_links_survive(void **state) {
    (void)state;
    tamis *f = filter_of(spec, 0, 10);
    char link_path[160];
    struct stat st;
    const mode_t old = umask(027);
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    umask(old);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    snprintf(link_path, sizeof link_path, "%s/link", dir);
    assert_int_equal(symlink("a.tamis", link_path), 0);
    assert_int_equal(tamis_save(f, link_path), TAMIS_OK);
    assert_int_equal(lstat(link_path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
    assert_int_equal(test_files_in(dir), 2);
    tamis_free(f);
}

static void refuses(const char *file, const char *word) {
    tamis *f = NULL;
    errno = 0;
    assert_int_equal(tamis_read(&f, file), TAMIS_IO);
    assert_null(f);
    if (!strstr(tamis_why(), word) || !strstr(tamis_why(), file))
        fail_msg("'%s' should name %s and %s", tamis_why(), file, word);
    assert_int_equal(tamis_map(&f, file), TAMIS_IO);
    assert_null(f);
    assert_int_equal(errno, 0); /* the library does not touch it */
}

static void irregular_files_are_refused(void **state) {
    (void)state;
    char fifo[160], nothing[160];
    snprintf(fifo, sizeof fifo, "%s/fifo", dir);
    snprintf(nothing, sizeof nothing, "%s/none/at/all", dir);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    refuses(nothing, "cannot open");
    refuses(dir, "not a regular file");
    refuses(fifo, "not a regular file");
    refuses("/dev/zero", "not a regular file");

    tamis *f = filter_of(spec, 0, 10);
    errno = 0;
    assert_int_equal(tamis_save(f, nothing), TAMIS_IO);
    assert_int_equal(tamis_save(f, dir), TAMIS_IO);
    assert_int_equal(tamis_save(f, fifo), TAMIS_IO);
    assert_int_equal(tamis_save(f, "/dev/full"), TAMIS_IO);
    char *long_path = malloc(10001);
    memset(long_path, 'a', 10000);
    long_path[10000] = '\0';
    assert_int_equal(tamis_save(f, long_path), TAMIS_IO);
    refuses(long_path + 9900, "cannot open");
    free(long_path);
    assert_int_equal(errno, 0);
    assert_int_equal(test_files_in(dir), 1);
    tamis_free(f);
}

/* Every call fails once with every error: the old file stays, no other file is left, and the
 * message names the file. If only flushing the directory fails, after the rename, the complete new
 * file is there. */
static void save_fails_cleanly_at_every_call(void **state) {
    (void)state;
    static const int errors[] = {EIO, ENOSPC, EACCES, EDQUOT};
    tamis *old = filter_of(spec, 0, 100), *new = filter_of(spec, 0, 200);
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (int at = 1;; at++) {
            assert_int_equal(tamis_save(old, path), TAMIS_OK);
            fail_at(NULL, at, errors[e]);
            const tamis_status rc = tamis_save(new, path);
            fault.is_on = false;
            assert_int_equal(test_files_in(dir), 1);
            if (rc == TAMIS_OK) {
                assert_true(fault.calls < at || holds(path, 0, 200));
                if (fault.calls < at) break;
                continue;
            }
            assert_int_equal(rc, TAMIS_IO);
            assert_non_null(strstr(tamis_why(), path));
            if (strstr(tamis_why(), "directory"))
                assert_true(holds(path, 0, 200));
            else
                assert_true(holds(path, 0, 100));
        }
    tamis_free(old);
    tamis_free(new);
}

static void read_fails_cleanly_at_every_call(void **state) {
    (void)state;
    tamis *f = filter_of(spec, 0, 100), *g;
    assert_int_equal(tamis_set_note(f, "comment", "a note"), TAMIS_OK);
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    for (int at = 1;; at++) {
        fail_at(NULL, at, EIO);
        const tamis_status rc = tamis_read(&g, path);
        fault.is_on = false;
        if (rc == TAMIS_OK) {
            tamis_free(g);
            if (fault.calls < at) break;
            continue; /* a failed close after reading does no harm */
        }
        assert_int_equal(rc, TAMIS_IO);
        assert_null(g);
        assert_non_null(strstr(tamis_why(), strerror(EIO))); /* the first error */
    }
    /* A failed read is never retried. */
    for (int at = 1, is_over = 0; !is_over; at++) {
        fail_at("read", at, EIO);
        const tamis_status rc = tamis_read(&g, path);
        fault.is_on = false;
        is_over = fault.calls < at;
        assert_int_equal(rc, is_over ? TAMIS_OK : TAMIS_IO);
        tamis_free(g);
    }
    tamis_free(f);
}

/* 4 GiB of unwritten pages after a valid image: the length is wrong. */
static void a_size_has_64_bits(void **state) {
    (void)state;
    tamis *f = filter_of(spec, 0, 100);
    struct stat st;
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    tamis_free(f);
    assert_int_equal(stat(path, &st), 0);
    if (truncate(path, st.st_size + ((off_t)1 << 32)) < 0) skip();
    assert_int_equal(tamis_read(&f, path), TAMIS_CORRUPT);
    assert_null(f);
    assert_int_equal(tamis_map(&f, path), TAMIS_CORRUPT);
    assert_null(f);
}

static int next_descriptor(void) {
    const int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

/* No descriptor stays open, and programs started in the meantime inherit none. */
static void no_file_stays_open(void **state) {
    (void)state;
    tamis *f = filter_of(spec, 0, 10), *g;
    const int before = next_descriptor();
    fault.inherited = 0;
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    assert_int_equal(tamis_save(f, dir), TAMIS_IO);
    assert_int_equal(tamis_read(&g, dir), TAMIS_IO);
    assert_int_equal(tamis_map(&g, dir), TAMIS_IO);
    assert_int_equal(tamis_read(&g, path), TAMIS_OK);
    tamis_free(g);
    assert_int_equal(tamis_map(&g, path), TAMIS_OK);
    assert_int_equal(next_descriptor(), before);
    assert_int_equal(fault.inherited, 0);
    tamis_free(g);
    tamis_free(f);
}

/* The temporary file's name is thirteen letters longer, which limits the length of a path. */
static void paths_have_a_max_length(void **state) {
    (void)state;
    enum { MAX = 4096, MORE = 13 };
    static char at[MAX];
    tamis *f = filter_of(spec, 0, 10);
    for (size_t len = MAX - MORE - 2; len < MAX - MORE + 2; len++) {
        size_t n = (size_t)snprintf(at, sizeof at, "%s", dir);
        while (n < len - 2)
            n += (size_t)snprintf(at + n, sizeof at - n, n % 2 == len % 2 ? "/." : "//");
        while (n < len) at[n] = n == len - 2 ? '/' : 'a', n++;
        at[n] = '\0';
        assert_int_equal(strlen(at), len);
        const tamis_status rc = tamis_save(f, at);
        assert_int_equal(rc, len + MORE < MAX ? TAMIS_OK : TAMIS_IO);
        if (rc) assert_non_null(strstr(tamis_why(), strerror(ENAMETOOLONG)));
        assert_int_equal(test_files_in(dir), 1);
    }
    tamis_free(f);
}

/* The file is resized while it is read: once, after `reads_to_come` reads. */
static int reads_to_come;
static off_t size_then;

static void resize_file(const char *call) {
    if (strcmp(call, "read") == 0 && reads_to_come-- == 0)
        assert_int_equal(truncate(path, size_then), 0);
}

static void files_that_change_are_refused(void **state) {
    (void)state;
    static const struct {
        int by;
        const char *how;
    } changes[] = {{+1, "longer"}, {-1, "shorter"}};
    for (size_t has_notes = 0; has_notes < 2; has_notes++) {
        tamis *f = filter_of(spec, 0, 100), *g;
        struct stat st;
        if (has_notes) assert_int_equal(tamis_set_note(f, "comment", "a note"), TAMIS_OK);
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
            for (int reads = 0; reads < 2; reads++) {
                assert_int_equal(tamis_save(f, path), TAMIS_OK);
                assert_int_equal(stat(path, &st), 0);
                size_then = st.st_size + changes[i].by;
                reads_to_come = reads;
                fault.before = resize_file;
                const tamis_status rc = tamis_read(&g, path);
                fault.before = NULL;
                assert_int_equal(rc, TAMIS_IO);
                assert_null(g);
                assert_non_null(strstr(tamis_why(), changes[i].how));
            }
        tamis_free(f);
    }
}

/* A hundred bytes at a time, with interruptions: the same file. */
static void short_reads_and_writes_are_finished(void **state) {
    (void)state;
    tamis *f = filter_of(spec, 0, 100), *g;
    fault.is_on = fault.is_short = true;
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    assert_int_equal(tamis_read(&g, path), TAMIS_OK);
    fault.is_on = false;
    assert_true(holds(path, 0, 100));
    tamis_free(f);
    tamis_free(g);
}

static void notes_are_kept_in_order(void **state) {
    (void)state;
    tamis *f = filter_of(spec, 0, 1);
    const char *name, *value;
    assert_int_equal(tamis_set_note(f, "b", "2"), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "a", ""), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "c", "trois \xe2\x82\xac"), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "b", "two"), TAMIS_OK);
    assert_true(tamis_note_at(f, 0, &name, &value) && strcmp(name, "a") == 0 && !*value);
    assert_true(tamis_note_at(f, 1, &name, &value) && strcmp(value, "two") == 0);
    assert_true(tamis_note_at(f, 2, &name, &value) && strcmp(name, "c") == 0);
    assert_false(tamis_note_at(f, 3, &name, &value));
    assert_int_equal(tamis_set_note(f, "b", NULL), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "never", NULL), TAMIS_OK);
    assert_null(tamis_note(f, "b"));
    static const char *const bad_names[] = {"", "A", "a b", "a=b", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++)
        assert_int_equal(tamis_set_note(f, bad_names[i], "x"), TAMIS_INVALID);
    static const char *const bad_values[] = {
        "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"};
    for (size_t i = 0; i < sizeof bad_values / sizeof *bad_values; i++)
        assert_int_equal(tamis_set_note(f, "x", bad_values[i]), TAMIS_INVALID);
    char *large = malloc((1 << 20) + 1);
    memset(large, 'x', 1 << 20);
    large[1 << 20] = '\0';
    assert_int_equal(tamis_set_note(f, "x", large), TAMIS_INVALID);
    large[(1 << 20) - 100] = '\0';
    assert_int_equal(tamis_set_note(f, "x", large), TAMIS_OK);
    free(large);
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    assert_true(holds(path, 0, 1));
    tamis_free(f);
}

static void options_of_other_versions(void **state) {
    (void)state;
    struct {
        struct tamis_options now;
        uint64_t later[2];
    } newer = {.now = {.struct_size = sizeof newer}};
    struct tamis_options older = {.struct_size = offsetof(struct tamis_options, max_bytes),
                                  .max_bytes = 1}; /* unknown to that caller */
    tamis *f;
    assert_int_equal(tamis_create_with(&f, spec, &newer.now), TAMIS_OK);
    tamis_free(f);
    newer.later[1] = 1;
    assert_int_equal(tamis_create_with(&f, spec, &newer.now), TAMIS_INVALID);
    assert_null(f);
    assert_int_equal(tamis_create_with(&f, spec, &older), TAMIS_OK);
    tamis_free(f);
    older.struct_size = 0;
    assert_int_equal(tamis_create_with(&f, spec, &older), TAMIS_INVALID);
}

/* Whenever it is asked: the old file is there, and nothing else. */
typedef struct patience {
    int asked, max;
} patience;

static bool is_enough(void *ctx) {
    patience *p = ctx;
    return ++p->asked > p->max;
}

static void saving_can_be_stopped(void **state) {
    (void)state;
    patience p = {.max = 1000};
    const struct tamis_options options = {
        .struct_size = sizeof options, .should_stop = is_enough, .stop_ctx = &p};
    tamis *old = filter_of(spec, 0, 500), *f;
    assert_int_equal(tamis_save(old, path), TAMIS_OK);
    tamis_free(old);
    assert_int_equal(tamis_create_with(&f, "blocked:size=9437184,capacity=1000", &options),
                     TAMIS_OK);
    for (p.max = 0; p.max < 6; p.max++) { /* 9 MiB, looked at twice, by 4 MiB */
        p.asked = 0;
        assert_int_equal(tamis_save(f, path), TAMIS_CANCELLED);
        assert_true(holds(path, 0, 500));
        assert_int_equal(test_files_in(dir), 1);
    }
    p.asked = 0;
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    assert_int_equal(p.asked, 6);
    assert_true(holds(path, 0, 0));
    tamis_free(f);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(save_read_map_agree),
        IN_FOLDER(large_images_are_read_whole),
        IN_FOLDER(mode_and_links_survive),
        IN_FOLDER(irregular_files_are_refused),
        IN_FOLDER(save_fails_cleanly_at_every_call),
        IN_FOLDER(read_fails_cleanly_at_every_call),
        IN_FOLDER(files_that_change_are_refused),
        IN_FOLDER(a_size_has_64_bits),
        IN_FOLDER(no_file_stays_open),
        IN_FOLDER(paths_have_a_max_length),
        IN_FOLDER(short_reads_and_writes_are_finished),
        IN_FOLDER(notes_are_kept_in_order),
        IN_FOLDER(options_of_other_versions),
        IN_FOLDER(saving_can_be_stopped),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
