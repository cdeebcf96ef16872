/* SPDX-License-Identifier: MIT */
/* Holding a file name while its file is changed. */
#include "file/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/sysmacros.h>
#endif

#include "base/status.h"
#include "file/disk.h"

/* ---- Resolving a path ----------------------------------------------------------------------- */

/* By hand: realpath cannot resolve a link whose target does not exist yet. */
static bool follow(char target[TAMIS_MAX_PATH]) {
    char link[TAMIS_MAX_PATH], dir[TAMIS_MAX_PATH], next[2 * TAMIS_MAX_PATH];
    const ssize_t len = readlink(target, link, sizeof link - 1);
    if (len < 0) return false;
    link[len] = '\0';
    tamis__dir_of(target, dir);
    const bool is_beside = *link != '/' && strcmp(dir, ".") != 0;
    snprintf(next, sizeof next, "%s%s%s", is_beside ? dir : "", is_beside ? "/" : "", link);
    errno = ENAMETOOLONG;
    return snprintf(target, TAMIS_MAX_PATH, "%s", next) < TAMIS_MAX_PATH;
}

tamis_status tamis__place_find(const char *path, char target[TAMIS_MAX_PATH]) {
    enum { LINKS = 40 }; /* as many as the system follows */
    struct stat st;
    const int len = snprintf(target, TAMIS_MAX_PATH, "%s", path);
    errno = ENAMETOOLONG;
    bool is_good = len >= 0 && len < TAMIS_MAX_PATH;
    for (int links = 0; is_good && lstat(target, &st) == 0 && S_ISLNK(st.st_mode); links++) {
        is_good = links < LINKS && follow(target);
        if (links >= LINKS) errno = ELOOP;
    }
    return is_good ? TAMIS_OK : tamis__io_error(path, "cannot write");
}

/* ---- Who holds it --------------------------------------------------------------------------- */

#if defined(__linux__)
static void name_process(long process, char *who, size_t size) {
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", process);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file)) name[strcspn(name, "\n")] = '\0';
    if (file) fclose(file);
    snprintf(who, size, *name ? "process %ld (%s)" : "process %ld", process, name);
}

/* A line: "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF". Some file systems show another device
 * here than stat does; then only the inode number is compared. */
static void find_holder(const struct stat *st, char *who, size_t size) {
    char line[256];
    FILE *file = fopen("/proc/locks", "re");
    bool is_sure = false;
    while (file && !is_sure && fgets(line, sizeof line, file)) {
        long process;
        unsigned major_number, minor_number;
        unsigned long long number;
        if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%llu", &process, &major_number,
                   &minor_number, &number) != 4 ||
            number != (unsigned long long)st->st_ino || process <= 0)
            continue;
        is_sure = major_number == major(st->st_dev) && minor_number == minor(st->st_dev);
        name_process(process, who, size);
    }
    if (file) fclose(file);
}
#else
static void find_holder(const struct stat *st, char *who, size_t size) {
    (void)st, (void)who, (void)size;
}
#endif

static tamis_status fail_busy(const tamis_place *place, uint64_t waited_ms) {
    char who[96] = "another process", waited[48] = "";
    find_holder(&place->seen, who, sizeof who);
    if (waited_ms) snprintf(waited, sizeof waited, " (waited %g s)", (double)waited_ms / 1000);
    tamis__fail(TAMIS_BUSY, "%s is changing it%s", who, waited);
    return tamis__fail_in(TAMIS_BUSY, place->path);
}

/* ---- Locking -------------------------------------------------------------------------------- */

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* flock waits forever or not at all, so we poll, quickly at first. */
static void pause_before(int asked) {
    const long ms = 1L << (asked < 5 ? asked : 5);
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* 1: locked; 0: held by another; -1: no locks here. Network file systems may need a writable
 * descriptor, which our read-only file does not provide. */
static int try_lock(tamis_place *place) {
    if (flock(place->fd, LOCK_EX | LOCK_NB) == 0) return 1;
    if (errno == EBADF) {
        const int fd = open(place->target, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0) {
            close(place->fd);
            place->fd = fd;
            if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 1;
        }
    }
    return errno == EWOULDBLOCK ? 0 : -1;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Opens the file that has the name now. Replacing a file does not need permission to read it. */
static tamis_status open_now(tamis_place *place, bool may_be_new) {
    place->fd = open(place->target, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    place->is_there = place->fd >= 0;
    place->is_locked = false;
    if (place->fd < 0 && may_be_new && errno == ENOENT) return TAMIS_OK;
    if (place->fd < 0 && may_be_new && errno == EACCES && lstat(place->target, &place->seen) == 0)
        place->is_there = true;
    else if (place->fd < 0 || fstat(place->fd, &place->seen) < 0)
        return tamis__io_error(place->path, "cannot open");
    if (S_ISREG(place->seen.st_mode)) return TAMIS_OK;
    tamis__fail(TAMIS_IO, "not a regular file");
    return tamis__fail_in(TAMIS_IO, place->path);
}

/* Whether the file that we opened and locked still has the name. */
static bool has_name(tamis_place *place) {
    struct stat named;
    if (fstat(place->fd, &place->seen) < 0) return false;
    return lstat(place->target, &named) == 0 && is_same_file(&named, &place->seen);
}

tamis_status tamis__place_take(tamis_place *place, const char *path, uint64_t wait_ms,
                               bool may_be_new) {
    const uint64_t start = now_ms();
    place->path = path;
    place->fd = -1;
    tamis_status rc = tamis__place_find(path, place->target);
    for (int asked = 0; !rc; asked++) {
        rc = open_now(place, may_be_new);
        if (rc || place->fd < 0) break;
        const int locked = try_lock(place);
        if (locked != 0) place->is_locked = locked > 0;
        if (locked != 0 && has_name(place)) return TAMIS_OK;
        const bool is_late = now_ms() - start >= wait_ms;
        if (locked == 0 && is_late) rc = fail_busy(place, wait_ms);
        tamis__place_leave(place);
        if (!rc && locked == 0) pause_before(asked);
    }
    if (rc) tamis__place_leave(place);
    return rc;
}

/* ---- Holding -------------------------------------------------------------------------------- */

tamis_status tamis__place_check(const tamis_place *place) {
    struct stat now;
    const bool is_there = lstat(place->target, &now) == 0;
    const struct stat *seen = &place->seen;
    if (is_there == place->is_there &&
        (!is_there || (is_same_file(&now, seen) && now.st_size == seen->st_size &&
                       now.st_mtim.tv_sec == seen->st_mtim.tv_sec &&
                       now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec)))
        return TAMIS_OK;
    tamis__fail(TAMIS_CHANGED, "%s in the meantime; nothing was written",
                !is_there          ? "the file was removed"
                : !place->is_there ? "another process created the file"
                                   : "another process changed or replaced the file");
    return tamis__fail_in(TAMIS_CHANGED, place->path);
}

void tamis__place_pass(tamis_place *place, int fd) {
    tamis__place_leave(place);
    place->fd = fd;
    place->is_locked = true; /* where locks exist */
    place->is_there = fstat(fd, &place->seen) == 0;
}

void tamis__place_leave(tamis_place *place) {
    if (place->fd >= 0) close(place->fd);
    place->fd = -1;
}
