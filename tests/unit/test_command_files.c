/* SPDX-License-Identifier: MIT */
/* Files as bytes (cli/files/files.c), with stubs for the rest of the command, on a system that
 * interrupts, truncates and fails: a read is of one file, not a mixture of two, and a written file
 * is complete or absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#undef fail /* the command has its own */
#include "cli/cli.h"
#include "tests/support/faults.h"
#include "tests/support/temp_dir.h"

/* ---- Stubs of the command -------------------------------------------------------------------- */

static char said[512], warned[512];
static bool is_signalled;

#define SAY(to)                                 \
    do {                                        \
        va_list list;                           \
        va_start(list, format);                 \
        vsnprintf(to, sizeof to, format, list); \
        va_end(list);                           \
    } while (0)

int fail(const struct args *args, const char *file, const char *format, ...) {
    (void)args, (void)file;
    SAY(said);
    return EXIT_TROUBLE;
}

void warn(const struct args *args, const char *file, const char *format, ...) {
    (void)args, (void)file;
    SAY(warned);
}

bool flush_output(void) {
    return fflush(stdout) == 0;
}

int fail_memory(const struct args *args) {
    return fail(args, NULL, "out of memory");
}

int fail_why(const struct args *args, const char *file, tamis_status status) {
    (void)status;
    return fail(args, file, "%s", tamis_why());
}

const char *why_without_file(const char *file) {
    (void)file;
    return tamis_why();
}

const struct option *option_named(enum option_id id) {
    static const struct option no_file = {.value = ""};
    (void)id;
    return &no_file;
}

const char *input_name(const char *path) {
    return path;
}

struct human human_bytes(uint64_t bytes) {
    struct human h;
    snprintf(h.text, sizeof h.text, "%llu B", (unsigned long long)bytes);
    return h;
}

struct human human_count(uint64_t count) {
    struct human h;
    snprintf(h.text, sizeof h.text, "%llu", (unsigned long long)count);
    return h;
}

struct tamis_options image_options(const struct args *args) {
    (void)args;
    return (struct tamis_options){.struct_size = sizeof(struct tamis_options)};
}

void hold_signals(sigset_t *before) {
    sigemptyset(before);
}

void release_signals(const sigset_t *before) {
    (void)before;
}

void catch_signals(void) {
}

void uncatch_signals(void) {
}

bool is_stopped(void) {
    return is_signalled;
}

bool waits_to_read(int fd) {
    (void)fd;
    return !is_signalled;
}

/* ---- Helpers --------------------------------------------------------------------------------- */

enum { SIZE = 300001 }; /* more than the first two buffers of a stream */

static char dir[TEST_FOLDER_BYTES], path[128];
static uint8_t content[SIZE];
static struct args args;

static int enter(void **state) {
    (void)state;
    memset(&fault, 0, sizeof fault);
    memset(&args, 0, sizeof args);
    is_signalled = false;
    *said = *warned = '\0';
    for (size_t i = 0; i < SIZE; i++) content[i] = (uint8_t)(i * i >> 7);
    if (!test_enter_dir(dir)) return -1;
    snprintf(path, sizeof path, "%s/file", dir);
    return 0;
}

static int leave(void **state) {
    (void)state;
    memset(&fault, 0, sizeof fault);
    return test_leave_dir(dir);
}

static void make_file(size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static bool has_content(size_t size) {
    static uint8_t room[SIZE + 1];
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const size_t got = fread(room, 1, sizeof room, file);
    fclose(file);
    return got == size && memcmp(room, content, size) == 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Through a pipe from another process: in pieces, interrupted between them. */
static void streams_are_read_whole(void **state) {
    (void)state;
    assert_int_equal(mkfifo(path, 0666), 0);
    for (int is_short = 0; is_short < 2; is_short++) {
        struct bytes bytes;
        const pid_t writer = fork();
        if (writer == 0) {
            const int fd = open(path, O_WRONLY | O_CLOEXEC);
            for (size_t at = 0; at < SIZE;) {
                const ssize_t put = write(fd, content + at, SIZE - at);
                if (put <= 0) _exit(1);
                at += (size_t)put;
            }
            _exit(0);
        }
        fail_at("read", 0, 0);
        fault.is_short = is_short;
        assert_int_equal(bytes_open(&bytes, &args, path), 0);
        fault.is_on = fault.is_short = false;
        assert_int_equal(bytes.size, SIZE);
        assert_memory_equal(bytes.at, content, SIZE);
        bytes_close(&bytes);
        assert_int_equal(waitpid(writer, NULL, 0), writer);
    }
}

static void files_are_read_whole(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 101, SIZE};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        struct bytes bytes;
        make_file(sizes[i / 2]);
        fail_at("read", 0, 0);
        fault.is_short = i % 2;
        assert_int_equal(bytes_open(&bytes, &args, path), 0);
        fault.is_on = fault.is_short = false;
        assert_int_equal(bytes.size, sizes[i / 2]);
        assert_memory_equal(bytes.at, content, bytes.size);
        bytes_close(&bytes);
    }
}

