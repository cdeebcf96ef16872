/* SPDX-License-Identifier: MIT */
/* What a job is made of, and what it may do. */
#include "engines/redis/job.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- Its life -------------------------------------------------------------------------------- */

job *job_new(redis_ctx *ctx, redis_string *key, value *target) {
    job *j = try_alloc(sizeof *j);
    if (!j) {
        reply_error(ctx, "ERR Insufficient memory");
        return NULL;
    }
    memset(j, 0, sizeof *j);
    j->last_waiting = &j->waiting;
    j->key = redis.HoldString(NULL, key);
    j->db = redis.GetSelectedDb(ctx);
    if (target) j->target = value_hold(target);
    return j;
}

void job_reads(job *j, value *v) {
    j->reads[j->read_count++] = value_hold(v);
}

void job_fail(job *j, tamis_status rc) {
    j->rc = rc;
    snprintf(j->why, sizeof j->why, "%s", refusal(rc));
}

void job_hold(job *j, redis_string **strings, size_t count) {
    j->held = redis.Alloc(count * sizeof *j->held);
    j->held_count = count;
    for (size_t i = 0; i < count; i++) j->held[i] = redis.HoldString(NULL, strings[i]);
}

/* Strings are the server's: only under its lock. */
void job_free_strings(job *j) {
    if (j->clean) j->clean(j);
    redis.FreeString(NULL, j->key);
}

/* At most so many of those that are held. */
void job_release(job *j, size_t max) {
    while (j->held_count && max--) redis.FreeString(NULL, j->held[--j->held_count]);
}

/* Filters are large, and giving their memory back takes milliseconds: without the lock. */
void job_free_filters(job *j) {
    for (int i = 0; i < j->read_count; i++) value_release(j->reads[i]);
    if (j->target) value_release(j->target);
    filter_release(j->replaced);
    redis.Free(j->held);
    redis.Free(j);
}

void job_drop(job *j) {
    job_free_strings(j);
    job_release(j, SIZE_MAX);
    job_free_filters(j);
}

job *job_follow(redis_ctx *ctx, job *done, value *target) {
    job *j = job_new(ctx, done->key, target);
    if (!j) return NULL;
    j->task = done->task, done->task = NULL;
    j->clean = done->clean, done->clean = NULL;
    j->held = done->held, done->held = NULL;
    j->held_count = done->held_count, done->held_count = 0;
    return j;
}

/* ---- For end() and step() -------------------------------------------------------------------- */

bool is_read_only(redis_ctx *ctx) {
    return redis.GetContextFlags(ctx) & REDIS_IS_READ_ONLY;
}

int reply_read_only(redis_ctx *ctx) {
    return redis.ReplyWithError(ctx, "READONLY You can't write against a read only replica.");
}

/* A server that became a replica while the job was made has another primary's data to keep. */
bool job_place(redis_ctx *ctx, job *j, place *p) {
    if (j->client && !j->is_told && is_read_only(ctx)) {
        reply_read_only(ctx);
        return false;
    }
    if (job_finds(ctx, j, p)) return true;
    reply_error(ctx, "ERR the key changed during the operation");
    return false;
}

bool job_lands(redis_ctx *ctx, job *j, place *p) {
    if (j->rc)
        reply_error(ctx, "ERR %s", j->why);
    else if (job_place(ctx, j, p))
        return true;
    else
        tamis_free(j->result);
    return false;
}

void job_replace(job *j) {
    j->replaced = value_swap(j->target, j->result);
}

bool job_finds(redis_ctx *ctx, const job *j, place *p) {
    *p = place_open(ctx, j->key, REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    if (!p->is_wrong && p->value == j->target) return true;
    place_close(p);
    return false;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

enum { STEP_NS = 2000000 };

moment moment_begin(void) {
    return (moment){now_ns() + STEP_NS};
}

bool moment_is_over(const moment *m) {
    return now_ns() >= m->ends_ns;
}
