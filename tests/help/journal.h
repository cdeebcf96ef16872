/* One file of a test program may include this: a disk that loses power.
 *
 * The calls of src/file that change files are written down as they are made (--wrap, see the Makefile).
 * Of a journal cut off anywhere, this is what may be left on the disk:
 *
 *     data      what was there at the last fsync of the file; of every write since then all, nothing,
 *               the first half, or zeros of its length
 *     names     what was there at the last fsync of the folder; of what happened to names since then
 *               (created, renamed, removed) any part
 *
 * Nothing is killed and nothing is written: what a name leads to is worked out in memory. */
#ifndef TAMIS_TESTS_HELP_JOURNAL_H
#define TAMIS_TESTS_HELP_JOURNAL_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/help/wrapped.h"

enum { OPS = 4096, FILES = 64, NAMES = 64 };

/* Files have numbers: 0 is what was there before, others as they are created. */
typedef struct op {
    enum { WRITE, SYNC, CREATE, RENAME, UNLINK, SYNC_FOLDER } what;
    int file;
    int name, to; /* numbers of names */
    uint64_t at;
    size_t size;
    uint8_t *bytes;
} op;

static struct {
    bool is_on;
    op ops[OPS];
    int count, files, names;
    char *name[NAMES];
    int file_of_name[NAMES]; /* -1: none */
    int file_of_fd[1024];    /* number + 1; -1: a folder */
} journal;

static int name_number(const char *path) {
    for (int i = 0; i < journal.names; i++)
        if (strcmp(journal.name[i], path) == 0) return i;
    if (journal.names == NAMES) abort();
    journal.name[journal.names] = strdup(path);
    journal.file_of_name[journal.names] = -1;
    return journal.names++;
}

static op *write_down(op o) {
    if (journal.count == OPS) abort();
    journal.ops[journal.count] = o;
    return &journal.ops[journal.count++];
}

/* `target` is where the old file lies, if there is one. */
static void journal_start(const char *target, bool is_there) {
    for (int i = 0; i < journal.count; i++) free(journal.ops[i].bytes);
    for (int i = 0; i < journal.names; i++) free(journal.name[i]);
    memset(&journal, 0, sizeof journal);
    journal.files = 1;
    const int name = name_number(target);
    journal.file_of_name[name] = is_there ? 0 : -1;
    journal.is_on = true;
}

static int journal_stop(void) {
    journal.is_on = false;
    return journal.count;
}

/* ---- The calls ------------------------------------------------------------------------------- */

int REAL(open)(const char *path, int flags, ...);
int WRAPPED(open)(const char *path, int flags, ...);
int WRAPPED(open)(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? (mode_t)va_arg(list, int) : 0;
    va_end(list);
    const int fd = REAL(open)(path, flags, mode);
    if (!journal.is_on || fd < 0 || fd >= 1024) return fd;
    struct stat st;
    journal.file_of_fd[fd] = 0;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        journal.file_of_fd[fd] = -1;
        return fd;
    }
    const int name = name_number(path);
    if (flags & O_CREAT && journal.file_of_name[name] < 0) {
        journal.file_of_name[name] = journal.files++;
        write_down((op){.what = CREATE, .name = name, .file = journal.file_of_name[name]});
    }
    journal.file_of_fd[fd] = journal.file_of_name[name] + 1;
    return fd;
}

static void write_bytes(int fd, const void *bytes, ssize_t size, off_t at) {
    if (!journal.is_on || size <= 0 || fd >= 1024 || journal.file_of_fd[fd] <= 0) return;
    op *o = write_down((op){.what = WRITE, .file = journal.file_of_fd[fd] - 1});
    o->at = (uint64_t)at;
    o->size = (size_t)size;
    o->bytes = malloc((size_t)size);
    memcpy(o->bytes, bytes, (size_t)size);
}

ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n) {
    const off_t at = journal.is_on ? lseek(fd, 0, SEEK_CUR) : 0;
    const ssize_t put = __real_write(fd, bytes, n);
    write_bytes(fd, bytes, put, at);
    return put;
}

