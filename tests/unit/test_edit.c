/* SPDX-License-Identifier: MIT */
/* Files that several processes change: who waits for whom, what a replacement keeps, and what a
 * dead writer leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "tamis_edit.h"
#include "tests/support/faults.h"
#include "tests/support/filters.h"
#include "tests/support/require_ok.h"
#include "tests/support/temp_dir.h"

static char dir_path[TEST_FOLDER_BYTES], path[128];

static int enter_dir(void **state) {
    (void)state;
    memset(&fault, 0, sizeof fault);
    if (!test_enter_dir(dir_path)) return -1;
    snprintf(path, sizeof path, "%s/a.tamis", dir_path);
    return 0;
}

static int leave_dir(void **state) {
    (void)state;
    memset(&fault, 0, sizeof fault);
    return test_leave_dir(dir_path);
}

/* ---- Helpers -------------------------------------------------------------------------------- */

static const char *const plain = "split:capacity=1000", *const keyed =
                                                            "split:capacity=1000,hash=sip13";

static tamis *filter_of(const char *spec, uint64_t from, uint64_t to) {
    tamis *f;
    REQUIRE_OK(tamis_create(&f, spec));
    for (uint64_t i = from; i < to; i++) REQUIRE_OK(tamis_add_u64(f, i));
    return f;
}

static void make_image(const char *spec, uint64_t n) {
    tamis *f = filter_of(spec, 0, n);
    REQUIRE_OK(tamis_save(f, path));
    tamis_free(f);
}

/* The number of keys in the image, which are 0, 1, ...; UINT64_MAX for no image. */
static uint64_t items(void) {
    tamis *f;
    if (tamis_read(&f, path)) return UINT64_MAX;
    const uint64_t n = test_info(f).items;
    for (uint64_t i = 0; i < n; i++) assert_true(tamis_has_u64(f, i));
    tamis_free(f);
    return n;
}

static tamis_status open_for(tamis_edit **edit, uint64_t wait_ms, bool may_be_new) {
    const struct tamis_edit_options options = {
        .struct_size = sizeof options, .wait_ms = wait_ms, .may_be_new = may_be_new};
    return tamis_edit_open(edit, path, &options);
}

/* Opens and reads the image, and adds the next key. */
static tamis_edit *edit_and_add(tamis **filter) {
    tamis_edit *edit;
    REQUIRE_OK(open_for(&edit, 0, false));
    assert_true(tamis_edit_is_locked(edit));
    assert_false(tamis_edit_is_new(edit));
    REQUIRE_OK(tamis_edit_read(edit, filter));
    REQUIRE_OK(tamis_add_u64(*filter, test_info(*filter).items));
    return edit;
}

static void name_of(char name[160], const char *file) {
    snprintf(name, 160, "%s/%s", dir_path, file);
}

