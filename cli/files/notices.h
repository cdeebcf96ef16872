/* SPDX-License-Identifier: MIT */
/* notices.h: only the files in cli/ include this. The system says when files change.
 *
 * A notice only wakes: what happened shows when one looks. Where the system gives none (other
 * systems than Linux, files on other machines, folders that are not there yet) one looks now and
 * then. */
#ifndef TAMIS_CLI_FILES_NOTICES_H
#define TAMIS_CLI_FILES_NOTICES_H

/* A descriptor that becomes readable with a notice; -1 when there are none to get. */
int notices_open(void);

/* Notices about this file, whatever file has that name. Again after another one has taken it. */
void notices_about(int notices, const char *path);

/* Forgets those that came. */
void notices_clear(int notices);

#endif
