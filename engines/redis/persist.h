/* SPDX-License-Identifier: MIT */
/* module.c may include this: what the server does with values of our own type. */
#ifndef TAMIS_REDIS_PERSIST_H
#define TAMIS_REDIS_PERSIST_H

#include "engines/redis/value.h"

/* The encoding that we write. */
enum { PERSIST_ENCODING = 1 };

redis_methods persist_own_methods(void);

/* The types of RedisBloom, and the encodings that it writes. */
enum { CUCKOO_ENCODING = 4 };
redis_methods persist_cuckoo_methods(void);

/* Reads a value by `read`; limits bind it when a client restores it, and at no other time. */
void *persist_load(redis_io *, int encoding, void *(*read)(redis_io *, int));

/* What is the same for every type that holds our values: all but loading and saving. */
redis_methods persist_methods_with(void *(*load)(redis_io *, int),
                                   void (*save)(redis_io *, void *));

/* A value for a filter that was loaded; NULL, with a line in the log, when rc says that there is
 * none. */
value *persist_accept(redis_io *, tamis_status rc, tamis *filter);

#endif