static void write_text(const char *file, const char *text) {
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static bool has_text(const char *file, const char *text) {
    char got[64] = "";
    FILE *in = fopen(file, "r");
    if (!in) return false;
    (void)!fgets(got, sizeof got, in);
    fclose(in);
    return strcmp(got, text) == 0;
}

/* ---- The lock ------------------------------------------------------------------------------- */

static bool is_held(void) {
    tamis_edit *edit;
    const tamis_status rc = open_for(&edit, 0, true);
    tamis_edit_close(edit);
    return rc == TAMIS_BUSY;
}

static void edits_exclude_each_other(void **state) {
    (void)state;
    char process[32];
    tamis_edit *edit, *other;
    tamis *f;
    make_image(plain, 10);
    edit = edit_and_add(&f);
    errno = 0;
    assert_int_equal(open_for(&other, 0, false), TAMIS_BUSY);
    assert_int_equal(errno, 0);
    assert_null(other);
    snprintf(process, sizeof process, "process %ld (", (long)getpid());
    if (!strstr(tamis_why(), path) ||
        (access("/proc/locks", R_OK) == 0 && !strstr(tamis_why(), process)))
        fail_msg("'%s' should name %s and %s", tamis_why(), path, process);
    assert_int_equal(items(), 10); /* readers need no lock */
    REQUIRE_OK(tamis_edit_save(edit, f));
    assert_true(is_held());
    REQUIRE_OK(tamis_add_u64(f, 11));
    REQUIRE_OK(tamis_edit_save(edit, f)); /* again */
    assert_true(is_held());
    tamis_edit_close(edit);
    tamis_free(f);
    assert_int_equal(items(), 12);
    assert_false(is_held());
    assert_int_equal(test_files_in(dir_path), 1);
}

/* At no call of a whole edit can anyone else lock the file: not between reading and writing, and
 * not while the name moves from the old file to the new one. */
static int looks, gaps;

static void look_for_a_gap(const char *name) {
    (void)name;
    looks++;
    gaps += !is_held();
}

static void the_lock_has_no_gap(void **state) {
    (void)state;
    tamis *f;
    make_image(plain, 10);
    tamis_edit *edit = edit_and_add(&f);
    looks = gaps = 0;
    fault.before = look_for_a_gap;
    REQUIRE_OK(tamis_edit_save(edit, f));
    REQUIRE_OK(tamis_edit_put(edit, "bytes", 5));
    REQUIRE_OK(tamis_edit_commit(edit));
    fault.before = NULL;
    assert_true(looks > 20);
    assert_int_equal(gaps, 0);
    tamis_edit_close(edit);
    tamis_free(f);
    assert_true(has_text(path, "bytes"));
}

/* Another process, which holds the file, replaces it and dies. */
static pid_t other;
static int asked;

static void end_other(const char *name) {
    if (strcmp(name, "flock") != 0 || ++asked != 3) return;
    assert_int_equal(kill(other, SIGKILL), 0);
    assert_int_equal(waitpid(other, NULL, 0), other);
}

static void a_waiter_gets_the_new_file(void **state) {
    (void)state;
    int ready[2];
    char byte;
    tamis *f;
    tamis_edit *edit;
    make_image(plain, 10);
    assert_int_equal(pipe(ready), 0);
    other = fork();
    if (other == 0) {
        edit = edit_and_add(&f);
        if (tamis_edit_save(edit, f) || write(ready[1], "", 1) != 1) _exit(1);
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    asked = 0;
    fault.before = end_other;
    assert_int_equal(open_for(&edit, 600000, false), TAMIS_OK);
    fault.before = NULL;
    REQUIRE_OK(tamis_edit_read(edit, &f));
    assert_int_equal(test_info(f).items, 11);
    tamis_free(f);
    tamis_edit_close(edit);
    close(ready[0]), close(ready[1]);
}

/* The file is replaced between the moment it is opened and the moment it is locked. */
static void replace_at_flock(const char *name) {
    static int times;
    if (strcmp(name, "flock") == 0 && times++ == 0) make_image(plain, 20);
}

static void a_file_that_lost_its_name_is_left(void **state) {
    (void)state;
    tamis *f;
    tamis_edit *edit;
    make_image(plain, 10);
    fault.before = replace_at_flock;
    REQUIRE_OK(open_for(&edit, 0, false));
    fault.before = NULL;
    REQUIRE_OK(tamis_edit_read(edit, &f));
    assert_int_equal(test_info(f).items, 20);
    tamis_free(f);
    tamis_edit_close(edit);
}

/* The list of locks includes other files, and the holder of this one may be on another machine. */
static void holders_of_other_files_are_not_named(void **state) {
    (void)state;
    tamis_edit *edit;
    char other_name[160];
    make_image(plain, 10);
    name_of(other_name, "other"), write_text(other_name, "");
    const int fd = open(other_name, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    fail_at("flock", 1, EWOULDBLOCK);
    assert_int_equal(open_for(&edit, 0, false), TAMIS_BUSY);
    fault.is_on = false;
    if (!strstr(tamis_why(), "another process is changing it"))
        fail_msg("'%s' should name nobody", tamis_why());
    close(fd);
}

/* The clock starts at boot: after fifty days it shows 2^32 ms. */
static void waits_go_on_after_fifty_days(void **state) {
    (void)state;
    tamis_edit *edit;
    make_image(plain, 10);
    fault.clock = ((uint64_t)1 << 32) / 1000;
    fail_at("flock", 1, EWOULDBLOCK);
    const tamis_status rc = open_for(&edit, 60000, false);
    fault.is_on = false;
    assert_int_equal(rc, TAMIS_OK);
    assert_int_equal(fault.clock, ((uint64_t)1 << 32) / 1000 + 2);
    fault.clock = 0;
    tamis_edit_close(edit);
}

/* Without locks an edit works all the same, and says so. */
static void without_locks(void **state) {
    (void)state;
    tamis *f;
    tamis_edit *edit;
    make_image(plain, 10);
    fail_at("flock", 1, ENOLCK);
    fault.for_ever = true;
    REQUIRE_OK(open_for(&edit, 0, false));
    assert_false(tamis_edit_is_locked(edit));
    REQUIRE_OK(tamis_edit_read(edit, &f));
    REQUIRE_OK(tamis_add_u64(f, 10));
    REQUIRE_OK(tamis_edit_save(edit, f));
    fault.is_on = false;
    tamis_edit_close(edit);
    tamis_free(f);
    assert_int_equal(items(), 11);
}

/* ---- The name ------------------------------------------------------------------------------- */

static void replace_it(void) {
    make_image(plain, 30);
}

static void remove_it(void) {
    assert_int_equal(unlink(path), 0);
}

static void cut_it(void) {
    assert_int_equal(truncate(path, 100), 0);
}

/* The same size in the same file: only mtime differs. */
static void write_into_it(void) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void (*harm)(void);

static void harm_at_fsync(const char *name) {
    if (strcmp(name, "fsync") == 0 && harm) harm(), harm = NULL;
}

static uint64_t file_id(void) {
    struct stat st;
    return stat(path, &st) ? 0 : (uint64_t)st.st_ino * 1000003 + (uint64_t)st.st_size;
}

/* Others ignore the lock and change the file, early or at the last moment: their change stays. */
static void changes_by_others_are_not_overwritten(void **state) {
    (void)state;
    static void (*const harms[])(void) = {replace_it, remove_it, cut_it, write_into_it};
    for (size_t h = 0; h < 2 * sizeof harms / sizeof *harms; h++) {
        tamis *f;
        make_image(plain, 10);
        tamis_edit *edit = edit_and_add(&f);
        harm = harms[h / 2];
        if (h % 2 == 0) harm(), harm = NULL;
        const uint64_t before = file_id();
        fault.before = harm_at_fsync;
        assert_int_equal(tamis_edit_save(edit, f), TAMIS_CHANGED);
        fault.before = NULL;
        assert_null(harm);
        assert_non_null(strstr(tamis_why(), path));
        if (h % 2 == 0) assert_true(file_id() == before);
        if (harms[h / 2] == replace_it) assert_int_equal(items(), 30);
        assert_int_equal(test_files_in(dir_path), harms[h / 2] != remove_it);
        tamis_edit_close(edit);
        tamis_free(f);
        unlink(path);
    }
}

static void the_first_creator_wins(void **state) {
    (void)state;
    tamis_edit *edit;
    tamis *f = filter_of(plain, 0, 10);
    assert_int_equal(open_for(&edit, 0, false), TAMIS_IO);
    for (int is_late = 0; is_late < 2; is_late++) {
        REQUIRE_OK(open_for(&edit, 0, true));
        assert_true(tamis_edit_is_new(edit));
        harm = replace_it;
        if (!is_late) harm(), harm = NULL;
        fault.before = harm_at_fsync;
        assert_int_equal(tamis_edit_save(edit, f), TAMIS_CHANGED);
        fault.before = NULL;
        assert_int_equal(items(), 30);
        assert_int_equal(unlink(path), 0);
        REQUIRE_OK(tamis_edit_save(edit, f)); /* now the name is free */
        assert_false(tamis_edit_is_new(edit));
        assert_true(is_held());
        tamis_edit_close(edit);
        assert_int_equal(items(), 10);
        assert_int_equal(unlink(path), 0);
    }
    tamis_free(f);
}

static void links_are_followed(void **state) {
    (void)state;
    char link[160], far[160], text[160];
    struct stat st;
    name_of(link, "link"), name_of(far, "sub"), name_of(text, "sub/next");
    assert_int_equal(mkdir(far, 0777) | symlink("sub/next", link) | symlink("../b.tamis", text), 0);
    tamis *f = filter_of(plain, 0, 10);
    REQUIRE_OK(tamis_save(f, link)); /* its target does not exist yet */
    snprintf(path, sizeof path, "%s/b.tamis", dir_path);
    assert_int_equal(items(), 10);
    REQUIRE_OK(tamis_add_u64(f, 10));
    REQUIRE_OK(tamis_save(f, link));
    assert_int_equal(items(), 11);
    assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    assert_true(lstat(text, &st) == 0 && S_ISLNK(st.st_mode));
    assert_int_equal(test_files_in(dir_path), 3);
    assert_int_equal(unlink(text) | symlink("../link", text), 0);
    assert_int_equal(tamis_save(f, link), TAMIS_IO); /* a loop */
    tamis_free(f);
}

/* The name becomes a link after it was resolved: the link's target is left alone. */
static void becomes_a_link(const char *name) {
    char victim[160];
    if (strcmp(name, "open") != 0) return;
    fault.before = NULL;
    name_of(victim, "victim");
    assert_int_equal(unlink(path) | symlink(victim, path), 0);
}

static void links_that_come_late_are_not_followed(void **state) {
    (void)state;
    tamis_edit *edit;
    char victim[160];
    name_of(victim, "victim");
    write_text(victim, "precious");
    make_image(plain, 10);
    fault.before = becomes_a_link;
    assert_int_equal(open_for(&edit, 0, true), TAMIS_IO);
    assert_null(fault.before);
    assert_null(edit);
    assert_true(has_text(victim, "precious"));
}

/* ---- Flushing ------------------------------------------------------------------------------- */

static int order, step_of_write, step_of_file, step_of_rename, step_of_dir;

static void note_order(const char *name) {
    order++;
    if (strcmp(name, "write") == 0) step_of_write = order;
    if (strcmp(name, "rename") == 0) step_of_rename = order;
    if (strcmp(name, "fsync") == 0) *(step_of_rename ? &step_of_dir : &step_of_file) = order;
}

/* Bytes, file, name, directory: a power failure leaves the old file or the complete new one. */
static void everything_is_flushed_in_order(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        tamis *f;
        tamis_builder *b;
        make_image(plain, 10);
        tamis_edit *edit = edit_and_add(&f);
        REQUIRE_OK(tamis_builder_create_with(&b, "fuse", NULL));
        order = step_of_write = step_of_file = step_of_rename = step_of_dir = 0;
        fault.synced_files = fault.synced_dirs = 0;
        fault.before = note_order;
        if (way == 0) REQUIRE_OK(tamis_edit_save(edit, f));
        if (way == 1) REQUIRE_OK(tamis_save(f, path));
        if (way == 2) REQUIRE_OK(tamis_edit_put(edit, "x", 1));
        if (way == 2) REQUIRE_OK(tamis_edit_commit(edit));
        if (way == 3) REQUIRE_OK(tamis_edit_build(edit, b));
        fault.before = NULL;
        assert_true(0 < step_of_write && step_of_write < step_of_file);
        assert_true(step_of_file < step_of_rename && step_of_rename < step_of_dir);
        assert_int_equal(fault.synced_files, 1);
        assert_int_equal(fault.synced_dirs, 1);
        tamis_builder_free(b);
        tamis_edit_close(edit);
        tamis_free(f);
    }
}

/* Temporary names are taken: by a live writer, and by links that lead elsewhere. */
static void names_of_others_are_left_alone(void **state) {
    (void)state;
    char file[160], link[160], dead_link[160], victim[160], nowhere[160];
    name_of(file, "a.tamis.00000007.tmp"), name_of(link, "a.tamis.00000008.tmp");
    name_of(dead_link, "a.tamis.00000009.tmp");
    name_of(victim, "victim"), name_of(nowhere, "nowhere");
    write_text(file, "mine"), write_text(victim, "precious");
    assert_int_equal(symlink(victim, link) | symlink(nowhere, dead_link), 0);
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    fault.has_number = true;
    for (int i = 0; i < 2; i++) {
        fault.number = 7;
        make_image(plain, 10);
        assert_int_equal(fault.number, 11); /* the fourth was free */
    }
    fault.has_number = false;
    assert_true(has_text(file, "mine") && has_text(victim, "precious"));
    assert_true(access(link, F_OK) == 0 && access(nowhere, F_OK) != 0);
    assert_int_equal(items(), 10);
    assert_int_equal(test_files_in(dir_path), 5);
    close(fd);
}

/* Temporary names of older versions of the command: those of dead processes are removed. */
static void old_names_are_tidied_up(void **state) {
    (void)state;
    char name[160], text[64];
    const pid_t dead = fork();
    if (dead == 0) _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    static const char *const names[] = {
        "a.tamis.%ld-0.new", "a.tamis.%ld-17.new", "b.tamis.%ld-0.new",  "a.tamis.%ld-0.newer",
        "a.tamis.%ld-.new",  "a.tamis.%ld--1.new", "a.tamis.+%ld-0.new", "a.tamis.%ldx-0.new"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, names[i], (long)dead);
#pragma GCC diagnostic pop
        name_of(name, text);
        write_text(name, "");
    }
    snprintf(text, sizeof text, "a.tamis.%ld-0.new", (long)getpid());
    name_of(name, text);
    write_text(name, "");
    make_image(plain, 10);
    assert_int_equal(test_files_in(dir_path), 1 + 6 + 1);
}

/* ---- Permissions ---------------------------------------------------------------------------- */

static mode_t mode_of(const char *file) {
    struct stat st;
    return stat(file, &st) == 0 ? st.st_mode & 07777 : 010000;
}

/* At every call: only the owner has permissions on a temporary file that the final file lacks. */
static mode_t widest;
static int too_wide, files_seen;

static void watch_rights(const char *name) {
    (void)name;
    DIR *dir = opendir(dir_path);
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct stat st;
        if (!strstr(entry->d_name, ".tmp") || fstatat(dirfd(dir), entry->d_name, &st, 0)) continue;
        files_seen++;
        too_wide += (st.st_mode & 07777 & ~widest & ~(mode_t)0600) != 0;
    }
    closedir(dir);
}

