/* SPDX-License-Identifier: MIT */
/* shard_images.c: shards as images, in chunks, there and back. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS
#include "tamis_parts.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 1 << 20, WHOLE_BYTES = 64 << 20 };

/* After a failover the next node knows nothing of the chunks before; under writers a shard changes
 * while it is fetched. Both start again, but not forever. */
enum { MAX_TRIES = 10 };

enum { WORKERS = 8 };

/* ==== There ================================================================================= */

static bool send_chunk(const struct shards *shards, const char *key, uint64_t offset,
                       uint64_t total, const void *bytes, size_t size, char *why) {
    const struct human from = human_digits(offset), all = human_digits(total);
    const char *word[] = {"TAMIS.LOAD", key, from.text, all.text, bytes};
    const size_t len[] = {10, strlen(key), strlen(from.text), strlen(all.text), size};
    struct call call;
    if (!call_make(&call, NULL, 5, word, len)) return say_why(why, "out of memory");
    return call_alone(shards, &call, key, why);
}

static bool publish_once(const struct shards *shards, const char *key, const tamis *filter,
                         uint8_t *chunk, char *why) {
    const uint64_t total = tamis_image_size(filter);
    for (uint64_t at = 0; at < total; at += CHUNK_BYTES) {
        const size_t size = total - at < CHUNK_BYTES ? (size_t)(total - at) : CHUNK_BYTES;
        if (tamis_serialize_at(filter, at, chunk, size))
            return say_why(why, "%s: %s", key, tamis_why());
        if (!send_chunk(shards, key, at, total, chunk, size, why)) return false;
    }
    return true;
}

bool shard_publish(const struct shards *shards, const char *key, const tamis *filter, char *why) {
    uint8_t *chunk = malloc(CHUNK_BYTES);
    bool is_good = false;
    if (!chunk) snprintf(why, WHY_ROOM, "out of memory");
    for (int i = 0; chunk && !is_good && i < MAX_TRIES; i++)
        is_good = publish_once(shards, key, filter, chunk, why);
    free(chunk);
    return is_good;
}

/* ==== And back ============================================================================== */

/* One chunk: [where the next begins or 0, bytes in all, these bytes]. */
static bool ask_chunk(const struct shards *shards, const char *key, uint64_t offset, size_t count,
                      struct call *call, char *why) {
    const struct human from = human_digits(offset), max = human_digits(count);
    const char *word[] = {"TAMIS.DUMP", key, from.text, "COUNT", max.text};
    if (!call_make(call, NULL, 5, word, NULL)) return say_why(why, "out of memory");
    calls_run(shards->net, call, 1);
    const redisReply *reply = call->request.reply;
    const char *trouble = call_trouble(call);
    const bool is_chunk = !trouble && reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
                          reply->element[0]->type == REDIS_REPLY_INTEGER &&
                          reply->element[1]->type == REDIS_REPLY_INTEGER &&
                          reply->element[2]->type == REDIS_REPLY_STRING;
    if (!is_chunk)
        snprintf(why, WHY_ROOM, "%s: %s", key, trouble ? trouble : "the reply is not a chunk");
    return is_chunk;
}

/* The bytes of an image that may have changed during the fetch: then the gate refuses it. */
static uint8_t *fetch_bytes(const struct shards *shards, const char *key, size_t count,
                            size_t *size, char *why) {
    uint8_t *bytes = NULL;
    uint64_t at = 0, total = 0;
    bool is_good, is_over = false;
    do {
        struct call call = {{0}, 0, 0};
        is_good = ask_chunk(shards, key, at, count, &call, why);
        const redisReply *reply = is_good ? call.request.reply : NULL;
        if (is_good && at == 0) {
            total = (uint64_t)reply->element[1]->integer;
            bytes = total <= SIZE_MAX ? malloc((size_t)total) : NULL;
            is_good = bytes != NULL;
            if (!is_good) snprintf(why, WHY_ROOM, "out of memory");
        }
        const size_t len = is_good ? reply->element[2]->len : 0;
        if (is_good && (len > total - at || len == 0))
            is_good = say_why(why, "%s: changed while it was fetched", key);
        if (is_good) {
            memcpy(bytes + at, reply->element[2]->str, len);
            at += len;
            is_over = at == total;
        }
        call_free(&call);
    } while (is_good && !is_over);
    if (!is_good) {
        free(bytes);
        return NULL;
    }
    *size = (size_t)total;
    return bytes;
}

