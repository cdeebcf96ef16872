/* SPDX-License-Identifier: MIT */
/* The module's files may include this: what the server does with values of our own type, and of
 * those of RedisBloom. */
#ifndef TAMIS_REDIS_PERSIST_H
#define TAMIS_REDIS_PERSIST_H

#include "engines/redis/value.h"

/* The encodings that we write; RedisBloom writes the others, and for sketches always this one. */
enum { PERSIST_ENCODING = 1, BLOOM_ENCODING = 4, CUCKOO_ENCODING = 4, ORIGIN_CMS_ENCODING = 0 };

redis_methods persist_own_methods(void);
redis_methods origin_bloom_methods(void);   /* MBbloom-- */
redis_methods persist_cuckoo_methods(void); /* MBbloomCF */
redis_methods origin_cms_methods(void);     /* CMSk-TYPE */

/* ---- For the files of RedisBloom's types ----------------------------------------------------- */

/* Reads a value by `read`; limits bind it when a client restores it, and at no other time. */
void *persist_load(redis_io *, int encoding, void *(*read)(redis_io *, int));

/* What is the same for all of them: all but loading and saving. */
redis_methods persist_origin_methods(void *(*load)(redis_io *, int),
                                     void (*save)(redis_io *, void *));

/* A value for a filter that was loaded; NULL, with a line in the log, when rc says that there is
 * none. */
value *persist_accept(redis_io *, tamis_status rc, tamis *filter);

/* The same for bytes in a format of RedisBloom. */
value *persist_import(redis_io *, const char *format, const void *bytes, uint64_t size);

#endif
