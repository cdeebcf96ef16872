/* SPDX-License-Identifier: MIT */
/* The module's files may include this: how the server's secret goes where its data set goes.
 *
 * RDB files and full syncs have it before the first key; an append-only file without such a
 * beginning has it as TAMIS.ADOPT. No filter tells it: a client may have made that, or restored
 * it. */
#ifndef TAMIS_REDIS_SERVER_SECRET_H
#define TAMIS_REDIS_SERVER_SECRET_H

#include "engines/redis/api.h"

/* For the methods of our own type. */
void secret_save(redis_io *, int when);
int secret_load(redis_io *, int encoding, int when);

/* A filter with the server's secret is made: the append-only file has to know it before. */
void secret_note(redis_ctx *);

/* The same for a file that is rewritten, of which this is a value. */
void secret_rewrite(redis_io *);

#endif
