/* SPDX-License-Identifier: MIT */
/* Images that go out in chunks. */
#include "engines/redis/chunk_dump.h"

#include <string.h>

#include "engines/redis/work.h"

typedef struct dump {
    chunk chunk;
    uint8_t bytes[];
} dump;

static void cut(job *j) {
    dump *d = j->task;
    const chunk *c = &d->chunk;
    memcpy(d->bytes, c->prefix, c->prefix_bytes);
    const tamis_status rc =
        tamis_serialize_at(j->target->filter, c->at, d->bytes + c->prefix_bytes, c->size);
    if (rc) job_fail(j, rc);
}

static void send(job *j) {
    const dump *d = j->task;
    const chunk *c = &d->chunk;
    redis_ctx *ctx = j->request->ctx;
    if (j->rc) {
        reply_error(ctx, "ERR %s", j->why);
        return;
    }
    redis.ReplyWithArray(ctx, c->total ? 3 : 2);
    redis.ReplyWithLongLong(ctx, (long long)c->next);
    if (c->total) redis.ReplyWithLongLong(ctx, (long long)c->total);
    redis.ReplyWithStringBuffer(ctx, (const char *)d->bytes, c->prefix_bytes + c->size);
}

int chunk_dump(request *r, const chunk *c) {
    const uint64_t total = tamis_image_size(r->value->filter);
    job *j = job_new(r, r->value, sizeof(dump) + c->prefix_bytes + c->size);
    if (!j) return REDIS_OK;
    ((dump *)j->task)->chunk = *c;
    j->make = cut, j->end = send, j->only_tells = true;
    return job_do(j, c->at < IMAGE_HEADER ? total : c->size);
}

int reply_chunk(request *r, uint64_t next, const void *bytes, size_t size) {
    redis.ReplyWithArray(r->ctx, 2);
    redis.ReplyWithLongLong(r->ctx, (long long)next);
    return redis.ReplyWithStringBuffer(r->ctx, bytes, size);
}
