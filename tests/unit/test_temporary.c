/* SPDX-License-Identifier: MIT */
/* Temporary files of builders, and the images they replace, on a system where any call may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "build/records.h"
#include "file/replace.h"
#include "file/spill.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/faults.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/temp_dir.h"

#define MIB ((uint64_t)1 << 20)

/* ---- Helpers -------------------------------------------------------------------------------- */

/* The image goes to one directory, records to another. */
static char dir_path[TEST_FOLDER_BYTES], out[80], temp[80], path[128];

static int enter_dirs(void **state) {
    (void)state;
    memset(&fault, 0, sizeof fault);
    if (!test_enter_dir(dir_path)) return -1;
    snprintf(out, sizeof out, "%s/out", dir_path);
    snprintf(temp, sizeof temp, "%s/temp", dir_path);
    snprintf(path, sizeof path, "%s/a.tamis", out);
    return mkdir(out, 0777) || mkdir(temp, 0777);
}

static int leave_dirs(void **state) {
    (void)state;
    fault.is_on = false;
    return test_leave_dir(dir_path);
}

/* 36,000 keys and a limit of 1 MiB: some thousand of them are spilled. */
enum { MANY = 36000, FEW = 500 };

static tamis_status create(tamis_builder **b, const char *spec) {
    const struct tamis_builder_options options = {
        .struct_size = sizeof options, .memory_limit = MIB, .temp_dir = temp, .verify = true};
    return tamis_builder_create_with(b, spec, &options);
}

static tamis_status add(tamis_builder *b, uint64_t n) {
    static uint64_t hashes[MANY];
    for (uint64_t i = 0; i < n; i++) hashes[i] = test_number(1, i);
    return tamis_builder_add_hashes(b, hashes, n);
}

static void build(const char *spec, uint64_t n) {
    tamis_builder *b;
    REQUIRE_OK(create(&b, spec));
    REQUIRE_OK(add(b, n));
    REQUIRE_OK(tamis_builder_finish_to(b, path));
    tamis_builder_free(b);
}

/* The image at `path` is whole and has the first n keys. */
static bool holds(uint64_t n) {
    tamis *f;
    if (tamis_read(&f, path)) return false;
    bool has_all = test_info(f).items == n;
    for (uint64_t i = 0; i < n; i++) has_all &= tamis_has_hash(f, test_number(1, i));
    tamis_free(f);
    return has_all;
}

static const char *const sorted = "sorted:segment=1024";

/* ---- A system that fails -------------------------------------------------------------------- */

static const struct {
    const char *name;
    int step;          /* fail each call, or every step-th where all are alike */
    bool may_be_quiet; /* a failure that loses nothing */
} calls[] = {
    {"open", 1, false},   {"write", 5, false},     {"pwrite", 13, false}, {"pread", 37, false},
    {"fsync", 1, false},  {"rename", 1, false},    {"lseek", 1, false},   {"mmap", 1, false},
    {"access", 1, false}, {"getrandom", 1, false}, {"unlink", 1, true},   {"flock", 1, true},
    {"fstat", 1, true},   {"close", 1, true},
};

/* One build over an old image with a fault at one call. Returns false if it was not reached. */
static bool fails_cleanly(const char *spec, size_t c, int at, int error) {
    tamis_builder *b = NULL;
    fail_at(calls[c].name, at, error);
    errno = 0;
    tamis_status rc = create(&b, spec), added = rc;
    if (!rc) rc = added = add(b, MANY);
    if (!rc) rc = tamis_builder_finish_to(b, path);
    fault.is_on = false;
    assert_int_equal(errno, 0);
    const bool was_met = fault.calls >= at;
    if (rc) {
        assert_true(rc == TAMIS_IO);
        assert_true(strstr(tamis_why(), temp) || strstr(tamis_why(), path));
        assert_true(holds(strstr(tamis_why(), "its directory") ? MANY : FEW));
    } else {
        assert_true(!was_met || calls[c].may_be_quiet);
        assert_true(holds(MANY));
    }
    assert_int_equal(test_files_in(out), 1);
    /* What failed can be retried, unless records were partly back on disk. */
    if (b && added) REQUIRE_OK(add(b, MANY));
    if (b && rc) {
        rc = tamis_builder_finish_to(b, path);
        assert_true(rc == TAMIS_OK ? holds(MANY) : strstr(tamis_why(), "records are lost") != NULL);
    }
    tamis_builder_free(b);
    assert_int_equal(test_files_in(temp), 0);
    return was_met;
}

static void every_call_fails(void **state) {
    (void)state;
    static const int errors[] = {ENOSPC, EIO};
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (size_t e = 0; e < 2; e++)
            for (int at = 1;; at += calls[c].step) {
                build(sorted, FEW);
                if (!fails_cleanly(sorted, c, at, errors[e])) {
                    if (at == 1) fail_msg("%s is never called", calls[c].name);
                    break;
                }
            }
}

