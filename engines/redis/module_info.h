/* SPDX-License-Identifier: MIT */
/* module.c may include this: what INFO tells. */
#ifndef TAMIS_REDIS_MODULE_INFO_H
#define TAMIS_REDIS_MODULE_INFO_H

#include "engines/redis/api.h"

int told_start(redis_ctx *);

#endif
