/* SPDX-License-Identifier: MIT */
/* The module's files may include this: the commands, and their table. */
#ifndef TAMIS_REDIS_COMMANDS_H
#define TAMIS_REDIS_COMMANDS_H

#include "engines/redis/request.h"

#define COMMAND(function, ...) int function(request *);
#include "engines/redis/commands.def"

/* Makes all of them known; REDIS_ERR when the server has one of these names already. */
int commands_start(redis_ctx *);

#endif