/* The disk is full for a while; then the same call is repeated, and nothing is lost or doubled. */
static void disk_full_for_a_while(void **state) {
    (void)state;
    static const char *const specs[] = {"sorted:segment=1024", "counting", "window"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        tamis_builder *b;
        tamis *f;
        struct tamis_key keys[1000];
        static uint64_t numbers[1000];
        uint64_t refused = 0;
        REQUIRE_OK(create(&b, specs[s]));
        for (uint64_t i = 0; i < 60000; i += 1000) {
            for (uint64_t j = 0; j < 1000; j++) {
                numbers[j] = i + j;
                keys[j] = (struct tamis_key){&numbers[j], 8};
            }
            fail_at("pwrite", 1 + (int)(i / 1000 % 3), ENOSPC);
            fault.for_ever = true;
            const tamis_status rc = tamis_builder_add_many(b, keys, 1000);
            fault.is_on = false;
            if (rc == TAMIS_OK) continue;
            refused++;
            assert_int_equal(rc, TAMIS_IO);
            assert_non_null(strstr(tamis_why(), temp));
            assert_non_null(strstr(tamis_why(), "No space left"));
            REQUIRE_OK(tamis_builder_add_many(b, keys, 1000));
        }
        assert_true(refused > 10);
        REQUIRE_OK(tamis_builder_finish(b, &f));
        tamis_builder_free(b);
        assert_int_equal(test_info(f).items, 60000);
        uint64_t found = 0;
        for (uint64_t i = 0; i < 60000; i++) found += tamis_has(f, &i, 8);
        assert_true(found == 60000 || strcmp(specs[s], "window") == 0);
        if (strcmp(specs[s], "counting") == 0) { /* at 1 % few are too high, none too low */
            uint64_t twice = 0;
            for (uint64_t i = 0; i < 60000; i++) twice += tamis_count(f, &i, 8) != 1;
            assert_true(twice < 1200);
        }
        tamis_free(f);
    }
}

static void short_reads_and_writes(void **state) {
    (void)state;
    build(sorted, MANY);
    tamis *f, *g;
    REQUIRE_OK(tamis_read(&f, path));
    fault.is_on = fault.is_short = true;
    build(sorted, MANY);
    fault.is_on = false;
    REQUIRE_OK(tamis_read(&g, path));
    size_t m, n;
    uint8_t *x = test_image(f, &m), *y = test_image(g, &n);
    assert_true(m == n && memcmp(x, y, n) == 0);
    free(x), free(y);
    tamis_free(f), tamis_free(g);
}

/* More records with one first byte than there is memory to sort: they go through runs in a second
 * file. A failure before the records move loses nothing; after a later one they are reported
 * lost. */
enum { IN_RUNS = 9000 };

static tamis_status sort_in_runs(tamis_records *r) {
    static uint64_t scratch[(IN_RUNS * 16 * 2 / 3 + 16 * 1024) / 8];
    tamis_census census = {0};
    tamis_record_conflict conflict;
    return tamis__records_sort(r, 7, scratch, sizeof scratch, &census, NULL, &conflict);
}

static void are_all_in_order(tamis_records *r) {
    static uint64_t room[TAMIS_RECORDS_ROOM / 8];
    tamis_record_cursor cursor = {0};
    uint64_t hash, value, last = 0, n = 0, sum = 0;
    for (tamis_status rc; tamis__records_read(r, &cursor, room, 1, &hash, &value, &rc); n++) {
        assert_true(n == 0 || hash > last);
        assert_int_equal(hash, (uint64_t)7 << 56 | test_number(9, value) >> 8);
        last = hash;
        sum += value;
    }
    assert_int_equal(n, IN_RUNS);
    assert_int_equal(sum, (uint64_t)IN_RUNS * (IN_RUNS - 1) / 2);
}

/* Sorts with a fault at one call. Returns false if it was not reached. */
static bool runs_fail_cleanly(enum tamis_record_rule rule, const char *call, int at, int *lost) {
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const tamis_record_form form = {.has_values = true, .rule = rule};
    tamis_records *r;
    REQUIRE_OK(tamis__records_open(&r, &form, MIB, temp, &allocator));
    for (uint64_t i = 0; i < IN_RUNS; i++) {
        const uint64_t hash = (uint64_t)7 << 56 | test_number(9, i) >> 8;
        REQUIRE_OK(tamis__records_put(r, &hash, 1, i));
    }
    fail_at(call, at, EIO);
    tamis_status rc = sort_in_runs(r);
    fault.is_on = false;
    const bool was_met = fault.calls >= at;
    assert_int_equal(rc, was_met ? TAMIS_IO : TAMIS_OK);
    if (rc) rc = sort_in_runs(r);
    *lost += rc != TAMIS_OK;
    if (rc)
        assert_non_null(strstr(tamis_why(), "records are lost"));
    else
        are_all_in_order(r);
    tamis__records_free(r);
    assert_int_equal(failing.blocks, 0);
    return was_met;
}