static void save_watched(const tamis *f, mode_t max) {
    widest = max;
    fault.before = watch_rights;
    REQUIRE_OK(tamis_save(f, path));
    fault.before = NULL;
}

static void modes_are_kept(void) {
    static const mode_t masks[] = {0, 022, 077},
                        modes[] = {0600, 0640, 0604, 0664, 0444, 0400, 0755, 0666};
    too_wide = files_seen = 0;
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
        for (int is_secret = 0; is_secret < 2; is_secret++) {
            tamis *f = filter_of(is_secret ? keyed : plain, 0, 10);
            const mode_t old = umask(masks[m]), wanted = is_secret ? 0600 : 0666 & ~masks[m];
            save_watched(f, wanted);
            assert_int_equal(mode_of(path), wanted);
            for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
                assert_int_equal(chmod(path, modes[i]), 0);
                save_watched(f, modes[i]);
                assert_int_equal(mode_of(path), modes[i]);
            }
            umask(old);
            assert_int_equal(unlink(path), 0);
            tamis_free(f);
        }
    assert_int_equal(too_wide, 0);
    assert_true(files_seen > 100);
}

/* As the current user and, if permitted, as user nobody. */
enum { NOBODY = 65534 };

static void as_nobody(void (*test)(void)) {
    assert_int_equal(chown(dir_path, NOBODY, NOBODY), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const gid_t groups[] = {NOBODY};
        if (setgroups(1, groups) || setgid(NOBODY) || setuid(NOBODY)) _exit(2);
        test();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void modes_under_every_umask(void **state) {
    (void)state;
    modes_are_kept();
    if (geteuid() == 0) as_nobody(modes_are_kept);
}

static void owner_and_group_are_kept(void **state) {
    (void)state;
    if (geteuid() != 0) skip();
    struct stat st;
    tamis *f = filter_of(keyed, 0, 10);
    REQUIRE_OK(tamis_save(f, path));
    assert_int_equal(chown(path, 4711, 4712) | chmod(path, 06754), 0);
    too_wide = files_seen = 0;
    save_watched(f, 06754);
    assert_true(files_seen > 0 && too_wide == 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 4711);
    assert_int_equal(st.st_gid, 4712);
    assert_int_equal(st.st_mode & 07777, 06754);
    tamis_free(f);
}

/* The user is not in the file's group: the group's permissions go, and no one gains any. */
static void save_in_other_group(void) {
    static const mode_t before[] = {0660, 0664, 0644, 02775, 0640};
    static const mode_t after[] = {0600, 0644, 0644, 0755, 0600};
    const mode_t mode = mode_of(path);
    tamis *f = filter_of(plain, 0, 10);
    struct stat st;
    too_wide = 0;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        if (before[i] != mode) continue;
        save_watched(f, after[i]);
        assert_true(stat(path, &st) == 0 && st.st_gid == NOBODY);
        assert_int_equal(st.st_mode & 07777, after[i]);
    }
    assert_int_equal(too_wide, 0);
    tamis_free(f);
}

static void a_group_that_cannot_be_kept(void **state) {
    (void)state;
    static const mode_t modes[] = {0660, 0664, 0644, 02775, 0640};
    if (geteuid() != 0) skip();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        make_image(plain, 5);
        assert_int_equal(chown(path, NOBODY, 4712) | chmod(path, modes[i]), 0);
        as_nobody(save_in_other_group);
        assert_int_equal(items(), 10);
    }
}