/* Each call fails once. */
static void reads_that_fail(void **state) {
    (void)state;
    static const struct {
        const char *call, *why;
    } cases[] = {{"open", "cannot open"}, {"fstat", "cannot open"}, {"read", "cannot read"}};
    make_file(SIZE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes bytes;
        fail_at(cases[i].call, 1, EIO);
        assert_int_equal(bytes_open(&bytes, &args, path), EXIT_TROUBLE);
        fault.is_on = false;
        assert_non_null(strstr(said, cases[i].why));
        assert_non_null(strstr(said, strerror(EIO)));
        bytes_close(&bytes);
    }
}

/* Of a sparse file of more than 4 GiB, a third piece is read. */
static void lengths_have_64_bits(void **state) {
    (void)state;
    struct bytes bytes;
    make_file(0);
    if (sizeof(size_t) <= 4 || truncate(path, ((off_t)1 << 32) + 5) < 0) skip();
    fail_at("read", 5, EIO); /* every second call is interrupted */
    fault.is_short = true;
    const int code = bytes_open(&bytes, &args, path);
    fault.is_on = fault.is_short = false;
    bytes_close(&bytes);
    if (strstr(said, "no memory for its 4294967301 B")) skip();
    assert_int_equal(code, EXIT_TROUBLE);
    assert_non_null(strstr(said, strerror(EIO)));
}

/* Any difference in fstat means another file, or a changed one. */
static void every_stat_field_counts(void **state) {
    (void)state;
    struct stat then, other;
    make_file(10);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &then), 0);
    assert_true(file_is_as_it_was(fd, &then));
#define COUNTS(mark) (other = then, other.mark++, assert_false(file_is_as_it_was(fd, &other)))
    COUNTS(st_dev);
    COUNTS(st_ino);
    COUNTS(st_size);
    COUNTS(st_mtim.tv_sec);
    COUNTS(st_mtim.tv_nsec);
    COUNTS(st_ctim.tv_sec);
    COUNTS(st_ctim.tv_nsec);
    fail_at("fstat", 1, EIO);
    assert_false(file_is_as_it_was(fd, &then));
    fault.is_on = false;
    close(fd);
}

static void (*harm)(void);

static void lengthen_it(void) {
    assert_int_equal(truncate(path, SIZE + 1), 0);
}

static void cut_it(void) {
    assert_int_equal(truncate(path, SIZE - 1), 0);
}

/* The same length and mtime: only ctime differs, once the clock has moved on. */
static void write_into_it(void) {
    struct stat then, now;
    assert_int_equal(stat(path, &then), 0);
    const struct timespec times[] = {then.st_atim, then.st_mtim};
    do {
        make_file(SIZE);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0) | stat(path, &now), 0);
    } while (now.st_ctim.tv_sec == then.st_ctim.tv_sec &&
             now.st_ctim.tv_nsec == then.st_ctim.tv_nsec);
}

static void make_it_older(void) {
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 7, .tv_nsec = 7}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void harm_at_read(const char *name) {
    if (strcmp(name, "read") == 0 && harm) harm(), harm = NULL;
}

