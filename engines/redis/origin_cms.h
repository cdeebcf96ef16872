/* SPDX-License-Identifier: MIT */
/* module.c may include this: RedisBloom's type for count-min sketches in the server's files. */
#ifndef TAMIS_REDIS_ORIGIN_CMS_H
#define TAMIS_REDIS_ORIGIN_CMS_H

#include "engines/redis/value.h"

/* All versions of RedisBloom write this one. */
enum { ORIGIN_CMS_ENCODING = 0 };

redis_methods origin_cms_methods(void);

#endif
