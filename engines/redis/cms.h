/* SPDX-License-Identifier: MIT */
/* The files of CMS.* may include this: the sketch of a key. */
#ifndef TAMIS_REDIS_CMS_H
#define TAMIS_REDIS_CMS_H

#include "engines/redis/request.h"

/* The shape words of both kinds. */
enum { CMS_WIDTH, CMS_DEPTH };

/* The sketch of the key, which must be there, and its facts: NULL when it is not, which has been
 * replied. */
tamis *cms_sketch(request *, struct tamis_info *);

#endif