static void runs_fail(void **state) {
    (void)state;
    static const enum tamis_record_rule rules[] = {TAMIS_RECORDS_VALUES, TAMIS_RECORDS_LABELS};
    static const char *const names[] = {"open", "pwrite", "pread"};
    for (size_t i = 0; i < 2; i++)
        for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
            int lost = 0, at = 1;
            while (runs_fail_cleanly(rules[i], names[c], at, &lost)) at += at < 20 ? 1 : 9;
            assert_true(at > 1 && lost < at);
            assert_int_equal(lost > 0, c > 0); /* the second file is opened before records move */
            assert_int_equal(test_files_in(temp), 0);
        }
}

/* No directory, no permission, not a regular file: one message, and the builder stays usable. */
static void places_that_take_nothing(void **state) {
    (void)state;
    tamis_builder *b;
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/none/a.tamis", dir_path);
    REQUIRE_OK(create(&b, sorted));
    REQUIRE_OK(add(b, MANY));
    errno = 0;
    assert_int_equal(tamis_builder_finish_to(b, nowhere), TAMIS_IO);
    assert_non_null(strstr(tamis_why(), nowhere));
    assert_int_equal(tamis_builder_finish_to(b, out), TAMIS_IO);
    assert_non_null(strstr(tamis_why(), "not a regular file"));
    fail_at("open", 0, EACCES);
    fault.for_ever = true;
    assert_int_equal(tamis_builder_finish_to(b, path), TAMIS_IO);
    fault.is_on = false;
    assert_non_null(strstr(tamis_why(), "Permission denied"));
    assert_int_equal(errno, 0);
    REQUIRE_OK(tamis_builder_finish_to(b, path));
    tamis_builder_free(b);
    assert_true(holds(MANY));
    assert_int_equal(test_files_in(out), 1);

    assert_int_equal(rmdir(temp), 0);
    assert_int_equal(create(&b, sorted), TAMIS_IO);
    assert_non_null(strstr(tamis_why(), temp));
    assert_null(b);
    assert_int_equal(errno, 0);
    assert_int_equal(fault.rights, W_OK | X_OK);
}

/* ---- Stale files ---------------------------------------------------------------------------- */

