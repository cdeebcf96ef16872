/* SPDX-License-Identifier: MIT */
/* For one file of a test program: records the calls that change files (--wrap, see JOURNALLED in
 * the Makefile).
 *
 * A journal covers one directory and everything below it, including the bytes at its start.
 * tests/support/power.h works out what a disk may have left of it. */
#ifndef TAMIS_TESTS_SUPPORT_JOURNAL_H
#define TAMIS_TESTS_SUPPORT_JOURNAL_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/wrapped.h"

enum { OPS = 4096, FILES = 128, NAMES = 128, FDS = 1024, PATH_BYTES = 512 };

/* The target of a name: the number of a file, or one of these. */
enum { NOTHING = -1, FOLDER = -2 };

typedef struct disk {
    uint8_t *bytes;
    size_t size, room;
} disk;

typedef struct op {
    enum { WRITE, SYNC, CREATE, MAKE_FOLDER, RENAME, UNLINK, SYNC_FOLDER } what;
    int file;
    int name, to; /* indices of names */
    uint64_t at;
    size_t size;
    uint8_t *bytes;
} op;

static struct {
    bool is_on;
    op ops[OPS];
    int count, files, names;
    char *name[NAMES]; /* 0: the directory itself */
    int dir_of[NAMES], before[NAMES], now[NAMES];
    disk base[FILES]; /* of files that existed before */
    struct {
        bool is_known;
        int name, file;
    } fd[FDS];
} journal;

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Names ----------------------------------------------------------------------------------- */

/* From the root, without "." and ".."; there are no links in these directories. */
static void full_path(const char *path, char full[PATH_BYTES]) {
    char whole[2 * PATH_BYTES], here[PATH_BYTES] = "";
    if (*path != '/' && !getcwd(here, sizeof here)) abort();
    if (snprintf(whole, sizeof whole, "%s/%s", here, path) >= PATH_BYTES) abort();
    size_t len = 0;
    for (char *rest = whole, *part; (part = strsep(&rest, "/"));) {
        if (!*part || strcmp(part, ".") == 0) continue;
        if (strcmp(part, "..") == 0)
            *strrchr(full, '/') = '\0', len = strlen(full);
        else
            len += (size_t)snprintf(full + len, PATH_BYTES - len, "/%s", part);
    }
}

/* -1: not below the directory. */
static int name_number(const char *path) {
    char full[PATH_BYTES];
    full_path(path, full);
    for (int i = 0; i < journal.names; i++)
        if (strcmp(journal.name[i], full) == 0) return i;
    char *slash = strrchr(full, '/');
    if (journal.names > 0) {
        *slash = '\0';
        const int dir_path = *full ? name_number(full) : -1;
        if (dir_path < 0) return -1;
        *slash = '/';
        journal.dir_of[journal.names] = dir_path;
    }
    if (journal.names == NAMES) abort();
    journal.name[journal.names] = strdup(full);
    journal.before[journal.names] = journal.now[journal.names] = NOTHING;
    return journal.names++;
}

static int new_file(void) {
    if (journal.files == FILES) abort();
    return journal.files++;
}

static op *write_down(op o) {
    if (journal.count == OPS) abort();
    journal.ops[journal.count] = o;
    return &journal.ops[journal.count++];
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

static void disk_put(disk *d, uint64_t at, const uint8_t *bytes, size_t size) {
    if (size == 0) return;
    if (at + size > d->room) {
        d->room = 2 * (size_t)(at + size);
        d->bytes = realloc(d->bytes, d->room);
    }
    if (at > d->size) memset(d->bytes + d->size, 0, (size_t)at - d->size);
    if (bytes)
        memcpy(d->bytes + at, bytes, size);
    else
        memset(d->bytes + at, 0, size);
    if (at + size > d->size) d->size = (size_t)at + size;
}

static disk disk_read(const char *path) {
    disk d = {NULL, 0, 0};
    uint8_t piece[4096];
    FILE *file = fopen(path, "rb");
    if (!file) abort();
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        disk_put(&d, d.size, piece, got);
    fclose(file);
    return d;
}

/* Every file and directory below this one. */
static void for_all_below(const char *dir_path, void (*tell)(const char *path, bool is_dir)) {
    char path[PATH_BYTES];
    DIR *dir = opendir(dir_path);
    if (!dir) abort();
    for (const struct dirent *entry; (entry = readdir(dir));) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", dir_path, entry->d_name) >= PATH_BYTES) abort();
        if (lstat(path, &st) < 0) abort();
        tell(path, S_ISDIR(st.st_mode));
        if (S_ISDIR(st.st_mode)) for_all_below(path, tell);
    }
    closedir(dir);
}

static void is_there_before(const char *path, bool is_dir) {
    const int name = name_number(path), file = is_dir ? FOLDER : new_file();
    journal.before[name] = journal.now[name] = file;
    if (!is_dir) journal.base[file] = disk_read(path);
}