ssize_t REAL(pwrite)(int fd, const void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *bytes, size_t n, off_t at) {
    const ssize_t put = REAL(pwrite)(fd, bytes, n, at);
    write_bytes(fd, bytes, put, at);
    return put;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    const int rc = __real_fsync(fd);
    if (!journal.is_on || rc < 0 || fd >= 1024 || journal.file_of_fd[fd] == 0) return rc;
    if (journal.file_of_fd[fd] < 0)
        write_down((op){.what = SYNC_FOLDER});
    else
        write_down((op){.what = SYNC, .file = journal.file_of_fd[fd] - 1});
    return rc;
}

static void write_rename(const char *from, const char *to) {
    if (!journal.is_on) return;
    const int a = name_number(from), b = name_number(to);
    write_down((op){.what = RENAME, .name = a, .to = b, .file = journal.file_of_name[a]});
    journal.file_of_name[b] = journal.file_of_name[a];
    journal.file_of_name[a] = -1;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
    const int rc = __real_rename(from, to);
    if (rc == 0) write_rename(from, to);
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
        write_rename((const char *)(uintptr_t)a[1], (const char *)(uintptr_t)a[3]);
#endif
    return rc;
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path) {
    const int rc = __real_unlink(path);
    if (!journal.is_on || rc < 0) return rc;
    const int name = name_number(path);
    write_down((op){.what = UNLINK, .name = name});
    journal.file_of_name[name] = -1;
    return rc;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
    if (journal.is_on && fd >= 0 && fd < 1024) journal.file_of_fd[fd] = 0;
    return __real_close(fd);
}

/* ---- What is left ---------------------------------------------------------------------------- */

/* How writes that were not flushed come out. */
enum { LOST, KEPT, HALF, ZEROS, MIXED, FATES };

typedef struct disk {
    uint8_t *bytes;
    size_t size, room;
} disk;

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

/* The bytes of a file after the first `n` entries; of those behind its last flush by their fate. */
static disk file_after(const op *ops, int n, int file, int fate, uint64_t seed) {
    disk d = {NULL, 0, 0};
    int flushed = -1;
    for (int i = 0; i < n; i++)
        if (ops[i].what == SYNC && ops[i].file == file) flushed = i;
    for (int i = 0; i < n; i++) {
        const op *o = &ops[i];
        if (o->what != WRITE || o->file != file) continue;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int now = i < flushed ? KEPT : fate == MIXED ? (int)(seed >> 33) % MIXED : fate;
        if (now == KEPT) disk_put(&d, o->at, o->bytes, o->size);
        if (now == HALF) disk_put(&d, o->at, o->bytes, o->size / 2);
        if (now == ZEROS) disk_put(&d, o->at, NULL, o->size);
    }
    return d;
}

/* Entries about names behind the last flush of the folder, up to `most` of them. */
static int open_names(const op *ops, int n, int *which, int most) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        const bool is_name =
            ops[i].what == CREATE || ops[i].what == RENAME || ops[i].what == UNLINK;
        if (ops[i].what == SYNC_FOLDER) count = 0;
        if (is_name && count == most) abort();
        if (is_name) which[count++] = i;
    }
    return count;
}

/* The file that name 0, the target, leads to when of the open entries those in `kept` lasted; -1: none. */
static int target_after(const op *ops, int n, const int *open, int count, unsigned kept,
                        int before) {
    int file[NAMES];
    for (int i = 0; i < NAMES; i++) file[i] = -1;
    file[0] = before;
    for (int i = 0; i < n; i++) {
        bool lasts = true;
        for (int j = 0; j < count; j++)
            if (open[j] == i) lasts = kept >> j & 1;
        if (!lasts) continue;
        if (ops[i].what == CREATE) file[ops[i].name] = ops[i].file;
        if (ops[i].what == UNLINK) file[ops[i].name] = -1;
        if (ops[i].what == RENAME) {
            file[ops[i].to] = ops[i].file;
            file[ops[i].name] = -1;
        }
    }
    return file[0];
}

#endif
