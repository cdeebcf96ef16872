/* SPDX-License-Identifier: MIT */
/* The module's files may include this: what CONFIG SET and load arguments decide. */
#ifndef TAMIS_REDIS_SETTINGS_H
#define TAMIS_REDIS_SETTINGS_H

#include <stdbool.h>

#include "engines/redis/api.h"

/* What new filters of a family are. */
enum { KIND_TAMIS, KIND_ORIGIN };
/* How their keys are hashed. */
enum { HASH_KEYED, HASH_PLAIN };
enum { SECRET_BYTES = 16 };

extern struct settings {
    double bf_error_rate;
    long long bf_initial_size, bf_expansion_factor;
    long long cf_bucket_size, cf_initial_size, cf_max_iterations, cf_expansion_factor;
    long long cf_max_expansions;
    long long max_filter_bytes; /* of a payload */
    int bf_kind, cf_kind, cms_kind;
    int hash;
} settings;

/* Presets, then what the server has configured, then the arguments of MODULE LOAD; REDIS_ERR with a
 * line in the log when one of them is not allowed. */
int settings_start(redis_ctx *, redis_string **argv, int argc);

/* The secret of new filters: the same for all of a server, so that they can be merged. A setting
 * tells it; otherwise it is drawn when the server starts. */
const uint8_t *settings_secret(void);

/* The server's own file, its append-only file or its primary has this secret: it goes on with it,
 * unless a setting tells one. Never to be called for what a client sent, nor for a filter, which
 * anybody may have made: whoever knows the secret chooses items that collide. */
void settings_adopt_secret(const uint8_t secret[SECRET_BYTES]);

#endif
