/* SPDX-License-Identifier: MIT */
/* signals.h: only the files in cli/ include this. Nothing half-done is left. */
#ifndef TAMIS_CLI_FILES_SIGNALS_H
#define TAMIS_CLI_FILES_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

void hold_signals(sigset_t *before);
void release_signals(const sigset_t *before);

/* Starts a thread in which no signal arrives: those are for the one of main, which may hold them.
 * False when the system has none to give. */
bool start_thread(pthread_t *thread, void *(*run)(void *), void *with);

/* In between, signals that would end the command only ask it to stop. */
void catch_signals(void);
void uncatch_signals(void);
bool is_stopped(void);

/* In between, such a signal also ends a call that waits, as the opening of a pipe does. */
void wake_by_signals(bool is_on);

/* Before a read that may wait forever: where a signal only asks for a stop (stop_fd was called),
 * waits for either; false when it is the signal. */
bool waits_to_read(int fd);

/* Becomes readable when such a signal comes, for those who wait in poll; -1 when there is none. */
int stop_fd(void);

/* That signal is how the work ends, as it should: the command then exits with its own status. */
void forget_stop(void);

/* Ends the command by the signal that asked for it, if there was one. */
void end_if_stopped(void);

#endif