static void files_that_change_during_the_read(void **state) {
    (void)state;
    static void (*const harms[])(void) = {lengthen_it, cut_it, write_into_it, make_it_older};
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct bytes bytes;
        make_file(SIZE);
        harm = harms[i];
        fault.before = harm_at_read;
        assert_int_equal(bytes_open(&bytes, &args, path), EXIT_TROUBLE);
        fault.before = NULL;
        assert_null(harm);
        assert_string_equal(said, "the file changed while it was read");
        bytes_close(&bytes);
    }
}

/* ---- Holding --------------------------------------------------------------------------------- */

/* With --wait 0 it neither waits nor warns. */
static void without_wait_it_fails_at_once(void **state) {
    (void)state;
    tamis_edit *edit;
    make_file(10);
    args.setting[OPT_WAIT].is_given = true;
    fail_at("flock", 1, EWOULDBLOCK);
    assert_int_equal(file_hold(&edit, &args, path, HOLD_TO_CHANGE, TAMIS_READERS_USUAL),
                     EXIT_TROUBLE);
    fault.is_on = false;
    assert_null(edit);
    assert_int_equal(fault.calls, 1);
    assert_string_equal(warned, "");
    assert_non_null(strstr(said, "is changing it"));
}

/* After a second it reports how long it may still wait. Every look advances the clock. */
static void waiting_reports_the_time_left(void **state) {
    (void)state;
    tamis_edit *edit;
    make_file(10);
    args.setting[OPT_WAIT].is_given = true;
    args.setting[OPT_WAIT].number = 5;
    fault.clock = 100;
    fail_at("flock", 1, EWOULDBLOCK);
    assert_int_equal(file_hold(&edit, &args, path, HOLD_TO_CHANGE, TAMIS_READERS_USUAL), 0);
    fault.is_on = false;
    assert_non_null(strstr(warned, "is changing it"));
    assert_non_null(strstr(warned, "; waiting up to 4 s more"));
    tamis_edit_close(edit);
}

/* An existing file is neither overwritten nor kept locked. */
static void existing_files_are_released(void **state) {
    (void)state;
    tamis_edit *edit;
    args.setting[OPT_WAIT].is_given = true;
    make_file(10);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(file_hold(&edit, &args, path, HOLD_TO_WRITE, TAMIS_READERS_USUAL),
                         EXIT_TROUBLE);
        assert_null(edit);
        assert_string_equal(said, "the file exists; use --force to replace it");
    }
    assert_int_equal(file_hold(&edit, &args, path, HOLD_TO_CHANGE, TAMIS_READERS_USUAL), 0);
    assert_string_equal(warned, "");
    tamis_edit_close(edit);
    assert_true(has_content(10));
}

