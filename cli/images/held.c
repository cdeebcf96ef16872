/* SPDX-License-Identifier: MIT */
/* held.c: images that are mapped while no other process can change them.
 *
 * Answers must come from the bytes that passed the gate. Reading them into memory of our own makes
 * sure of it, and for a large image takes longer than many a question. The system can hold a file
 * still instead (F_SETLEASE): a process that wants to write or truncate it waits. We are notified,
 * copy what is mapped, put the copy where the map was, and let it go on; threads with queries
 * notice nothing.
 *
 *     lease ──▶ map ──▶ gate ──▶ questions ...
 *                          └─ a writer comes ──▶ copy ──▶ in place of the map ──▶ lease given up
 *
 * It is granted for files of our own that no process has open for writing, by most local file
 * systems; all others are read. A new file that takes the name, as tamis writes them, does no
 * harm. */
#define _GNU_SOURCE
#include "cli/images/held.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#if defined F_SETLEASE && defined MREMAP_FIXED

struct held {
    struct held *next;
    const char *path;
    int fd; /* that has the lease; -1: it is given up */
    struct stat then;
    void *at;
    size_t size;
};

static struct {
    pthread_mutex_t lock;
    struct held *first;
    bool is_watched;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* There is no way on, in the middle of whatever the other threads do. */
static void give_up(const char *path, const char *why) {
    const char *const part[] = {"tamis: ", path, ": ", why, "\n"};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        (void)!write(STDERR_FILENO, part[i], strlen(part[i]));
    _exit(EXIT_TROUBLE);
}

/* ---- Somebody wants to change one ---- */

static void copy_and_let_go(struct held *held) {
    void *copy = mmap(NULL, held->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        give_up(held->path, "another process is changing it, and there is no memory to keep a "
                            "copy");
    memcpy(copy, held->at, held->size);
    /* A writer waits for a while only (lease-break-time, 45 seconds), and we may have slept as
     * long. */
    if (!file_is_as_it_was(held->fd, &held->then))
        give_up(held->path, "the file changed during the query");
    (void)mprotect(copy, held->size, PROT_READ);
    if (mremap(copy, held->size, held->size, MREMAP_MAYMOVE | MREMAP_FIXED, held->at) != held->at)
        give_up(held->path, "another process is changing it, and no copy can be kept");
    close(held->fd); /* and with it goes the lease */
    held->fd = -1;
}

/* The signal does not say which: a lease that must go says so itself. */
static void *watch(void *with) {
    sigset_t wanted;
    (void)with;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGIO);
    for (;;) {
        int signal;
        if (sigwait(&wanted, &signal)) continue;
        pthread_mutex_lock(&all.lock);
        for (struct held *held = all.first; held; held = held->next)
            if (held->fd >= 0 && fcntl(held->fd, F_GETLEASE) != F_RDLCK) copy_and_let_go(held);
        pthread_mutex_unlock(&all.lock);
    }
    return NULL;
}

/* A disk that fails under a map. */
static void end_by_bus(int signal) {
    (void)signal;
    give_up("an image", "it can no longer be read");
}

static bool start_watching(void) {
    if (all.is_watched) return true;
    sigset_t wanted;
    pthread_t thread;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGIO);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL); /* else it would end us */
    if (!start_thread(&thread, watch, NULL)) return false;
    pthread_detach(thread);
    struct sigaction action = {.sa_handler = end_by_bus};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    return all.is_watched = true;
}

/* ---- Holding ---- */

/* Below that, reading costs no more than mapping and asking for a lease. */
static const off_t min_bytes = (off_t)32 << 20;

static bool is_large(struct held *held) {
    const struct stat *then = &held->then;
    return fstat(held->fd, &held->then) == 0 && S_ISREG(then->st_mode) &&
           then->st_size >= min_bytes && (uint64_t)then->st_size <= SIZE_MAX;
}

static bool map(struct held *held) {
    held->size = (size_t)held->then.st_size;
    held->at = mmap(NULL, held->size, PROT_READ, MAP_SHARED, held->fd, 0);
    return held->at != MAP_FAILED;
}

/* A few descriptors stay free for what is to be opened besides, where many images are held. */
static bool is_spare(int fd) {
    enum { SPARE = 16 };
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           (rlim_t)fd + SPARE >= limit.rlim_cur;
}

/* What is measured again under the lease stays as it is. */
static bool take(struct held *held) {
    held->fd = open(held->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (held->fd < 0) return false;
    if (!is_spare(held->fd) && is_large(held) && start_watching() &&
        fcntl(held->fd, F_SETLEASE, F_RDLCK) == 0 && is_large(held) && map(held))
        return true;
    close(held->fd);
    return false;
}

struct held *held_open(const char *path, const void **bytes, size_t *size) {
    struct held *held = calloc(1, sizeof *held);
    if (!held) return NULL;
    held->path = path;
    pthread_mutex_lock(&all.lock);
    if (take(held)) {
        held->next = all.first;
        all.first = held;
        *bytes = held->at;
        *size = held->size;
    } else {
        free(held);
        held = NULL;
    }
    pthread_mutex_unlock(&all.lock);
    return held;
}

void held_close(struct held *held) {
    if (!held) return;
    pthread_mutex_lock(&all.lock);
    struct held **at = &all.first;
    while (*at != held) at = &(*at)->next;
    *at = held->next;
    munmap(held->at, held->size);
    if (held->fd >= 0) close(held->fd);
    pthread_mutex_unlock(&all.lock);
    free(held);
}

#else

struct held *held_open(const char *path, const void **bytes, size_t *size) {
    (void)path, (void)bytes, (void)size;
    return NULL;
}

void held_close(struct held *held) {
    (void)held;
}

#endif
