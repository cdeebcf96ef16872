/* Replacing a file so that a crash leaves the old or the new. */
#include "file/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "file/disk.h"

static const char suffix[] = ".tmp";

/* Through a symbolic link the file it leads to is replaced, not the link. */
static tamis_status find_target(const char *path, char target[TAMIS_PATH_MOST]) {
    struct stat st;
    const bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    char *real = is_link ? realpath(path, NULL) : NULL;
    const int len = snprintf(target, TAMIS_PATH_MOST, "%s", real ? real : path);
    free(real);
    if (len < TAMIS_PATH_MOST) return TAMIS_OK;
    errno = ENAMETOOLONG;
    return tamis__io_error(path, "cannot write");
}

tamis_status tamis__file_begin(tamis_new_file *f, const char *path) {
    struct stat st;
    char prefix[TAMIS_PATH_MOST + 1];
    f->path = path;
    tamis_status rc = find_target(path, f->target);
    if (rc) return rc;
    const bool is_there = stat(f->target, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode)) {
        tamis__fail(TAMIS_IO, "cannot be replaced: not a regular file");
        return tamis__fail_in(TAMIS_IO, path);
    }
    snprintf(prefix, sizeof prefix, "%s.", f->target);
    f->fd = tamis__temp_create(prefix, suffix, 0666, f->temp);
    if (f->fd < 0) return tamis__io_error(path, "cannot create a file beside it");
    if (is_there && fchmod(f->fd, st.st_mode & 0777) < 0) {
        rc = tamis__io_error(path, "cannot set its mode");
        tamis__file_abandon(f);
    }
    return rc;
}

tamis_status tamis__file_append(tamis_new_file *f, const void *bytes, uint64_t size) {
    const uint8_t *p = bytes;
    for (uint64_t left = size; left;) {
        const size_t most = 1u << 30; /* some systems refuse or cut larger writes */
        const ssize_t put = write(f->fd, p, left < most ? (size_t)left : most);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC;
        if (put <= 0) return tamis__io_error(f->path, "cannot write");
        p += put;
        left -= (uint64_t)put;
    }
    return TAMIS_OK;
}

tamis_status tamis__file_rewind(tamis_new_file *f) {
    return lseek(f->fd, 0, SEEK_SET) == 0 ? TAMIS_OK : tamis__io_error(f->path, "cannot write");
}

/* The rename itself lasts only once its folder is on disk. */
static int sync_folder(const char *path) {
    char folder[TAMIS_PATH_MOST];
    tamis__folder_of(path, folder);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    const int rc = fsync(fd);
    close(fd);
    return rc;
}

/* The file is closed last, because with it goes the lock: without that, somebody who tidies up would
 * take it for the file of a writer that died. Nothing is lost by not asking what close says, after
 * fsync said that everything is on disk. */
tamis_status tamis__file_commit(tamis_new_file *f) {
    tamis_status rc = TAMIS_OK;
    if (fsync(f->fd) < 0)
        rc = tamis__io_error(f->path, "cannot flush to disk");
    else if (rename(f->temp, f->target) < 0)
        rc = tamis__io_error(f->path, "cannot rename over it");
    if (rc) {
        tamis__file_abandon(f);
        return rc;
    }
    close(f->fd);
    if (sync_folder(f->target) < 0)
        return tamis__io_error(f->path, "saved, but its folder cannot be flushed");
    return TAMIS_OK;
}

void tamis__file_abandon(tamis_new_file *f) {
    unlink(f->temp);
    close(f->fd);
}

void tamis__file_tidy(const char *path) {
    char target[TAMIS_PATH_MOST], folder[TAMIS_PATH_MOST], prefix[TAMIS_PATH_MOST + 1];
    if (find_target(path, target)) return;
    tamis__folder_of(target, folder);
    const char *slash = strrchr(target, '/');
    snprintf(prefix, sizeof prefix, "%s.", slash ? slash + 1 : target);
    tamis__temp_tidy(folder, prefix, suffix);
}

tamis_status tamis__file_replace(const char *path, const tamis_part *parts, size_t count) {
    tamis_new_file file;
    tamis_status rc = tamis__file_begin(&file, path);
    if (rc) return rc;
    for (size_t i = 0; i < count && !rc; i++)
        rc = tamis__file_append(&file, parts[i].bytes, parts[i].size);
    if (!rc) return tamis__file_commit(&file);
    tamis__file_abandon(&file);
    return rc;
}
