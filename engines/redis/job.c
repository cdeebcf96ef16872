/* SPDX-License-Identifier: MIT */
/* Jobs: their life, and what end() and step() call. */
#include "engines/redis/job.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- Its life -------------------------------------------------------------------------------- */

job *job_new(request *r, value *target, size_t task_bytes) {
    job *j = reply_alloc(r->ctx, sizeof *j);
    void *task = j && task_bytes ? reply_alloc(r->ctx, task_bytes) : NULL;
    if (!j || (task_bytes && !task)) {
        redis.Free(j);
        return NULL;
    }
    memset(j, 0, sizeof *j);
    j->last_waiting = &j->waiting;
    j->request = r;
    j->task = task;
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

bool job_copy_target(job *j) {
    const tamis_status rc = tamis_copy(&j->result, j->target->filter);
    if (rc) job_fail(j, rc);
    return !rc;
}

/* What tasks hold may be strings, which are the server's: only under its lock. */
void job_free_task(job *j) {
    if (j->clean) j->clean(j->task);
    redis.Free(j->task);
}

/* At most `max` of those that are held. */
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
    job_free_task(j);
    job_release(j, SIZE_MAX);
    job_free_filters(j);
}

job *job_follow(job *done, value *target) {
    job *j = job_new(done->request, target, 0);
    if (!j) return NULL;
    j->task = done->task, done->task = NULL;
    j->clean = done->clean, done->clean = NULL;
    j->held = done->held, done->held = NULL;
    j->held_count = done->held_count, done->held_count = 0;
    return j;
}

/* ---- For end() and step() -------------------------------------------------------------------- */

bool job_is_awaited(const job *j) {
    return j->request == &j->kept && j->kept.client;
}

/* A server that became a replica while the job was made has another primary's data to keep. */
bool job_place(job *j) {
    redis_ctx *ctx = j->request->ctx;
    if (job_is_awaited(j) && !j->request->is_told && is_read_only(ctx)) {
        reply_read_only(ctx);
        return false;
    }
    if (job_finds(j)) return true;
    reply_error(ctx, "ERR the key changed during the operation");
    return false;
}

bool job_lands(job *j) {
    if (j->rc)
        reply_error(j->request->ctx, "ERR %s", j->why);
    else if (job_place(j))
        return true;
    else
        tamis_free(j->result);
    return false;
}

void job_replace(job *j) {
    j->replaced = value_swap(j->target, j->result);
}

bool job_finds(job *j) {
    request *r = j->request;
    request_open(r, REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    if (!r->is_wrong && r->value == j->target) return true;
    request_close(r);
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
