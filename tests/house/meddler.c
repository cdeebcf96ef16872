/* SPDX-License-Identifier: MIT */
/* Loaded in front of the command (LD_PRELOAD): somebody who changes a file between any two looks at
 * it.
 *
 *     MEDDLE_FILE  the file, as the command is told its name
 *     MEDDLE_WITH  what it holds afterwards, written in place
 *     MEDDLE_AT    before which look: opening, asking for its size, reading; and after mapping
 *                  it and after a signature that was found right, which are looks that take longer
 *
 * The last line of MEDDLE_LOG says how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char is_it[1024]; /* by descriptor */
static int looks;

static void write_over(const char *from, const char *to) {
    char bytes[65536];
    const int in = (int)syscall(SYS_openat, AT_FDCWD, from, O_RDONLY, 0);
    const int out = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY, 0);
    long got, at = 0;
    while ((got = syscall(SYS_read, in, bytes, sizeof bytes)) > 0) {
        (void)!syscall(SYS_write, out, bytes, got);
        at += got;
    }
    (void)!ftruncate(out, at);
    syscall(SYS_close, in);
    syscall(SYS_close, out);
}

static void look(void) {
    const char *at = getenv("MEDDLE_AT"), *log = getenv("MEDDLE_LOG");
    char text[16];
    if (++looks == atoi(at ? at : "0")) write_over(getenv("MEDDLE_WITH"), getenv("MEDDLE_FILE"));
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    (void)!syscall(SYS_write, fd, text, snprintf(text, sizeof text, "%d\n", looks));
    syscall(SYS_close, fd);
}

static int is_meant(int fd) {
    return fd >= 0 && fd < (int)sizeof is_it && is_it[fd];
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int opened(const char *path, int fd) {
    const char *file = getenv("MEDDLE_FILE");
    if (fd >= 0 && fd < (int)sizeof is_it) is_it[fd] = file && strcmp(path, file) == 0;
    return fd;
}

static int is_named(const char *path) {
    const char *file = getenv("MEDDLE_FILE");
    return file && strcmp(path, file) == 0;
}

#define OPEN(name)                                                      \
    int name(const char *path, int flags, ...) {                        \
        va_list list;                                                   \
        va_start(list, flags);                                          \
        const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0; \
        va_end(list);                                                   \
        NEXT(name);                                                     \
        if (is_named(path)) look();                                     \
        return opened(path, next(path, flags, mode));                   \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    NEXT(close);
    if (fd >= 0 && fd < (int)sizeof is_it) is_it[fd] = 0;
    return next(fd);
}

int fstat(int fd, struct stat *st) {
    NEXT(fstat);
    if (is_meant(fd)) look();
    return next(fd, st);
}

int fstat64(int fd, struct stat64 *st) {
    NEXT(fstat64);
    if (is_meant(fd)) look();
    return next(fd, st);
}

ssize_t read(int fd, void *bytes, size_t size) {
    NEXT(read);
    if (is_meant(fd)) look();
    return next(fd, bytes, size);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) {
    NEXT(pread64);
    if (is_meant(fd)) look();
    return next(fd, bytes, size, at);
}

void *mmap64(void *at, size_t size, int prot, int flags, int fd, off64_t offset) {
    NEXT(mmap64);
    void *map = next(at, size, prot, flags, fd, offset);
    if (is_meant(fd)) look();
    return map;
}

/* libsodium's; how it is declared does not matter here. */
int crypto_sign_verify_detached(const unsigned char *signature, const unsigned char *message,
                                unsigned long long size, const unsigned char *key);
int crypto_sign_verify_detached(const unsigned char *signature, const unsigned char *message,
                                unsigned long long size, const unsigned char *key) {
    NEXT(crypto_sign_verify_detached);
    const int rc = next(signature, message, size, key);
    if (rc == 0) look();
    return rc;
}
