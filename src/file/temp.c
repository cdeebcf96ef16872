/* SPDX-License-Identifier: MIT */
/* Names of files while they are written, and cleaning up after writers that died. */
#include "file/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 8 };

static bool random_number(uint32_t *number) {
    ssize_t got;
    do got = getrandom(number, sizeof *number, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *number;
}

/* Before a new file was locked, another process that cleans up may have thought it abandoned: then
 * its name is gone, or about to be. Without locks nobody cleans up either. */
static bool is_kept(int fd) {
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) return false;
    return fstat(fd, &st) < 0 || st.st_nlink > 0;
}

int tamis__temp_create(const char *prefix, const char *suffix, unsigned mode,
                       char name[TAMIS_MAX_PATH]) {
    for (int tries = 0; tries < 100; tries++) {
        uint32_t number;
        if (!random_number(&number)) return -1;
        const int len =
            snprintf(name, TAMIS_MAX_PATH, "%s%08x%s", prefix, (unsigned)number, suffix);
        if (len < 0 || len >= TAMIS_MAX_PATH) return errno = ENAMETOOLONG, -1;
        const int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
        if (fd < 0 && errno != EEXIST) return -1;
        if (fd < 0) continue;
        if (is_kept(fd)) return fd;
        unlink(name);
        close(fd);
    }
    return errno = EEXIST, -1;
}

static bool is_ours(const char *name, const char *prefix, const char *suffix) {
    const size_t before = strlen(prefix);
    return strlen(name) == before + DIGITS + strlen(suffix) && strncmp(name, prefix, before) == 0 &&
           strspn(name + before, "0123456789abcdef") >= DIGITS &&
           strcmp(name + before + DIGITS, suffix) == 0;
}

/* Old files had no lock; their name contains the writer's process id. Ids are reused: then a file
 * stays a while longer. */
static bool is_of_the_dead(const char *name, const char *prefix, const char *older) {
    const size_t before = strlen(prefix);
    long process = 0;
    int number = 0, end = 0;
    if (!older || strncmp(name, prefix, before) != 0) return false;
    name += before;
    if (sscanf(name, "%9ld-%9d%n", &process, &number, &end) < 2 || process <= 0 || number < 0)
        return false;
    return strspn(name, "0123456789-") == (size_t)end && strcmp(name + end, older) == 0 &&
           kill((pid_t)process, 0) < 0 && errno == ESRCH;
}

/* Failures here are ignored. */
void tamis__temp_tidy(const char *dir_path, const char *prefix, const char *suffix,
                      const char *older) {
    DIR *dir = opendir(dir_path);
    if (!dir) return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (!is_ours(name, prefix, suffix) && !is_of_the_dead(name, prefix, older)) continue;
        const int fd = openat(dirfd(dir), name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        if (fd < 0) continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(dirfd(dir), name, 0);
        close(fd);
    }
    closedir(dir);
}

void tamis__dir_of(const char *path, char dir_path[TAMIS_MAX_PATH]) {
    snprintf(dir_path, TAMIS_MAX_PATH, "%s", path);
    char *slash = strrchr(dir_path, '/');
    if (!slash)
        strcpy(dir_path, ".");
    else
        slash[slash == dir_path] = '\0';
}