static void journal_start(const char *dir_path) {
    for (int i = 0; i < journal.count; i++) free(journal.ops[i].bytes);
    for (int i = 0; i < journal.names; i++) free(journal.name[i]);
    for (int i = 0; i < journal.files; i++) free(journal.base[i].bytes);
    memset(&journal, 0, sizeof journal);
    const int name = name_number(dir_path);
    journal.before[name] = journal.now[name] = FOLDER;
    for_all_below(dir_path, is_there_before);
    journal.is_on = true;
}

static void journal_stop(void) {
    journal.is_on = false;
}

/* ---- The calls ------------------------------------------------------------------------------- */

static bool is_known(int fd) {
    return journal.is_on && fd >= 0 && fd < FDS && journal.fd[fd].is_known;
}

static void note_open(const char *path, int flags, int fd) {
    const int name = name_number(path);
    if (name < 0) return;
    if (flags & O_CREAT && journal.now[name] == NOTHING) {
        journal.now[name] = new_file();
        write_down((op){.what = CREATE, .name = name, .file = journal.now[name]});
    }
    journal.fd[fd].is_known = true;
    journal.fd[fd].name = name;
    journal.fd[fd].file = journal.now[name];
}

int REAL(open)(const char *path, int flags, ...);
int WRAPPED(open)(const char *path, int flags, ...);
int WRAPPED(open)(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? (mode_t)va_arg(list, int) : 0;
    va_end(list);
    const int fd = REAL(open)(path, flags, mode);
    if (!journal.is_on || fd < 0 || fd >= FDS) return fd;
    pthread_mutex_lock(&journal_lock);
    note_open(path, flags, fd);
    pthread_mutex_unlock(&journal_lock);
    return fd;
}

static void note_write(int fd, const void *bytes, ssize_t size, off_t at) {
    if (!is_known(fd) || size <= 0) return;
    pthread_mutex_lock(&journal_lock);
    op *o = write_down((op){.what = WRITE, .file = journal.fd[fd].file});
    o->at = (uint64_t)at;
    o->size = (size_t)size;
    o->bytes = malloc((size_t)size);
    memcpy(o->bytes, bytes, (size_t)size);
    pthread_mutex_unlock(&journal_lock);
}

ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n) {
    const ssize_t put = __real_write(fd, bytes, n);
    if (is_known(fd) && put > 0) note_write(fd, bytes, put, lseek(fd, 0, SEEK_CUR) - put);
    return put;
}

ssize_t REAL(pwrite)(int fd, const void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *bytes, size_t n, off_t at) {
    const ssize_t put = REAL(pwrite)(fd, bytes, n, at);
    note_write(fd, bytes, put, at);
    return put;
}

/* Another process may act between writing a file and renaming it. */
static void (*meanwhile)(void);

static bool is_file(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    const int rc = __real_fsync(fd);
    if (meanwhile && is_file(fd)) meanwhile();
    if (!is_known(fd) || rc < 0) return rc;
    pthread_mutex_lock(&journal_lock);
    const bool is_dir = journal.fd[fd].file == FOLDER;
    write_down((op){.what = is_dir ? SYNC_FOLDER : SYNC,
                    .name = journal.fd[fd].name,
                    .file = journal.fd[fd].file});
    pthread_mutex_unlock(&journal_lock);
    return rc;
}

static void note_rename(const char *from, const char *to) {
    if (!journal.is_on) return;
    pthread_mutex_lock(&journal_lock);
    const int a = name_number(from), b = name_number(to);
    if (a >= 0 && b >= 0) {
        write_down((op){.what = RENAME, .name = a, .to = b, .file = journal.now[a]});
        journal.now[b] = journal.now[a];
        journal.now[a] = NOTHING;
    }
    pthread_mutex_unlock(&journal_lock);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
    const int rc = __real_rename(from, to);
    if (rc == 0) note_rename(from, to);
    return rc;
}

/* renameat2, which the C library may not have. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    long a[5];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 5; i++) a[i] = va_arg(list, long);
    va_end(list);
    const long rc = __real_syscall(number, a[0], a[1], a[2], a[3], a[4]);
#ifdef SYS_renameat2
    if (number == SYS_renameat2 && rc == 0)
        note_rename((const char *)(uintptr_t)a[1], (const char *)(uintptr_t)a[3]);
#endif
    return rc;
}

static void note_name(const char *path, op o) {
    if (!journal.is_on) return;
    pthread_mutex_lock(&journal_lock);
    o.name = name_number(path);
    if (o.name >= 0) journal.now[o.name] = write_down(o)->file;
    pthread_mutex_unlock(&journal_lock);
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path) {
    const int rc = __real_unlink(path);
    if (rc == 0) note_name(path, (op){.what = UNLINK, .file = NOTHING});
    return rc;
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode) {
    const int rc = __real_mkdir(path, mode);
    if (rc == 0) note_name(path, (op){.what = MAKE_FOLDER, .file = FOLDER});
    return rc;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
    if (journal.is_on && fd >= 0 && fd < FDS) journal.fd[fd].is_known = false;
    return __real_close(fd);
}

#endif
