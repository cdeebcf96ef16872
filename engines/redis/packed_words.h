/* SPDX-License-Identifier: MIT */
/* The module's files may include this: very many arguments of a command as one.
 *
 * A server writes arguments down for its replicas one after the other, and they read them so, while
 * everybody waits: 300,000 of them take 20 to 120 ms. Packed they are a single one,
 *
 *     TAMIS.WORDS key command packed    packed: each word's length (u32, little-endian) and bytes
 *
 * which the worker packs here and unpacks there. */
#ifndef TAMIS_REDIS_PACKED_WORDS_H
#define TAMIS_REDIS_PACKED_WORDS_H

#include "engines/redis/work.h"

/* NULL when there is no memory, or when they are larger than an argument should be. Free by
 * redis.Free. Any thread. */
char *words_pack(redis_string *const *word, size_t count, size_t *size);

/* A command on one key that changes it, by its name; NULL: there is none. */
const command *words_command(const redis_string *name);

#endif
