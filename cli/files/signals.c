/* SPDX-License-Identifier: MIT */
/* signals.c: nothing half-done is left when a signal ends the command.
 *
 * A file that is written in a moment holds signals back for that moment: a Ctrl-C takes effect
 * right after. A build may take hours: there a signal asks the work to stop, which then tidies up
 * after itself, and the command ends by the signal all the same, so that a shell that runs it in
 * a loop stops too. A second signal does not wait for that.
 */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { ENDING = sizeof ending / sizeof ending[0] };

void hold_signals(sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < ENDING; i++) sigaddset(&held, ending[i]);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

void release_signals(const sigset_t *before) {
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

bool start_thread(pthread_t *thread, void *(*run)(void *), void *with) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* A new thread has the mask of its maker. */
    const bool is_started = pthread_create(thread, NULL, run, with) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

/* ---- Stopping ---- */

static atomic_int caught; /* 0: none */
static struct sigaction usual[ENDING];

static int stop_pipe[2] = {-1, -1};

static void note_signal(int signal) {
    const int saved = errno;
    caught = signal;
    if (stop_pipe[1] >= 0) (void)!write(stop_pipe[1], "", 1);
    errno = saved;
}

void wake_by_signals(bool is_on) {
    for (size_t i = 0; i < ENDING; i++) {
        struct sigaction action;
        sigaction(ending[i], NULL, &action);
        if (action.sa_handler != note_signal) continue;
        action.sa_flags = is_on ? (int)SA_RESETHAND : (int)(SA_RESTART | SA_RESETHAND);
        sigaction(ending[i], &action, NULL);
    }
}

int stop_fd(void) {
    if (stop_pipe[0] < 0) (void)open_pipe(stop_pipe);
    return stop_pipe[0];
}

bool waits_to_read(int fd) {
    struct pollfd files[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_pipe[0], .events = POLLIN}};
    if (stop_pipe[0] < 0) return true;
    while (poll(files, 2, -1) < 0 && errno == EINTR && !is_stopped()) {
    }
    return !is_stopped();
}

void catch_signals(void) {
    struct sigaction action = {.sa_handler = note_signal,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &usual[i]);
        /* What is ignored, as by nohup, stays so. */
        if (usual[i].sa_handler != SIG_IGN) sigaction(ending[i], &action, NULL);
    }
}

void uncatch_signals(void) {
    for (size_t i = 0; i < ENDING; i++) sigaction(ending[i], &usual[i], NULL);
}

bool is_stopped(void) {
    return caught != 0;
}

void forget_stop(void) {
    caught = 0;
}

void end_if_stopped(void) {
    if (caught) raise(caught);
}