/* A file as a killed writer leaves it; returns its descriptor, not locked yet. */
static int leave(const char *where, const char *name) {
    char full[256];
    snprintf(full, sizeof full, "%s/%s", where, name);
    const int fd = open(full, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    return fd;
}

static bool is_there(const char *where, const char *name) {
    char full[256];
    struct stat st;
    snprintf(full, sizeof full, "%s/%s", where, name);
    return stat(full, &st) == 0;
}

static void files_of_the_dead_are_removed(void **state) {
    (void)state;
    /* Names that are only similar belong to others. */
    static const char *const others[] = {"a.tamis.0123abcg.tmp", "a.tamis.0123abc.tmp",
                                         "b.tamis.0123abcd.tmp", "a.tamis.0123abcd.tmp2",
                                         "a.tamis.0123ABCD.tmp", "xa.tamis.0123abcd.tmp"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) close(leave(out, others[i]));
    close(leave(out, "a.tamis.0123abcd.tmp"));
    close(leave(temp, "tamis-0123abcd.spill"));
    close(leave(temp, "tamis-0123abcd.spill.txt"));
    build(sorted, MANY);
    assert_false(is_there(out, "a.tamis.0123abcd.tmp"));
    assert_false(is_there(temp, "tamis-0123abcd.spill"));
    assert_true(is_there(temp, "tamis-0123abcd.spill.txt"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(is_there(out, others[i]));
    assert_true(holds(MANY));
}

/* Another process holds the locks: its files stay until it is dead. */
static void files_of_the_living_stay(void **state) {
    (void)state;
    int ready[2], go[2];
    char byte = 0;
    assert_int_equal(pipe(ready) | pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int a = leave(out, "a.tamis.00000001.tmp"), b = leave(temp, "tamis-00000001.spill");
        if (flock(a, LOCK_EX) || flock(b, LOCK_EX) || write(ready[1], "", 1) != 1) _exit(1);
        close(go[1]); /* it ends with its parent, however that ends */
        while (read(go[0], &byte, 1) < 0 && errno == EINTR) continue;
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    for (int i = 0; i < 2; i++) {
        build(sorted, MANY);
        assert_true(is_there(out, "a.tamis.00000001.tmp"));
        assert_true(is_there(temp, "tamis-00000001.spill"));
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    build(sorted, MANY);
    assert_int_equal(test_files_in(out), 1);
    assert_int_equal(test_files_in(temp), 0);
    for (int i = 0; i < 2; i++) close(ready[i]), close(go[i]);
}

/* The file of records has no name; if unlinking fails at first, it is removed at the end. */
static void records_have_no_name(void **state) {
    (void)state;
    for (int is_held = 0; is_held < 2; is_held++) {
        tamis_builder *b;
        REQUIRE_OK(create(&b, sorted));
        if (is_held) fail_at("unlink", 1, EBUSY);
        REQUIRE_OK(add(b, MANY));
        fault.is_on = false;
        assert_int_equal(test_files_in(temp), is_held);
        REQUIRE_OK(tamis_builder_finish_to(b, path));
        tamis_builder_free(b);
        assert_int_equal(test_files_in(temp), 0);
    }
}

/* The first file in a directory with this suffix. */
static bool find_first(const char *where, const char *suffix, char name[160]) {
    bool is_found = false;
    DIR *dir = opendir(where);
    for (struct dirent *entry; !is_found && (entry = readdir(dir));) {
        const char *end = strrchr(entry->d_name, '.');
        is_found = end && strcmp(end, suffix) == 0;
        if (is_found) snprintf(name, 160, "%s/%.60s", where, entry->d_name);
    }
    closedir(dir);
    return is_found;
}

/* A truncated temporary file is an error, and not retried even if errno is EINTR. */
static void records_that_were_cut_off(void **state) {
    (void)state;
    tamis_spill spill;
    char name[160], room[8];
    REQUIRE_OK(tamis__spill_start(&spill, temp, true));
    fail_at("unlink", 1, EBUSY); /* so that we find it */
    REQUIRE_OK(tamis__spill_write(&spill, 0, "records", 8));
    fault.is_on = false;
    REQUIRE_OK(tamis__spill_read(&spill, 0, room, 8));
    assert_memory_equal(room, "records", 8);
    assert_true(find_first(temp, ".spill", name));
    assert_int_equal(truncate(name, 4), 0);
    errno = EINTR;
    assert_int_equal(tamis__spill_read(&spill, 0, room, 8), TAMIS_IO);
    assert_int_equal(errno, EINTR);
    if (!strstr(tamis_why(), temp) || !strstr(tamis_why(), "the temporary file was truncated"))
        fail_msg("'%s' should say which became shorter", tamis_why());
    tamis__spill_end(&spill);
    assert_int_equal(test_files_in(temp), 0);
}

/* Another process cleans up before each of our calls. It may remove a new file that is not locked
 * yet, and does so every second time; it may take no other for a dead writer's. */
static void tidy(const char *name) {
    static int times;
    if (strcmp(name, "flock") == 0 && times++ % 2) return;
    tamis__file_tidy(path);
    tamis__temp_tidy(temp, "tamis-", ".spill", NULL);
}

/* A slower process: it locks our new file before we can, and removes it one call later. */
static int held = -1;
static char held_name[160];

static void tidy_slowly(const char *name) {
    static int times;
    if (held >= 0) {
        unlink(held_name);
        close(held);
        held = -1;
    } else if (strcmp(name, "flock") == 0 && times++ % 3 == 0) {
        if (!find_first(out, ".tmp", held_name) && !find_first(temp, ".spill", held_name)) return;
        held = open(held_name, O_RDONLY | O_CLOEXEC);
        assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
    }
}

static void tidying_takes_nothing_from_the_living(void **state) {
    (void)state;
    void (*const others[])(const char *) = {tidy, tidy_slowly};
    static const char *const specs[] = {"sorted:segment=1024", "classic:capacity=50000",
                                        "quotient"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t o = 0; o < 2; o++) {
            fault.before = others[o];
            build(specs[s], MANY);
            fault.before = NULL;
            assert_true(holds(MANY));
            assert_int_equal(test_files_in(out), 1);
            assert_int_equal(test_files_in(temp), 0);
        }
}

int main(void) {
#define IN_FOLDERS(test) cmocka_unit_test_setup_teardown(test, enter_dirs, leave_dirs)
    const struct CMUnitTest tests[] = {
        IN_FOLDERS(every_call_fails),          IN_FOLDERS(disk_full_for_a_while),
        IN_FOLDERS(short_reads_and_writes),    IN_FOLDERS(runs_fail),
        IN_FOLDERS(places_that_take_nothing),  IN_FOLDERS(files_of_the_dead_are_removed),
        IN_FOLDERS(files_of_the_living_stay),  IN_FOLDERS(records_have_no_name),
        IN_FOLDERS(records_that_were_cut_off), IN_FOLDERS(tidying_takes_nothing_from_the_living),
    };
    return cmocka_run_group_tests_name("temporary", tests, NULL, NULL);
}