static void lists_of_rights_are_kept(void **state) {
    (void)state;
#ifdef __linux__
    /* user::rw- user:4711:r-- group::--- mask::r-- other::--- */
    static const uint8_t list[] = {2,   0,   0,   0,   1,  0, 6, 0, 255, 255, 255, 255, 2,  0, 4, 0,
                                   103, 18,  0,   0,   4,  0, 0, 0, 255, 255, 255, 255, 16, 0, 4, 0,
                                   255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255};
    static const char name[] = "system.posix_acl_access",
                      default_value[] = "system.posix_acl_default";
    uint8_t got[256];
    make_image(plain, 5);
    if (setxattr(path, name, list, sizeof list, 0) < 0) skip();
    tamis *f = filter_of(plain, 0, 10);
    REQUIRE_OK(tamis_save(f, path));
    assert_int_equal(getxattr(path, name, got, sizeof got), sizeof list);
    assert_memory_equal(got, list, sizeof list);

    /* The directory's default list does not apply to an existing file. */
    assert_int_equal(removexattr(path, name) | chmod(path, 0640), 0);
    assert_int_equal(setxattr(dir_path, default_value, list, sizeof list, 0), 0);
    REQUIRE_OK(tamis_save(f, path));
    assert_true(getxattr(path, name, got, sizeof got) < 0);
    assert_int_equal(mode_of(path), 0640);

    /* A list that cannot be set or read: only the owner keeps permissions. */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setxattr(path, name, list, sizeof list, 0), 0);
        fail_at(i ? "lgetxattr" : "fsetxattr", 1, i ? ERANGE : ENOTSUP);
        REQUIRE_OK(tamis_save(f, path));
        fault.is_on = false;
        assert_int_equal(mode_of(path), 0600);
    }
    tamis_free(f);
