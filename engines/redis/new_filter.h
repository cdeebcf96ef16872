/* SPDX-License-Identifier: MIT */
/* The module's files may include this: making filters, for TAMIS.CREATE and for the other families.
 *
 * A creation is replicated as what came of it, TAMIS.CREATE with the whole spec, the secret and the
 * notes: neither another server's settings nor another secret gets in between. */
#ifndef TAMIS_REDIS_NEW_FILTER_H
#define TAMIS_REDIS_NEW_FILTER_H

#include "engines/redis/settings.h"
#include "engines/redis/work.h"

enum { MAX_SPEC = 1024, MAX_NOTES = 16 };

/* What is to be made. */
typedef struct creation {
    char spec[MAX_SPEC];
    uint8_t secret[SECRET_BYTES];
    bool has_secret, has_servers_secret;
    redis_string *name[MAX_NOTES], *value[MAX_NOTES];
    int notes;
    uint64_t bytes;    /* of its payload */
    const char *event; /* for those who listen to keys */

    /* What to do next: NULL replies OK. */
    int (*then)(request *);
    bool may_join;       /* a filter that another client has put there in the meantime will do */
    const char *failure; /* what the error begins with; NULL: only the reason */
} creation;

/* Works a spec out: a hash that is not named is keyed by the server's secret, unless the settings
 * say otherwise or the kind hashes by itself. TAMIS_INVALID and the like, with the sentence in
 * tamis_why. */
tamis_status creation_plan(creation *, const char *spec, size_t len);

/* Adds a note; false when there are too many. */
bool creation_note(creation *, redis_string *name, redis_string *value);
bool creation_note_text(creation *, const char *name, const char *text);

/* Adds the note of a family; false when there are too many. */
bool creation_facts(creation *, const facts *);
void creation_free(creation *);

/* Makes it for a key where nothing is, on the worker when it is large, replicates it, and goes on.
 * The creation is gone afterwards. */
int creation_do(request *, creation *);

#endif
