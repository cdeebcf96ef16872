/* SPDX-License-Identifier: MIT */
/* The module's files may include this: replies in both protocols, and keys as they are opened. */
#ifndef TAMIS_REDIS_REPLY_H
#define TAMIS_REDIS_REPLY_H

#include <stdbool.h>

#include "engines/redis/value.h"

#define WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* 1 or 0, true or false; pairs of name and value. */
int reply_bool(redis_ctx *, bool);
int reply_map(redis_ctx *, long pairs);
int reply_text(redis_ctx *, const char *);
int reply_ok(redis_ctx *);

/* One sentence, with its code in front ("ERR ..."). */
int reply_error(redis_ctx *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a call of the library refused, in its own words. */
int reply_refusal(redis_ctx *, tamis_status);
const char *refusal(tamis_status);

/* ---- Keys ------------------------------------------------------------------------------------ */

/* A key that was opened, and what stands there. */
typedef struct place {
    redis_key *key;
    value *value;  /* NULL when there is nothing, or something else */
    bool is_wrong; /* it is something else, or of another family */
} place;

place place_open(redis_ctx *, redis_string *name, int mode, family);
void place_close(place *);

/* Replies why a key that has something has no filter to use: another type, or one that is still on
 * its way. False, and nothing replied, when the key has nothing. */
bool reply_why_no_filter(redis_ctx *, const place *);

/* The filter of a key that must be there, for TAMIS.*: NULL when it is not, which has been
 * replied. */
tamis *place_filter(redis_ctx *, place *, redis_string *name);

/* Puts a value there, in place of whatever was, under the type that it has. */
void place_set(place *, value *);

/* Puts a value that stands there under the type that it has now; when it leaves stays as it was. */
void place_retype(place *, value *);

/* An argument as the bytes that it is. */
struct tamis_key key_of(const redis_string *);

#endif