#else
    skip();
#endif
}

static void private_files_stay_private(void **state) {
    (void)state;
    for (int readers = TAMIS_READERS_USUAL; readers <= TAMIS_READERS_OWNER_ALWAYS; readers++)
        for (int is_there = 0; is_there < 2; is_there++) {
            const struct tamis_edit_options options = {.struct_size = sizeof options,
                                                       .may_be_new = true,
                                                       .readers = (enum tamis_readers)readers};
            const mode_t old = umask(022);
            tamis_edit *edit;
            unlink(path);
            if (is_there) write_text(path, "old");
            REQUIRE_OK(tamis_edit_open(&edit, path, &options));
            REQUIRE_OK(tamis_edit_put(edit, "new", 3));
            REQUIRE_OK(tamis_edit_commit(edit));
            tamis_edit_close(edit);
            umask(old);
            assert_true(has_text(path, "new"));
            const bool is_private = readers == TAMIS_READERS_OWNER_ALWAYS ||
                                    (readers == TAMIS_READERS_OWNER && !is_there);
            assert_int_equal(mode_of(path), is_private ? 0600 : 0644);
        }
}

/* ---- Failing system calls ------------------------------------------------------------------- */

static tamis_status edit_once(void) {
    tamis_edit *edit;
    tamis *f = NULL;
    tamis_status rc = open_for(&edit, 0, false);
    if (!rc) rc = tamis_edit_read(edit, &f);
    if (!rc) rc = tamis_add_u64(f, 10);
    if (!rc) rc = tamis_edit_save(edit, f);
    tamis_free(f);
    tamis_edit_close(edit);
    return rc;
}

