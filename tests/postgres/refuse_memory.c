/* SPDX-License-Identifier: MIT */
/* Memory that a test refuses to one process: a library for LD_PRELOAD.
 *
 * REFUSE_MEMORY names a file that all processes map. A test writes there the id of a process and a
 * number n; the n-th allocation of that process from then on fails, and the others succeed. The C
 * library's own calls do not come by here, except those of its functions that return memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct orders {
    int64_t process;
    int64_t left;    /* allocations until one fails; 0: none does */
    int64_t refused; /* how many did */
};

static volatile struct orders *orders;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void *map(void *at, size_t size, int rights, int flags, int fd, off_t from) {
    return (void *)syscall(SYS_mmap, at, size, rights, flags, fd, from);
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("REFUSE_MEMORY");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = map(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) orders = at;
    close(fd);
}

static int is_refused(void) {
    if (!orders || orders->left <= 0 || orders->process != getpid()) return 0;
    if (--orders->left > 0) return 0;
    orders->refused++;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return is_refused() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size) {
    return is_refused() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return is_refused() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (is_refused()) return ENOMEM;
    void *got = __libc_memalign(alignment, size);
    if (!got) return ENOMEM;
    *memory = got;
    return 0;
}

void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t from) {
    return is_refused() ? MAP_FAILED : map(at, size, rights, flags, fd, from);
}
