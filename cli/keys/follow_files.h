/* SPDX-License-Identifier: MIT */
/* follow_files.h: only the files in cli/ include this. Lines of files that grow, as they come.
 *
 *     files that grow ──▶ blocks of whole lines ──run.c──▶ a verb
 *         └─ nothing new: wait for a notice, a pipe, a signal, or until it is time to look
 *
 * A file is what has its name: when another file takes it, the rest of the old one is read first. A
 * line waits until its end is there, except the last one of a file that is replaced or cut. */
#ifndef TAMIS_CLI_KEYS_FOLLOW_FILES_H
#define TAMIS_CLI_KEYS_FOLLOW_FILES_H

#include <poll.h>

#include "cli/keys/keys.h"

struct follow {
    const struct args *args;
    struct keys *keys;
    struct followed *file; /* one for each source of the keys */
    size_t count, next;    /* whose turn it is */
    int notices;
    int poll_ms; /* between two looks without a notice */
    struct pollfd *poll;
    bool had_trouble;         /* a file was refused */
    void (*look)(void *with); /* before the files are looked at; or NULL */
    void *look_with;
};

/* The keys come from their sources as these grow, from now on or from the start; they are open, and
 * signals are caught. Returns 0 or EXIT_TROUBLE; follow_close is due in both cases. */
int follow_open(struct follow *follow, struct keys *keys, bool from_start);
void follow_close(struct follow *follow);

/* Another file whose changes are a reason to look. */
void follow_also(struct follow *follow, const char *path);

#endif