/* Each call fails once: the old file or the complete new one is there, no other file is left, the
 * message names it, and the next edit can lock it. */
static void every_call_fails(void **state) {
    (void)state;
    static const int errors[] = {EIO, ENOSPC, EACCES, EPERM};
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (int at = 1;; at++) {
            make_image(keyed, 10);
            fail_at(NULL, at, errors[e]);
            errno = 0;
            const tamis_status rc = edit_once();
            fault.is_on = false;
            assert_int_equal(errno, 0);
            if (rc && !strstr(tamis_why(), path)) fail_msg("'%s' should name it", tamis_why());
            const bool is_saved = rc == TAMIS_OK || strstr(tamis_why(), "directory");
            assert_int_equal(items(), is_saved ? 11 : 10);
            assert_int_equal(test_files_in(dir_path), 1);
            assert_int_equal(mode_of(path) & 077, 0);
            assert_false(is_held());
            if (fault.calls < at) break;
        }
}

/* Systems that cannot rename without replacing rename as they can. Any other error is reported,
 * even EEXIST when the other file is gone by then: nothing was renamed. */
static void new_names_are_taken_or_not(void **state) {
    (void)state;
#ifdef SYS_renameat2
    static const struct {
        int error;
        tamis_status status;
    } answers[] = {{ENOSYS, TAMIS_OK}, {EINVAL, TAMIS_OK}, {EPERM, TAMIS_OK},
                   {EIO, TAMIS_IO},    {EACCES, TAMIS_IO}, {EEXIST, TAMIS_IO}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        tamis_edit *edit;
        REQUIRE_OK(open_for(&edit, 0, true));
        REQUIRE_OK(tamis_edit_put(edit, "new", 3));
        fail_at("syscall", 1, answers[i].error);
        const tamis_status rc = tamis_edit_commit(edit);
        fault.is_on = false;
        assert_int_equal(rc, answers[i].status);
        assert_int_equal(fault.calls, 1);
        assert_int_equal(has_text(path, "new"), rc == TAMIS_OK);
        if (rc) assert_non_null(strstr(tamis_why(), strerror(answers[i].error)));
        tamis_edit_close(edit);
        assert_int_equal(test_files_in(dir_path), rc == TAMIS_OK);
        unlink(path);
    }
#else
    skip();
#endif
}

/* Network file systems may lock only files that are open for writing. */
static void locks_that_need_write_access(void **state) {
    (void)state;
    tamis_edit *edit;
    make_image(plain, 10);
    fail_at("flock", 1, EBADF);
    REQUIRE_OK(open_for(&edit, 0, false));
    fault.is_on = false;
    assert_int_equal(fault.flags & O_ACCMODE, O_RDWR);
    assert_true(tamis_edit_is_locked(edit) && is_held());
    tamis_edit_close(edit);
    assert_false(is_held());
    fail_at("open", 1, EIO);
    assert_int_equal(open_for(&edit, 0, true), TAMIS_IO);
    fault.is_on = false;
    assert_null(edit);
    assert_non_null(strstr(tamis_why(), strerror(EIO)));
}

/* An unreadable file can be replaced; reading it reports why not. */
static void files_that_may_not_be_read(void **state) {
    (void)state;
    tamis_edit *edit;
    tamis *f;
    make_image(plain, 10);
    fail_at("open", 1, EACCES);
    REQUIRE_OK(open_for(&edit, 0, true));
    fault.is_on = false;
    assert_false(tamis_edit_is_new(edit));
    errno = ENOENT;
    assert_int_equal(tamis_edit_read(edit, &f), TAMIS_IO);
    assert_int_equal(errno, ENOENT);
    assert_null(f);
    assert_non_null(strstr(tamis_why(), strerror(EACCES)));
    REQUIRE_OK(tamis_edit_put(edit, "new", 3));
    REQUIRE_OK(tamis_edit_commit(edit));
    tamis_edit_close(edit);
    assert_true(has_text(path, "new"));
}

/* An abandoned file loses its name before its lock: otherwise others could take it in between. */
static int step_of_unlink, step_of_close;

static void note_end(const char *name) {
    order++;
    if (strcmp(name, "unlink") == 0 && !step_of_unlink) step_of_unlink = order;
    if (strcmp(name, "close") == 0 && !step_of_close) step_of_close = order;
}

static void names_go_before_locks(void **state) {
    (void)state;
    make_image(plain, 10);
    for (int is_taken = 0; is_taken < 2; is_taken++) {
        tamis_edit *edit;
        REQUIRE_OK(open_for(&edit, 0, false));
        order = step_of_unlink = step_of_close = 0;
        if (is_taken) fail_at("flock", 1, EWOULDBLOCK); /* the new temporary file */
        if (is_taken) fault.before = note_end;
        REQUIRE_OK(tamis_edit_put(edit, "x", 1));
        fault.is_on = false;
        fault.before = note_end;
        tamis_edit_close(edit);
        fault.before = NULL;
        assert_true(0 < step_of_unlink && step_of_unlink < step_of_close);
        assert_int_equal(test_files_in(dir_path), 1);
    }
}

