/* SPDX-License-Identifier: MIT */
/* The module's files may include this: the commands, and their table. */
#ifndef TAMIS_REDIS_COMMANDS_H
#define TAMIS_REDIS_COMMANDS_H

#include "engines/redis/api.h"

#define JOB ""
#define COMMAND(function, name, flags, last, step, min, max, family, complexity, summary, usage) \
    redis_function function;
#include "engines/redis/commands.def"

/* Makes all of them known; REDIS_ERR when the server has one of these names already. */
int commands_start(redis_ctx *);

#endif