/* Is it the shard that it should be? */
static bool is_right(const struct shards *shards, uint64_t shard, const tamis *filter, char *why) {
    struct tamis_shard_info info = TAMIS_SHARD_INFO_INIT, model = TAMIS_SHARD_INFO_INIT;
    const bool is_shard =
        tamis_shard_get_info(filter, &info) && tamis_shard_get_info(shards->model, &model);
    if (is_shard && info.shard == shard && info.shards == shards->n &&
        info.total_blocks == model.total_blocks && strcmp(info.layout, model.layout) == 0)
        return true;
    return say_why(why, "%s belongs to another filter", shard_title(shards, shard).text);
}

bool shard_fetch(const struct shards *shards, uint64_t shard, tamis **filter, char *why) {
    const struct shard_key key = shard_key(shards, shard);
    *filter = NULL;
    for (int i = 0; i < MAX_TRIES; i++) {
        size_t size = 0;
        /* In small pieces at first; under writers in one, if it is not too large for that. */
        uint8_t *bytes =
            fetch_bytes(shards, key.text, i == 0 ? CHUNK_BYTES : WHOLE_BYTES, &size, why);
        if (!bytes) continue;
        const tamis_status status = tamis_load(filter, bytes, size);
        free(bytes);
        if (!status && is_right(shards, shard, *filter, why)) return true;
        if (status)
            snprintf(why, WHY_ROOM, "%s changed while it was fetched: %s", key.text, tamis_why());
        tamis_free(*filter);
        *filter = NULL;
        if (!status) return false;
    }
    return false;
}

bool shard_header(const struct shards *shards, uint64_t shard, uint8_t header[HEADER_BYTES],
                  bool *is_there, char *why) {
    const struct shard_key key = shard_key(shards, shard);
    struct call call = {{0}, 0, 0};
    const bool is_chunk = ask_chunk(shards, key.text, 0, HEADER_BYTES, &call, why);
    const bool is_gone = !is_chunk && is_absent(&call);
    *is_there = is_chunk && call.request.reply->element[2]->len == HEADER_BYTES;
    if (*is_there) memcpy(header, call.request.reply->element[2]->str, HEADER_BYTES);
    call_free(&call);
    return *is_there || is_gone;
}

/* ==== All of them =========================================================================== */

struct workers {
    const struct shards *shards;
    shard_work *work;
    void *with;
    uint64_t stride;
    atomic_uint_fast64_t next;
    atomic_bool has_failed;
    pthread_mutex_t lock;
    char why[WHY_ROOM];
};

/* Neighbours in the order of shards lie on one node; a stride without a common divisor goes around
 * all of them. */
static uint64_t stride_for(uint64_t n) {
    uint64_t stride = n * 618 / 1000;
    for (;; stride++) {
        uint64_t a = stride, b = n;
        while (b) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return stride;
    }
}

static void *work_along(void *with) {
    struct workers *workers = with;
    const uint64_t n = workers->shards->n;
    while (!workers->has_failed && !is_stopped()) {
        const uint64_t at = atomic_fetch_add(&workers->next, 1);
        char why[WHY_ROOM] = "";
        if (at >= n) break;
        progress_show("shards", at, n);
        if (workers->work(workers->with, at * workers->stride % n, why)) continue;
        pthread_mutex_lock(&workers->lock);
        if (!workers->has_failed) memcpy(workers->why, why, sizeof workers->why);
        workers->has_failed = true;
        pthread_mutex_unlock(&workers->lock);
    }
    return NULL;
}

int for_each_shard(const struct shards *shards, shard_work *work, void *with) {
    struct workers workers = {
        .shards = shards, .work = work, .with = with, .stride = stride_for(shards->n)};
    pthread_t thread[WORKERS];
    size_t threads = 0;
    pthread_mutex_init(&workers.lock, NULL);
    while (threads + 1 < WORKERS && threads + 1 < shards->n &&
           start_thread(&thread[threads], work_along, &workers))
        threads++;
    work_along(&workers);
    for (size_t i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    progress_wipe();
    if (workers.has_failed) return fail(shards->args, shards->name, "%s", workers.why);
    return is_stopped() ? EXIT_TROUBLE : 0;
}

int image_can_be_cut(const struct args *args, const struct image *image) {
    char spec[SPEC_ROOM];
    tamis_spec(image->filter, spec, sizeof spec);
    if (tamis_shard_spec(spec, 0, 1, NULL, 0) > 0) return 0;
    const struct tamis_info info = info_of(image->filter);
    return fail(args, input_name(image->path),
                "an image of kind %s cannot be split into shards (allowed: blocked, split)",
                info.kind);
}
#endif