/* After a commit the next bytes start another file. */
static void commits_follow_each_other(void **state) {
    (void)state;
    static const char *const texts[] = {"first", "2nd", ""};
    tamis_edit *edit;
    REQUIRE_OK(open_for(&edit, 0, true));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        REQUIRE_OK(tamis_edit_put(edit, texts[i], strlen(texts[i])));
        REQUIRE_OK(tamis_edit_commit(edit));
        assert_true(has_text(path, texts[i]));
        assert_int_equal(test_files_in(dir_path), 1);
    }
    tamis_edit_close(edit);
}

/* More than 4 GiB of unwritten pages: the third write fails, so there is a third. */
static void lengths_have_64_bits(void **state) {
    (void)state;
    const size_t size = ((size_t)1 << 31) * 2 + 8;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    tamis_edit *edit;
    if (sizeof(size_t) <= 4 || bytes == MAP_FAILED) skip();
    REQUIRE_OK(open_for(&edit, 0, true));
    REQUIRE_OK(tamis_edit_put(edit, "", 0));
    fail_at("write", 3, EIO);
    fault.is_short = true;
    const tamis_status rc = tamis_edit_put(edit, bytes, size);
    fault.is_on = fault.is_short = false;
    assert_int_equal(rc, TAMIS_IO);
    tamis_edit_close(edit);
    assert_int_equal(munmap(bytes, size), 0);
}

/* ---- Raw bytes ------------------------------------------------------------------------------ */

typedef struct stingy {
    int grants; /* allocations left */
    size_t asked_for;
} stingy;

static void *give_some(void *ctx, size_t size) {
    stingy *s = ctx;
    s->asked_for = size;
    return s->grants-- > 0 ? malloc(size) : NULL;
}

static void free_it(void *ctx, void *memory, size_t size) {
    (void)ctx, (void)size;
    free(memory);
}

static void bytes_are_read_whole_or_not(void **state) {
    (void)state;
    stingy memory = {.grants = 100};
    const struct tamis_allocator allocator = {.alloc = give_some, .free = free_it, .ctx = &memory};
    const struct tamis_options options = {.struct_size = sizeof options, .allocator = &allocator};
    const struct tamis_edit_options edits = {
        .struct_size = sizeof edits, .may_be_new = true, .filter = &options};
    const void *bytes;
    size_t size;
    tamis_edit *edit;
    REQUIRE_OK(tamis_edit_open(&edit, path, &edits));
    assert_int_equal(tamis_edit_bytes(edit, &bytes, &size), TAMIS_IO); /* no such file */
    assert_non_null(strstr(tamis_why(), strerror(ENOENT)));
    tamis_edit_close(edit);
    write_text(path, "some text");
    REQUIRE_OK(tamis_edit_open(&edit, path, &edits));
    REQUIRE_OK(tamis_edit_bytes(edit, &bytes, &size));
    assert_int_equal(size, 9);
    assert_memory_equal(bytes, "some text", 9);
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(tamis_edit_bytes(edit, &bytes, &size), TAMIS_IO);
    assert_non_null(strstr(tamis_why(), "longer"));
    assert_true(!bytes && size == 0);
    tamis_edit_close(edit);
    /* For more than 4 GiB, that size is requested, and refused. */
    if (truncate(path, ((off_t)1 << 32) + 5) < 0) skip();
    REQUIRE_OK(tamis_edit_open(&edit, path, &edits));
    memory.grants = 0;
    assert_int_equal(tamis_edit_bytes(edit, &bytes, &size), TAMIS_NOMEM);
    assert_true(memory.asked_for > (size_t)1 << 31);
    tamis_edit_close(edit);
    for (int grants = 0; grants < 2; grants++) {
        memory.grants = grants;
        assert_int_equal(tamis_edit_open(&edit, path, &edits), TAMIS_NOMEM);
        assert_null(edit);
    }
}

/* Memory just past a 64-byte boundary, so that aligning it uses up the slack, and a guard byte
 * after it. */
enum { BORDER = 64, GUARD = 0xa5 };

static void *give_crooked(void *ctx, size_t size) {
    (void)ctx;
    uint8_t *room = aligned_alloc(BORDER, (size + 2 + BORDER - 1) / BORDER * BORDER);
    if (room) room[1 + size] = GUARD;
    return room ? room + 1 : NULL;
}

static void free_crooked(void *ctx, void *memory, size_t size) {
    (void)ctx;
    assert_int_equal(((uint8_t *)memory)[size], GUARD);
    free((uint8_t *)memory - 1);
}

static void paths_fit_into_their_memory(void **state) {
    (void)state;
    const struct tamis_allocator allocator = {.alloc = give_crooked, .free = free_crooked};
    const struct tamis_options options = {.struct_size = sizeof options, .allocator = &allocator};
    const struct tamis_edit_options edits = {
        .struct_size = sizeof edits, .may_be_new = true, .filter = &options};
    for (size_t letters = 1; letters <= 2 * BORDER; letters++) {
        char name[160 + 2 * BORDER], file[2 * BORDER + 1] = "";
        tamis_edit *edit;
        memset(file, 'a', letters);
        snprintf(name, sizeof name, "%s/%s", dir_path, file);
        REQUIRE_OK(tamis_edit_open(&edit, name, &edits));
        tamis_edit_close(edit);
    }
}

