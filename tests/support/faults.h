/* SPDX-License-Identifier: MIT */
/* For one file of a test program: a system that fails, or kills, on demand.
 *
 * The system calls of src/file, counted, and made to fail at the n-th. The linker redirects them
 * here (--wrap, see the Makefile). All other calls of the program go through here too, so counting
 * is on only around what is tested. */
#ifndef TAMIS_TESTS_SUPPORT_FAULTS_H
#define TAMIS_TESTS_SUPPORT_FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/wrapped.h"

static struct {
    bool is_on;
    const char *only; /* only calls of that name; NULL: all */
    int calls, fail_at, error;
    bool for_ever; /* the n-th and all after it */
    bool kills;    /* the process dies in the middle of the n-th */
    bool is_short; /* a few bytes at a time, and EINTR before every second */

    void (*before)(const char *name); /* what others do just before each call */
    bool is_inside;                   /* running `before` */

    bool has_number;               /* getrandom returns 32-bit numbers, one after another ... */
    uint32_t number;               /* ... from this one on */
    int synced_files, synced_dirs; /* how many of each were flushed */
    int inherited;                 /* files opened without O_CLOEXEC */
    int flags;                     /* of the last open */
    int rights;                    /* mode of the last access */
    time_t clock;                  /* seconds that the clock shows, unless 0; each call adds one */
} fault;

/* From now on, of the calls of this name, or of all (NULL), the n-th fails. */
static inline void fail_at(const char *only, int n, int error) {
    fault.only = only;
    fault.calls = 0;
    fault.fail_at = n;
    fault.error = error;
    fault.is_on = true;
}

static bool is_meant(const char *name) {
    return fault.is_on && (!fault.only || strcmp(fault.only, name) == 0);
}

/* The process dies in the next call. */
static bool is_last(const char *name) {
    return fault.kills && is_meant(name) && fault.calls + 1 == fault.fail_at;
}

static void let_others_act(const char *name) {
    if (!fault.before || fault.is_inside) return;
    fault.is_inside = true;
    fault.before(name);
    fault.is_inside = false;
}

static bool is_hit(const char *name) {
    if (!is_meant(name)) return false;
    fault.calls++;
    return fault.calls == fault.fail_at || (fault.for_ever && fault.calls > fault.fail_at);
}

static bool fails(const char *name) {
    let_others_act(name);
    if (!is_hit(name)) return false;
    if (fault.kills) raise(SIGKILL);
    errno = fault.error;
    return true;
}

static bool is_interrupted(void) {
    if (!fault.is_on || !fault.is_short || fault.calls % 2 == 0) return false;
    errno = EINTR;
    return true;
}

/* Of n bytes: all, or a few when transfers are short. */
static size_t share_of(size_t n) {
    return fault.is_on && fault.is_short && n > 100 ? 100 : n;
}

#define WRAP_AS(real, wrapped, type, name, parameters, arguments, failure) \
    type real parameters;                                                  \
    type wrapped parameters;                                               \
    type wrapped parameters {                                              \
        return fails(#name) ? (failure) : real arguments;                  \
    }
#define WRAP(type, name, ...)       WRAP_AS(__real_##name, __wrap_##name, type, name, __VA_ARGS__)
#define WRAP_LARGE(type, name, ...) WRAP_AS(REAL(name), WRAPPED(name), type, name, __VA_ARGS__)
WRAP(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1)
WRAP(int, unlink, (const char *path), (path), -1)
#ifdef __linux__
WRAP(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
     (fd, name, value, size, flags), -1)
WRAP(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size),
     (path, name, value, size), -1)

/* For calls that the C library has no name for: renameat2. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    long word[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) word[i] = va_arg(list, long);
    va_end(list);
    if (fails("syscall")) return -1;
    return __real_syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
#endif
WRAP(int, flock, (int fd, int how), (fd, how), -1)
WRAP_LARGE(int, fstat, (int fd, struct stat *st), (fd, st), -1)
WRAP_LARGE(off_t, lseek, (int fd, off_t at, int from), (fd, at, from), (off_t)-1)
WRAP_LARGE(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
           (at, size, prot, flags, fd, offset), MAP_FAILED)

int REAL(open)(const char *path, int flags, ...);
int WRAPPED(open)(const char *path, int flags, ...);
int WRAPPED(open)(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? (mode_t)va_arg(list, int) : 0;
    va_end(list);
    fault.inherited += !(flags & O_CLOEXEC);
    fault.flags = flags;
    return fails("open") ? -1 : REAL(open)(path, flags, mode);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode) {
    fault.rights = mode;
    return fails("access") ? -1 : __real_access(path, mode);
}

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t) {
    if (!fault.clock) return __real_clock_gettime(clock, t);
    *t = (struct timespec){.tv_sec = fault.clock++};
    return 0;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    if (fails("fsync")) return -1;
    const bool is_dir = fcntl(fd, F_GETFL) & O_DIRECTORY;
    *(is_dir ? &fault.synced_dirs : &fault.synced_files) += 1;
    return __real_fsync(fd);
}

ssize_t __real_getrandom(void *bytes, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags) {
    if (fails("getrandom")) return -1;
    if (!fault.has_number || n != sizeof fault.number) return __real_getrandom(bytes, n, flags);
    memcpy(bytes, &fault.number, n);
    fault.number++;
    return (ssize_t)n;
}

/* A close that fails has closed the file all the same. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
    if (fault.kills && fails("close")) return -1;
    const int rc = __real_close(fd);
    return !fault.kills && fails("close") ? -1 : rc;
}

/* A process that dies while it writes has written a part. */
ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n) {
    if (is_last("write")) (void)!__real_write(fd, bytes, n / 2);
    if (fails("write")) return -1;
    return is_interrupted() ? -1 : __real_write(fd, bytes, share_of(n));
}

ssize_t __real_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n) {
    if (fails("read")) return -1;
    return is_interrupted() ? -1 : __real_read(fd, bytes, share_of(n));
}

ssize_t REAL(pwrite)(int fd, const void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pwrite)(int fd, const void *bytes, size_t n, off_t at) {
    if (is_last("pwrite")) (void)!REAL(pwrite)(fd, bytes, n / 2, at);
    if (fails("pwrite")) return -1;
    return is_interrupted() ? -1 : REAL(pwrite)(fd, bytes, share_of(n), at);
}

ssize_t REAL(pread)(int fd, void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pread)(int fd, void *bytes, size_t n, off_t at);
ssize_t WRAPPED(pread)(int fd, void *bytes, size_t n, off_t at) {
    if (fails("pread")) return -1;
    return is_interrupted() ? -1 : REAL(pread)(fd, bytes, share_of(n), at);
}

#endif
