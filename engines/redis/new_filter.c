/* SPDX-License-Identifier: MIT */
/* Making filters. */
#include "engines/redis/new_filter.h"

#include <stdio.h>
#include <string.h>

#include "engines/redis/server_secret.h"

/* ---- What is to be made ---------------------------------------------------------------------- */

static const char keyed[] = "hash=sip13", plain[] = "hash=xxh3";

/* A colon after the kind, a comma after anything else. */
static const char *joint(const char *spec) {
    return strchr(spec, ':') || strchr(spec, '=') ? "," : ":";
}

tamis_status creation_plan(creation *c, const char *spec, size_t len) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    char text[MAX_SPEC - sizeof keyed];
    if (len >= sizeof text || memchr(spec, 0, len)) len = 0;
    snprintf(text, sizeof text, "%.*s", (int)len, spec);
    const tamis_status rc = tamis_plan_spec(text, &plan);
    if (rc) return rc;
    const bool is_told = strstr(text, "hash=") || plan.abilities & TAMIS_OWN_HASH;
    const bool is_keyed = is_told ? strstr(text, keyed) != NULL : settings.hash == HASH_KEYED;
    /* Said in full: another server has other settings. */
    snprintf(c->spec, sizeof c->spec, "%s%s%s", text, is_told ? "" : joint(text),
             is_told    ? ""
             : is_keyed ? keyed
                        : plain);
    c->bytes = plan.payload_bytes;
    if (is_keyed && !c->has_secret) {
        memcpy(c->secret, settings_secret(), SECRET_BYTES);
        c->has_secret = c->has_servers_secret = true;
    }
    return TAMIS_OK;
}

bool creation_note(creation *c, redis_string *name, redis_string *text) {
    if (c->notes == MAX_NOTES) return false;
    c->name[c->notes] = redis.HoldString(NULL, name);
    c->value[c->notes++] = redis.HoldString(NULL, text);
    return true;
}

bool creation_note_text(creation *c, const char *name, const char *text) {
    redis_string *strings[] = {redis.CreateString(NULL, name, strlen(name)),
                               redis.CreateString(NULL, text, strlen(text))};
    const bool has_room = creation_note(c, strings[0], strings[1]);
    for (int i = 0; i < 2; i++) redis.FreeString(NULL, strings[i]);
    return has_room;
}

bool creation_facts(creation *c, const facts *f) {
    char text[MAX_FACTS];
    facts_write(f, text);
    return creation_note_text(c, "redis", text);
}

void creation_free(creation *c) {
    for (int i = 0; i < c->notes; i++) {
        redis.FreeString(NULL, c->name[i]);
        redis.FreeString(NULL, c->value[i]);
    }
    c->notes = 0;
    memset(c->secret, 0, sizeof c->secret);
}

/* ---- Making it ------------------------------------------------------------------------------- */

static tamis_status make_filter(const creation *c, tamis **filter) {
    const struct tamis_options options = value_options(c->has_secret ? c->secret : NULL);
    tamis_status rc = tamis_create_with(filter, c->spec, &options);
    for (int i = 0; i < c->notes && !rc; i++) {
        rc = tamis_set_note(*filter, redis.StringPtrLen(c->name[i], NULL),
                            redis.StringPtrLen(c->value[i], NULL));
        if (rc) tamis_free(*filter);
    }
    return rc;
}

/* With the digits that came: what tamis_spec tells of a rate has fewer. */
static void replicate(request *r, const creation *c) {
    redis_ctx *ctx = r->ctx;
    redis_string *notes[3 * MAX_NOTES], *word = redis.CreateString(NULL, "NOTE", 4);
    for (int i = 0; i < c->notes; i++) {
        notes[3 * i] = word;
        notes[3 * i + 1] = c->name[i];
        notes[3 * i + 2] = c->value[i];
    }
    if (c->has_servers_secret) secret_note(ctx);
    if (c->has_secret)
        redis.Replicate(ctx, "TAMIS.CREATE", "sccbv", r->key, c->spec, "SECRET",
                        (const char *)c->secret, (size_t)SECRET_BYTES, notes,
                        (size_t)(3 * c->notes));
    else
        redis.Replicate(ctx, "TAMIS.CREATE", "scv", r->key, c->spec, notes, (size_t)(3 * c->notes));
    redis.FreeString(NULL, word);
}

static void make(job *j) {
    const tamis_status rc = make_filter(j->task, &j->result);
    if (rc) job_fail(j, rc);
}

/* Puts it in place; false, with the error replied, when that does not go. */
static bool put(job *j) {
    request *r = j->request;
    const creation *c = j->task;
    if (!request_put(r, j->result)) return false;
    r->is_verbatim = false;
    replicate(r, c);
    request_notify(r, c->event);
    return true;
}

/* Has another client put something there first? */
static bool joins(job *j) {
    request *r = j->request;
    request_open(r, REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    const bool is_late = r->value || r->is_wrong;
    if (is_late) tamis_free(j->result);
    return is_late;
}

static void end(job *j) {
    request *r = j->request;
    const creation *c = j->task;
    if (j->rc && c->failure)
        reply_error(r->ctx, "%s: %s", c->failure, j->why);
    else if ((!j->rc && c->may_join && joins(j)) || (job_lands(j) && put(j)))
        c->then(r);
}

static int reply_made(request *r) {
    return reply_ok(r->ctx);
}

static void clean(void *task) {
    creation_free(task);
}

int creation_do(request *r, creation *c) {
    job *j = job_new(r, NULL, sizeof *c);
    if (!j) {
        creation_free(c);
        return REDIS_OK;
    }
    creation *kept = j->task;
    *kept = *c;
    if (!kept->then) kept->then = reply_made;
    j->make = make, j->end = end, j->clean = clean;
    return job_do(j, c->bytes);
}
