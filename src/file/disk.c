/* SPDX-License-Identifier: MIT */
/* Files: whole reads and maps. */
#include "file/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

tamis_status tamis__io_error(const char *path, const char *what) {
    char reason[128];
    if (strerror_r(errno, reason, sizeof reason))
        snprintf(reason, sizeof reason, "error %d", errno);
    tamis__fail(TAMIS_IO, "%s: %s", what, reason);
    return tamis__fail_in(TAMIS_IO, path);
}

tamis_status tamis__disk_open(const char *path, int *fd, uint64_t *size) {
    struct stat st;
    tamis_status rc;
    /* Without O_NONBLOCK, opening a FIFO without a writer would hang. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) return tamis__io_error(path, "cannot open");
    if (fstat(*fd, &st) < 0) {
        rc = tamis__io_error(path, "cannot open");
    } else if (!S_ISREG(st.st_mode)) {
        tamis__fail(TAMIS_IO, "not a regular file");
        rc = tamis__fail_in(TAMIS_IO, path);
    } else {
        *size = (uint64_t)st.st_size;
        return TAMIS_OK;
    }
    close(*fd);
    return rc;
}

static tamis_status changed(const char *path, const char *how) {
    tamis__fail(TAMIS_IO, "the file became %s while it was read", how);
    return tamis__fail_in(TAMIS_IO, path);
}

tamis_status tamis__disk_read(int fd, const char *path, void *bytes, uint64_t size) {
    for (uint8_t *p = bytes; size;) {
        const size_t max = 1u << 30; /* some systems refuse or truncate larger reads */
        const ssize_t got = read(fd, p, size < max ? (size_t)size : max);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tamis__io_error(path, "cannot read");
        if (got == 0) return changed(path, "shorter");
        p += got;
        size -= (uint64_t)got;
    }
    return TAMIS_OK;
}

tamis_status tamis__disk_is_read(int fd, const char *path) {
    uint8_t more;
    ssize_t got;
    do got = read(fd, &more, 1);
    while (got < 0 && errno == EINTR);
    if (got < 0) return tamis__io_error(path, "cannot read");
    return got ? changed(path, "longer") : TAMIS_OK;
}

tamis_status tamis__disk_map(int fd, const char *path, uint64_t size, void **map) {
    if (size > SIZE_MAX) {
        tamis__fail(TAMIS_IO, "too large to be mapped");
        return tamis__fail_in(TAMIS_IO, path);
    }
    *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    return *map == MAP_FAILED ? tamis__io_error(path, "cannot map") : TAMIS_OK;
}

void tamis__advise_large(void *start, size_t size) {
#ifdef MADV_HUGEPAGE
    const int saved = errno;
    (void)madvise(start, size, MADV_HUGEPAGE);
    errno = saved;
#else
    (void)start, (void)size;
#endif
}

void tamis__disk_unmap(void *map, size_t size) {
    munmap(map, size);
}

void tamis__disk_close(int fd) {
    close(fd);
}
