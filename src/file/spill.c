/* SPDX-License-Identifier: MIT */
/* An unnamed file for data that does not fit in memory. */
#include "file/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "file/disk.h"

static const char prefix[] = "tamis-", suffix[] = ".spill";

tamis_status tamis__spill_start(tamis_spill *s, const char *dir, bool is_likely) {
    const int saved = errno;
    tamis_status rc = TAMIS_OK;
    if (!dir) dir = getenv("TMPDIR");
    if (!dir || !*dir) dir = "/tmp";
    s->fd = -1;
    s->name[0] = '\0';
    if (snprintf(s->dir, sizeof s->dir, "%s", dir) >= (int)sizeof s->dir)
        return tamis__fail(TAMIS_INVALID, "the name of the temporary directory is too long");
    if (is_likely && access(dir, W_OK | X_OK) < 0)
        rc = tamis__io_error(dir, "cannot create temporary files");
    errno = saved;
    return rc;
}

/* The name exists only for a moment. Should the process die in that moment, or the system fail to
 * remove the name, the next process that spills here removes it. The file is private: the hashes of
 * a set reveal the set. */
static tamis_status open_file(tamis_spill *s) {
    char start[TAMIS_MAX_PATH + sizeof prefix];
    tamis__temp_tidy(s->dir, prefix, suffix, NULL);
    snprintf(start, sizeof start, "%s/%s", s->dir, prefix);
    s->fd = tamis__temp_create(start, suffix, 0600, s->name);
    if (s->fd < 0) return tamis__io_error(s->dir, "cannot create a temporary file here");
    if (unlink(s->name) == 0) s->name[0] = '\0';
    return TAMIS_OK;
}

/* The system transfers at most this much at once. */
static size_t some_of(uint64_t size) {
    const size_t max = 1u << 30;
    return size < max ? (size_t)size : max;
}

static tamis_status write_all(tamis_spill *s, uint64_t at, const uint8_t *p, uint64_t size) {
    const tamis_status rc = s->fd < 0 ? open_file(s) : TAMIS_OK;
    if (rc) return rc;
    while (size) {
        const ssize_t put = pwrite(s->fd, p, some_of(size), (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC;
        if (put <= 0) return tamis__io_error(s->dir, "cannot write temporary records");
        p += put;
        at += (uint64_t)put;
        size -= (uint64_t)put;
    }
    return TAMIS_OK;
}

static tamis_status read_all(const tamis_spill *s, uint64_t at, uint8_t *p, uint64_t size) {
    while (size) {
        const ssize_t got = pread(s->fd, p, some_of(size), (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tamis__io_error(s->dir, "cannot read temporary records");
        if (got == 0) {
            tamis__fail(TAMIS_IO, "the temporary file was truncated");
            return tamis__fail_in(TAMIS_IO, s->dir);
        }
        p += got;
        at += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return TAMIS_OK;
}

tamis_status tamis__spill_write(tamis_spill *s, uint64_t at, const void *bytes, uint64_t size) {
    const int saved = errno;
    const tamis_status rc = write_all(s, at, bytes, size);
    errno = saved;
    return rc;
}

tamis_status tamis__spill_read(const tamis_spill *s, uint64_t at, void *bytes, uint64_t size) {
    const int saved = errno;
    const tamis_status rc = read_all(s, at, bytes, size);
    errno = saved;
    return rc;
}

void tamis__spill_end(tamis_spill *s) {
    const int saved = errno;
    if (s->fd >= 0 && s->name[0]) unlink(s->name);
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    errno = saved;
}