/* ---- Secrets -------------------------------------------------------------------------------- */

/* Freed memory is searched for the secret. */
static const uint8_t secret[16] = "sixteen letters";
static int given_back, with_secret;

static void *take(void *ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static bool has_secret(const uint8_t *memory, size_t size) {
    for (size_t i = 0; i + sizeof secret <= size; i++)
        if (memcmp(memory + i, secret, sizeof secret) == 0) return true;
    return false;
}

static void look_and_free(void *ctx, void *memory, size_t size) {
    (void)ctx;
    given_back++;
    with_secret += has_secret(memory, size);
    free(memory);
}

static const struct tamis_allocator looking = {.alloc = take, .free = look_and_free};
static const struct tamis_options with_looking = {
    .struct_size = sizeof with_looking, .allocator = &looking, .secret = secret};

static void secrets_are_wiped_before_memory_is_freed(void **state) {
    (void)state;
    static const char *const specs[] = {"hash=sip13,capacity=100",
                                        "hash=sip13,key=outside,capacity=100"};
    given_back = with_secret = 0;
    for (size_t s = 0; s < 2; s++) {
        tamis *f, *g;
        tamis_edit *edit;
        tamis_builder *b;
        const void *bytes;
        size_t size;
        const struct tamis_edit_options options = {.struct_size = sizeof options,
                                                   .filter = &with_looking};
        const struct tamis_builder_options building = {.struct_size = sizeof building,
                                                       .filter = &with_looking};
        REQUIRE_OK(tamis_create_with(&f, specs[s], &with_looking));
        REQUIRE_OK(tamis_copy(&g, f));
        REQUIRE_OK(tamis_save(f, path));
        tamis_free(f);
        tamis_free(g);
        REQUIRE_OK(tamis_read_with(&f, path, &with_looking));
        tamis_free(f);
        REQUIRE_OK(tamis_map_with(&f, path, &with_looking));
        tamis_free(f);
        REQUIRE_OK(tamis_edit_open(&edit, path, &options));
        REQUIRE_OK(tamis_edit_bytes(edit, &bytes, &size));
        REQUIRE_OK(tamis_load_with(&f, bytes, size, &with_looking));
        tamis_free(f);
        assert_int_equal(tamis_load_with(&f, bytes, size - 1, &with_looking), TAMIS_CORRUPT);
        REQUIRE_OK(tamis_edit_read(edit, &f));
        REQUIRE_OK(tamis_edit_save(edit, f));
        REQUIRE_OK(tamis_edit_bytes(edit, &bytes, &size));
        tamis_edit_close(edit);
        tamis_free(f);
        REQUIRE_OK(tamis_builder_create_with(&b, specs[s], &building));
        REQUIRE_OK(tamis_builder_add(b, "key", 3));
        REQUIRE_OK(tamis_builder_finish(b, &f));
        tamis_builder_free(b);
        tamis_free(f);
    }
    assert_int_equal(with_secret, 0);
    assert_true(given_back > 20);
    /* The search itself works. */
    void *memory = take(NULL, 100);
    memcpy((uint8_t *)memory + 31, secret, sizeof secret);
    look_and_free(NULL, memory, 100);
    assert_int_equal(with_secret, 1);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(edits_exclude_each_other),
        IN_FOLDER(the_lock_has_no_gap),
        IN_FOLDER(a_waiter_gets_the_new_file),
        IN_FOLDER(a_file_that_lost_its_name_is_left),
        IN_FOLDER(holders_of_other_files_are_not_named),
        IN_FOLDER(waits_go_on_after_fifty_days),
        IN_FOLDER(without_locks),
        IN_FOLDER(changes_by_others_are_not_overwritten),
        IN_FOLDER(the_first_creator_wins),
        IN_FOLDER(links_are_followed),
        IN_FOLDER(links_that_come_late_are_not_followed),
        IN_FOLDER(everything_is_flushed_in_order),
        IN_FOLDER(names_of_others_are_left_alone),
        IN_FOLDER(old_names_are_tidied_up),
        IN_FOLDER(modes_under_every_umask),
        IN_FOLDER(owner_and_group_are_kept),
        IN_FOLDER(a_group_that_cannot_be_kept),
        IN_FOLDER(lists_of_rights_are_kept),
        IN_FOLDER(private_files_stay_private),
        IN_FOLDER(new_names_are_taken_or_not),
        IN_FOLDER(locks_that_need_write_access),
        IN_FOLDER(files_that_may_not_be_read),
        IN_FOLDER(names_go_before_locks),
        IN_FOLDER(commits_follow_each_other),
        IN_FOLDER(lengths_have_64_bits),
        IN_FOLDER(bytes_are_read_whole_or_not),
        IN_FOLDER(paths_fit_into_their_memory),
        IN_FOLDER(every_call_fails),
        IN_FOLDER(secrets_are_wiped_before_memory_is_freed),
    };
    return cmocka_run_group_tests_name("edit", tests, NULL, NULL);
}
