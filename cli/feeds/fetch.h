/* SPDX-License-Identifier: MIT */
/* fetch.h: only the files in cli/ include this. Files of a publisher, from a directory or through a
 * command.
 *
 * There is no network in here: a command that prints a file (ssh, curl, ...) is all that is needed,
 * and the user chooses it. Whatever comes is bytes from outside, and never more than was asked for.
 */
#ifndef TAMIS_CLI_FEEDS_FETCH_H
#define TAMIS_CLI_FEEDS_FETCH_H

#include "cli/files/files.h"

struct source_of_feeds {
    const struct args *args;
    const char *name; /* for sentences */
    const char *dir;  /* or NULL: */
    char *command;    /* on the heap; {} stands for the name of a file */
};

/* From --over, or from the first operand: a directory, or a URL, which is what curl gets. */
int source_open(struct source_of_feeds *source, const struct args *args);
void source_close(struct source_of_feeds *source);

/* Reads a file of at most `max` bytes; its name is one of feed_index.h, safe wherever it stands.
 * False with a sentence. bytes_close is due in any case. */
bool source_fetch(const struct source_of_feeds *source, const char *name, uint64_t max,
                  struct bytes *bytes, struct human *why);

#endif