static void missing_locks_are_reported(void **state) {
    (void)state;
    static const enum hold_for ways[] = {HOLD_TO_CHANGE, HOLD_TO_CHANGE_OR_MAKE, HOLD_TO_WRITE};
    args.setting[OPT_FORCE].is_given = true;
    make_file(10);
    for (size_t i = 0; i < 3; i++) {
        tamis_edit *edit;
        *warned = '\0';
        fail_at("flock", 1, ENOLCK);
        fault.for_ever = true;
        assert_int_equal(file_hold(&edit, &args, path, ways[i], TAMIS_READERS_USUAL), 0);
        fault.is_on = fault.for_ever = false;
        tamis_edit_close(edit);
        assert_int_equal(strstr(warned, "has no locks") != NULL, ways[i] != HOLD_TO_WRITE);
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Needs search and write access to the directory. */
static void dirs_are_checked_first(void **state) {
    (void)state;
    assert_int_equal(file_may_write(&args, path, NULL), 0);
    assert_int_equal(fault.rights, W_OK | X_OK);
    fail_at("access", 1, EACCES);
    assert_int_equal(file_may_write(&args, path, NULL), EXIT_TROUBLE);
    fault.is_on = false;
    assert_non_null(strstr(said, "cannot create a file next to it"));
    assert_non_null(strstr(said, strerror(EACCES)));
}

static void files_are_written_whole(void **state) {
    (void)state;
    struct new_file file;
    assert_int_equal(file_write(&args, path, content, SIZE), 0);
    assert_true(has_content(SIZE));
    assert_int_equal(test_files_in(dir), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(file_begin(&file, &args, path, TAMIS_READERS_USUAL), 0);
    for (size_t at = 0; at < SIZE; at += 100000) {
        const size_t left = SIZE - at;
        assert_true(file_put(&file, content + at, left < 100000 ? left : 100000));
    }
    assert_int_equal(file_end(&file, true), 0);
    assert_true(has_content(SIZE));
}

/* No file can be created next to it: that is known before the first byte. */
static void a_failed_begin_is_reported(void **state) {
    (void)state;
    struct new_file file;
    fail_at("getrandom", 1, EIO);
    assert_int_equal(file_begin(&file, &args, path, TAMIS_READERS_USUAL), EXIT_TROUBLE);
    fault.is_on = false;
    assert_non_null(strstr(said, strerror(EIO)));
    assert_int_equal(test_files_in(dir), 0);
}

/* The writer failed, a signal came, or the disk is full: no file has the name. */
static void incomplete_files_are_not_written(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct new_file file;
        assert_int_equal(file_begin(&file, &args, path, TAMIS_READERS_USUAL), 0);
        assert_true(file_put(&file, content, 100));
        is_signalled = way == 1 || way == 2;
        if (way == 2) assert_false(file_put(&file, content, 100));
        if (way == 3) {
            fail_at("write", 1, ENOSPC);
            assert_false(file_put(&file, content, SIZE));
            fault.is_on = false;
            assert_non_null(strstr(said, strerror(ENOSPC)));
            assert_false(file_put(&file, content, 100));
        }
        assert_int_equal(file_end(&file, way != 0), EXIT_TROUBLE);
        is_signalled = false;
        assert_int_equal(test_files_in(dir), 0);
    }
}

/* Standard output is complete, or its end fails. In a child process: this one's output belongs to
 * the test. */
static int print_to(const char *out, bool is_good) {
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct new_file file;
        if (!freopen(out, "wb", stdout)) _exit(99);
        int code = file_begin(&file, &args, "-", TAMIS_READERS_USUAL);
        if (!code) code = file_end(&file, file_put(&file, content, 100) && is_good);
        _exit(code);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void output_is_flushed(void **state) {
    (void)state;
    assert_int_equal(print_to(path, true), 0);
    assert_true(has_content(100));
    assert_int_equal(print_to(path, false), EXIT_TROUBLE);
    if (access("/dev/full", W_OK) == 0) assert_int_equal(print_to("/dev/full", true), EXIT_TROUBLE);
}

static void dirs_are_made_once(void **state) {
    (void)state;
    char sub[160];
    snprintf(sub, sizeof sub, "%s/sub", dir);
    assert_int_equal(dir_make(&args, sub), 0);
    assert_int_equal(fault.synced_dirs, 2); /* it and its parent */
    assert_int_equal(dir_make(&args, sub), 0);
    assert_int_equal(fault.synced_dirs, 2);
    for (int at = 1; at <= 2; at++) {
        fail_at("fsync", at, EIO);
        assert_int_equal(dir_flush(&args, sub), EXIT_TROUBLE);
        fault.is_on = false;
        assert_non_null(strstr(said, strerror(EIO)));
    }
    snprintf(sub, sizeof sub, "%s/none/sub", dir);
    assert_int_equal(dir_make(&args, sub), EXIT_TROUBLE);
    assert_non_null(strstr(said, "cannot create the directory"));
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(streams_are_read_whole),
        IN_FOLDER(files_are_read_whole),
        IN_FOLDER(reads_that_fail),
        IN_FOLDER(lengths_have_64_bits),
        IN_FOLDER(every_stat_field_counts),
        IN_FOLDER(files_that_change_during_the_read),
        IN_FOLDER(without_wait_it_fails_at_once),
        IN_FOLDER(waiting_reports_the_time_left),
        IN_FOLDER(existing_files_are_released),
        IN_FOLDER(missing_locks_are_reported),
        IN_FOLDER(dirs_are_checked_first),
        IN_FOLDER(files_are_written_whole),
        IN_FOLDER(a_failed_begin_is_reported),
        IN_FOLDER(incomplete_files_are_not_written),
        IN_FOLDER(output_is_flushed),
        IN_FOLDER(dirs_are_made_once),
    };
    return cmocka_run_group_tests_name("command files", tests, NULL, NULL);
}
