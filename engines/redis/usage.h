/* SPDX-License-Identifier: MIT */
/* commands.c may include this: the arguments of a command, from a line such as
 *
 *     key [CAPACITY capacity] [NOCREATE] ITEMS item...
 *
 * Capitals are words as they are, with what follows them; brackets what may be left out, | what
 * excludes each other, ( ) what belongs together, and ... what may come again. The name of an
 * argument says what it is. */
#ifndef TAMIS_REDIS_USAGE_H
#define TAMIS_REDIS_USAGE_H

#include <stdbool.h>

#include "engines/redis/api.h"

enum { USAGE_TEXT = 320, USAGE_ARGUMENTS = 48 };

/* Room for the arguments of one command, and their names. */
typedef struct usage {
    char text[USAGE_TEXT], tokens[USAGE_TEXT];
    redis_argument argument[USAGE_ARGUMENTS];
    int used;
} usage;

/* The arguments, for as long as the room is there; without keys they are all texts and numbers. */
redis_argument *usage_read(usage *, const char *line, int has_keys);

/* Are there secrets among them? */
bool usage_has_secret(const char *line);

/* Hides arguments that are secrets, or have one inside, from SLOWLOG and MONITOR. */
void usage_hide(redis_ctx *, const char *line, redis_string **argv, int argc);

#endif
