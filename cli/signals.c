/* signals.c: holding signals back while a file is neither there nor gone.
 *
 * A signal that arrives meanwhile takes effect right after: a Ctrl-C still ends the command, but
 * leaves nothing half-done behind.
 */
#include "cli.h"

void hold_signals(sigset_t *before) {
    static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) sigaddset(&held, ending[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

void release_signals(const sigset_t *before) {
    sigprocmask(SIG_SETMASK, before, NULL);
}
