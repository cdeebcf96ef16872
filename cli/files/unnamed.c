/* SPDX-License-Identifier: MIT */
/* unnamed.c: temporary files without a name. They are gone with their last descriptor, so no end of
 * the command leaves one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

const char *temp_dir(const struct args *args) {
    const char *dir = args->setting[OPT_TEMP_DIR].text;
    if (!dir) dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

int open_unnamed(const struct args *args) {
    char path[4096];
    const int len = snprintf(path, sizeof path, "%s/tamis.XXXXXX", temp_dir(args));
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigset_t before;
    hold_signals(&before); /* It has a name for a moment. */
    const int fd = mkstemp(path);
    if (fd >= 0) unlink(path);
    release_signals(&before);
    return fd;
}

bool write_all(int fd, const void *bytes, size_t len) {
    const char *at = bytes;
    while (len > 0) {
        const ssize_t put = write(fd, at, len);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) at += put, len -= (size_t)put;
    }
    return true;
}

/* ---- Lines that are read again ---- */

enum { SPILL_BUFFER = 256 * 1024 };

int spill_open(struct spill *spill, const struct args *args) {
    *spill = (struct spill){.args = args, .fd = open_unnamed(args), .buffer = malloc(SPILL_BUFFER)};
    if (spill->fd < 0)
        return fail(args, temp_dir(args), "cannot create a temporary file: %s", strerror(errno));
    return spill->buffer ? 0 : fail_memory(args);
}

static int flush(struct spill *spill, const void *bytes, size_t len) {
    const bool is_written =
        write_all(spill->fd, spill->buffer, spill->buffered) && write_all(spill->fd, bytes, len);
    spill->buffered = 0;
    if (is_written) return 0;
    return fail(spill->args, temp_dir(spill->args), "cannot write a temporary file: %s",
                strerror(errno));
}

static int spill_bytes(struct spill *spill, const void *bytes, size_t len) {
    spill->bytes += len;
    if (len > SPILL_BUFFER - spill->buffered) {
        if (flush(spill, NULL, 0)) return EXIT_TROUBLE;
        if (len > SPILL_BUFFER) return flush(spill, bytes, len);
    }
    if (len > 0) memcpy(spill->buffer + spill->buffered, bytes, len);
    spill->buffered += len;
    return 0;
}

int spill_line(struct spill *spill, const struct tamis_key *line, char line_end) {
    const int code = spill_bytes(spill, line->bytes, line->len);
    return code ? code : spill_bytes(spill, &line_end, 1);
}

int spill_read(struct spill *spill, struct source *source) {
    const int code = flush(spill, NULL, 0);
    *source = (struct source){.name = "temporary file", .fd = spill->fd};
    if (code || lseek(spill->fd, 0, SEEK_SET) == 0) return code;
    return fail(spill->args, temp_dir(spill->args), "cannot read a temporary file: %s",
                strerror(errno));
}

void spill_close(struct spill *spill) {
    if (spill->buffer && spill->fd >= 0) close(spill->fd);
    free(spill->buffer);
    *spill = (struct spill){.fd = -1};
}
