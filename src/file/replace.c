/* SPDX-License-Identifier: MIT */
/* Replacing a file so that a crash leaves the old or the new. */
#include "file/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/xattr.h>
#endif

#include "base/status.h"
#include "file/disk.h"

static const char suffix[] = ".tmp", older[] = ".new";

/* ---- Beginning ------------------------------------------------------------------------------ */

/* A file that replaces another is private until it has the old one's permissions: see keep_rights.
 * A new file has its own from the start. */
tamis_status tamis__file_begin(tamis_new_file *f, tamis_goal goal, enum tamis_readers readers) {
    struct stat st;
    char prefix[TAMIS_MAX_PATH + 1];
    f->path = goal.path;
    f->place = goal.place;
    f->readers = readers;
    if (goal.place) memcpy(f->target, goal.place->target, sizeof f->target);
    const tamis_status rc = goal.place ? TAMIS_OK : tamis__place_find(goal.path, f->target);
    if (rc) return rc;
    const bool is_there = lstat(f->target, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode)) {
        tamis__fail(TAMIS_IO, "cannot be replaced: not a regular file");
        return tamis__fail_in(TAMIS_IO, f->path);
    }
    tamis__file_tidy(f->target);
    snprintf(prefix, sizeof prefix, "%s.", f->target);
    const bool is_ours_alone = is_there || readers != TAMIS_READERS_USUAL;
    f->fd = tamis__temp_create(prefix, suffix, is_ours_alone ? 0600 : 0666, f->temp);
    return f->fd < 0 ? tamis__io_error(f->path, "cannot create a file next to it") : TAMIS_OK;
}

tamis_status tamis__file_append(tamis_new_file *f, const void *bytes, uint64_t size) {
    const uint8_t *p = bytes;
    for (uint64_t left = size; left;) {
        const size_t max = 1u << 30; /* some systems refuse or truncate larger writes */
        const ssize_t put = write(f->fd, p, left < max ? (size_t)left : max);
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

/* ---- Permissions ---------------------------------------------------------------------------- */

enum { OWNER = 0700, GROUP = 0070, OTHERS = 0007 };

/* The POSIX ACL, which covers the group too. False when the new file cannot have the old one's, or
 * cannot drop one that its directory gives to all new files. */
static bool keep_list(const tamis_new_file *f, bool is_group) {
#if defined(__linux__)
    static const char name[] = "system.posix_acl_access";
    char list[4096];
    const ssize_t size = lgetxattr(f->target, name, list, sizeof list);
    if (size >= 0) return is_group && fsetxattr(f->fd, name, list, (size_t)size, 0) == 0;
    if (errno != ENODATA && errno != ENOTSUP) return false;
    return fremovexattr(f->fd, name) == 0 || errno == ENODATA || errno == ENOTSUP;
#else
    (void)f, (void)is_group;
    return true;
#endif
}

/* Copies owner, group, mode and ACL of the replaced file, as far as the system lets us, in an order
 * that never lets anyone read what they could not read before: the file is private until owner and
 * group are right. If the group differs, it gets no more than everybody had. */
static tamis_status keep_rights(const tamis_new_file *f, const struct stat *old) {
    struct stat now;
    mode_t mode = old->st_mode & 07777;
    if (fstat(f->fd, &now) < 0) return tamis__io_error(f->path, "cannot set its mode");
    bool is_owner = now.st_uid == old->st_uid, is_group = now.st_gid == old->st_gid;
    if ((!is_owner || !is_group) && fchown(f->fd, old->st_uid, old->st_gid) == 0)
        is_owner = is_group = true;
    if (!is_group && fchown(f->fd, (uid_t)-1, old->st_gid) == 0) is_group = true;
    if (!is_owner) mode &= ~(mode_t)S_ISUID;
    if (!is_group) mode &= ~(mode_t)(S_ISGID | (GROUP & ~((old->st_mode & OTHERS) << 3)));
    if (!keep_list(f, is_group) || f->readers == TAMIS_READERS_OWNER_ALWAYS) mode &= OWNER;
    return fchmod(f->fd, mode) == 0 ? TAMIS_OK : tamis__io_error(f->path, "cannot set its mode");
}

/* ---- Ending --------------------------------------------------------------------------------- */

/* The rename is durable only once its directory is on disk. */
static int sync_dir(const char *path) {
    char dir[TAMIS_MAX_PATH];
    tamis__dir_of(path, dir);
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    const int rc = fsync(fd);
    close(fd);
    return rc;
}

/* For a name that was free a moment ago: does not replace a file that has taken it since. */
static int rename_to_new(const tamis_new_file *f) {
#if defined(SYS_renameat2)
    enum { NO_REPLACE = 1 };
    if (syscall(SYS_renameat2, AT_FDCWD, f->temp, AT_FDCWD, f->target, NO_REPLACE) == 0) return 0;
    if (errno != ENOSYS && errno != EINVAL && errno != EPERM) return -1;
#endif
    return rename(f->temp, f->target);
}

static tamis_status take_name(const tamis_new_file *f) {
    const bool is_new = f->place && !f->place->is_there;
    const tamis_status rc = f->place ? tamis__place_check(f->place) : TAMIS_OK;
    if (rc) return rc;
    if ((is_new ? rename_to_new(f) : rename(f->temp, f->target)) == 0) return TAMIS_OK;
    const int why = errno;
    const tamis_status changed = is_new && why == EEXIST ? tamis__place_check(f->place) : TAMIS_OK;
    errno = why; /* that file may be gone again, but the name is not ours for that */
    return changed ? changed : tamis__io_error(f->path, "cannot rename over it");
}

/* The file is closed last, because that releases the lock: without it, a process that cleans up
 * would take the file for that of a dead writer. The result of close can be ignored: fsync has
 * confirmed that everything is on disk. */
tamis_status tamis__file_commit(tamis_new_file *f) {
    struct stat old;
    tamis_status rc = TAMIS_OK;
    if (lstat(f->target, &old) == 0) rc = keep_rights(f, &old);
    if (!rc && fsync(f->fd) < 0) rc = tamis__io_error(f->path, "cannot flush to disk");
    if (!rc) rc = take_name(f);
    if (rc) {
        tamis__file_abandon(f);
        return rc;
    }
    if (sync_dir(f->target) < 0)
        rc = tamis__io_error(f->path, "saved, but its directory cannot be flushed");
    if (f->place)
        tamis__place_pass(f->place, f->fd);
    else
        close(f->fd);
    return rc;
}

void tamis__file_abandon(tamis_new_file *f) {
    unlink(f->temp);
    close(f->fd);
}

void tamis__file_tidy(const char *target) {
    char dir[TAMIS_MAX_PATH], prefix[TAMIS_MAX_PATH + 1];
    tamis__dir_of(target, dir);
    const char *slash = strrchr(target, '/');
    snprintf(prefix, sizeof prefix, "%s.", slash ? slash + 1 : target);
    tamis__temp_tidy(dir, prefix, suffix, older);
}
