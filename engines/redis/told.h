/* module.c may include this: what INFO tells. */
#ifndef TAMIS_REDIS_TOLD_H
#define TAMIS_REDIS_TOLD_H

#include "engines/redis/api.h"

int told_start(redis_ctx *);

#endif
