/* Files: whole reads, maps, and replacing a file so that a crash leaves the old or the new. */
#include "file/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

/* The sentence of a system call that failed just now. */
static tamis_status io_error(const char *path, const char *what) {
    char reason[128];
    if (strerror_r(errno, reason, sizeof reason))
        snprintf(reason, sizeof reason, "error %d", errno);
    tamis__fail(TAMIS_IO, "%s: %s", what, reason);
    return tamis__fail_in(TAMIS_IO, path);
}

/* ---- Reading -------------------------------------------------------------------------------- */

tamis_status tamis__disk_open(const char *path, int *fd, uint64_t *size) {
    struct stat st;
    tamis_status rc;
    /* Without O_NONBLOCK a FIFO that nobody writes to would hang us. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) return io_error(path, "cannot open");
    if (fstat(*fd, &st) < 0) {
        rc = io_error(path, "cannot open");
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

tamis_status tamis__disk_read(int fd, const char *path, void *bytes, uint64_t size) {
    for (uint8_t *p = bytes; size;) {
        const size_t most = 1u << 30; /* some systems refuse or cut larger reads */
        const ssize_t got = read(fd, p, size < most ? (size_t)size : most);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return io_error(path, "cannot read");
        if (got == 0) {
            tamis__fail(TAMIS_IO, "the file became shorter while it was read");
            return tamis__fail_in(TAMIS_IO, path);
        }
        p += got;
        size -= (uint64_t)got;
    }
    return TAMIS_OK;
}

tamis_status tamis__disk_map(int fd, const char *path, uint64_t size, void **map) {
    if (size > SIZE_MAX) {
        tamis__fail(TAMIS_IO, "too large to be mapped");
        return tamis__fail_in(TAMIS_IO, path);
    }
    *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    return *map == MAP_FAILED ? io_error(path, "cannot map") : TAMIS_OK;
}

void tamis__disk_unmap(void *map, size_t size) {
    munmap(map, size);
}

void tamis__disk_close(int fd) {
    close(fd);
}

/* ---- Replacing ------------------------------------------------------------------------------ */

static int write_all(int fd, const tamis_part *part) {
    const uint8_t *p = part->bytes;
    for (uint64_t left = part->size; left;) {
        const size_t most = 1u << 30;
        const ssize_t put = write(fd, p, left < most ? (size_t)left : most);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return -1;
        p += put;
        left -= (uint64_t)put;
    }
    return 0;
}

/* A new file beside `path`, under a name that nobody has. The mode is what the umask allows, or
 * that of the file to be replaced. */
static int create_beside(const char *path, char temp[PATH_MAX]) {
    for (int tries = 0; tries < 100; tries++) {
        uint32_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random) return -1;
        const int len = snprintf(temp, PATH_MAX, "%s.%08x.tmp", path, (unsigned)random);
        if (len < 0 || len >= PATH_MAX) return errno = ENAMETOOLONG, -1;
        const int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* The rename itself lasts only once its folder is on disk. */
static int sync_folder(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        strcpy(folder, ".");
    else
        slash[slash == folder] = '\0';
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    const int rc = fsync(fd);
    close(fd);
    return rc;
}

tamis_status tamis__disk_replace(const char *path, const tamis_part *parts, size_t count) {
    char target[PATH_MAX], temp[PATH_MAX];
    struct stat st;
    tamis_status rc = TAMIS_OK;

    /* Through a symbolic link the file it leads to is replaced, not the link. */
    const bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    if (!is_link || !realpath(path, target)) {
        if (snprintf(target, sizeof target, "%s", path) >= PATH_MAX)
            return errno = ENAMETOOLONG, io_error(path, "cannot write");
    }
    const bool is_there = stat(target, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode)) {
        tamis__fail(TAMIS_IO, "cannot be replaced: not a regular file");
        return tamis__fail_in(TAMIS_IO, path);
    }

    int fd = create_beside(target, temp);
    if (fd < 0) return io_error(path, "cannot create a file beside it");
    if (is_there && fchmod(fd, st.st_mode & 0777) < 0) rc = io_error(path, "cannot set its mode");
    for (size_t i = 0; i < count && !rc; i++)
        if (write_all(fd, &parts[i]) < 0) rc = io_error(path, "cannot write");
    if (!rc && fsync(fd) < 0) rc = io_error(path, "cannot flush to disk");
    if (close(fd) < 0 && !rc) rc = io_error(path, "cannot write");
    if (!rc && rename(temp, target) < 0) rc = io_error(path, "cannot rename over it");
    if (rc) {
        unlink(temp);
        return rc;
    }
    if (sync_folder(target) < 0) return io_error(path, "saved, but its folder cannot be flushed");
    return TAMIS_OK;
}
