/* SPDX-License-Identifier: MIT */
/* cluster_pack.c: keys on their way to their shards.
 *
 *     batches of hashes --sorted by shard--> a parcel for each shard --full, or due--> its node
 *
 * A parcel is one command with up to 16,384 hashes. It is sent when it is full; a question also
 * when its node has little else to do, so that a few lines are answered at once while a flood
 * travels in large parcels. Memory is a fixed number of parcels: a caller with more keys waits
 * until some are free again.
 */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS
#include "tamis_parts.h"

#include <stdarg.h>
#include <stdlib.h>

/* Parcels that are being filled have this much memory together, and each at least this many
 * hashes. */
enum { OPEN_BYTES = 64 << 20, MIN_HASHES = 256 };

/* What is not confirmed yet, unless --memory says another size. */
static const uint64_t usual_memory = (uint64_t)256 << 20;

/* A node with fewer requests than this has time for a parcel that is not full. */
enum { FEW_REQUESTS = 4 };

/* So long, in milliseconds, keys wait for others to fill their parcel. */
enum { LONGEST_OPEN = 200 };

/* A shard that did not answer is asked again after this time, and then has to be quick. */
enum { SILENT_PAUSE = 1000, SILENT_PATIENCE = 500 };

/* ==== Parcels =============================================================================== */

static size_t parcel_bytes(const struct packer *packer) {
    return sizeof(struct parcel) + packer->room * sizeof(uint64_t) + 2;
}

static struct parcel *parcel_new(struct packer *packer) {
    struct parcel *parcel = parcel_take(&packer->free);
    if (!parcel) {
        if (!list_grow(&packer->all, &packer->all_room, packer->all_count + 1,
                       sizeof(struct parcel *)))
            return NULL;
        parcel = malloc(parcel_bytes(packer));
        if (!parcel) return NULL;
        packer->all[packer->all_count++] = parcel;
    }
    packer->in_use++;
    parcel->packer = packer;
    parcel->n = parcel->pieces = 0;
    parcel->is_acknowledged = false;
    return parcel;
}

void parcel_free(struct packer *packer, struct parcel *parcel) {
    queue_push(&packer->free, &parcel->request);
    packer->in_use--;
    pthread_cond_broadcast(&packer->has_room);
}

void packer_fail(struct packer *packer, const char *format, ...) {
    va_list words;
    if (packer->has_failed) return;
    packer->has_failed = true;
    va_start(words, format);
    vsnprintf(packer->trouble, sizeof packer->trouble, format, words);
    va_end(words);
    pthread_cond_broadcast(&packer->has_room);
}

/* ==== Answers =============================================================================== */

static void note_time(struct packer *packer, const struct request *request) {
    const int64_t took = request->ended - request->started;
    if (request->started > 0 && took > packer->longest) packer->longest = took;
}

static void fail_parcel(struct packer *packer, const struct parcel *parcel) {
    const redisReply *reply = parcel->request.reply;
    const struct shard_title title = shard_title(packer->shards, parcel->shard);
    if (!reply)
        packer_fail(packer, "%s cannot be reached: %s", title.text, parcel->request.trouble);
    else if (is_refusal(reply, "NOFILTER"))
        packer_fail(packer, "%s is missing on %s; see \"tamis cluster repair\"", title.text,
                    parcel->request.from->name);
    else
        packer_fail(packer, "%s on %s: %s", title.text,
                    parcel->request.from ? parcel->request.from->name : "?",
                    reply->type == REDIS_REPLY_ERROR ? reply->str : "unexpected reply");
}

static void add_done(struct request *request) {
    struct parcel *parcel = (struct parcel *)request;
    struct packer *packer = parcel->packer;
    redisReply *reply = request->reply;
    if (!reply || reply->type != REDIS_REPLY_INTEGER) {
        fail_parcel(packer, parcel);
        if (reply) freeReplyObject(reply);
        parcel_free(packer, parcel);
        return;
    }
    freeReplyObject(reply);
    note_time(packer, request);
    if (!parcel->is_acknowledged) packer->acknowledged += parcel->n;
    parcel->is_acknowledged = true;
    confirm_keep(packer, request->from, parcel);
}

static void give_answers(struct parcel *parcel, const uint8_t *bits) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < parcel->pieces; i++) {
        const struct piece *piece = &parcel->piece[i];
        uint8_t *hit = piece->asking->batch->hit;
        for (uint32_t j = 0; j < piece->n; j++, at++)
            hit[piece->index[j]] = bits ? bits[at / 8] >> at % 8 & 1 : 1;
        piece->asking->left -= piece->n;
        if (piece->asking->left == 0) pthread_cond_signal(&piece->asking->is_done);
    }
}

/* Nobody knows: then every answer is maybe. */
static void ask_in_vain(struct packer *packer, struct parcel *parcel) {
    struct shard_state *state = &packer->shard[parcel->shard];
    state->silent_till = now_ms() + SILENT_PAUSE;
    state->was_silent = true;
    state->maybes += parcel->n;
    packer->maybes += parcel->n;
    give_answers(parcel, NULL);
}

static void ask_done(struct request *request) {
    struct parcel *parcel = (struct parcel *)request;
    struct packer *packer = parcel->packer;
    redisReply *reply = request->reply;
    if (!reply) {
        ask_in_vain(packer, parcel);
    } else if (reply->type == REDIS_REPLY_STRING && reply->len >= (parcel->n + 7) / 8) {
        packer->shard[parcel->shard].was_silent = false;
        packer->shard[parcel->shard].silent_till = 0;
        packer->acknowledged += parcel->n;
        note_time(packer, request);
        give_answers(parcel, (const uint8_t *)reply->str);
    } else {
        fail_parcel(packer, parcel);
        give_answers(parcel, NULL);
    }
    if (reply) freeReplyObject(reply);
    parcel_free(packer, parcel);
}

/* ==== Sending =============================================================================== */

void parcel_send(struct packer *packer, struct parcel *parcel) {
    const struct shard_state *state = &packer->shard[parcel->shard];
    const struct shard_key key = shard_key(packer->shards, parcel->shard);
    const size_t size = (size_t)parcel->n * sizeof(uint64_t);
    char head[HEAD_ROOM];
    const int len = snprintf(head, sizeof head, "*3\r\n$10\r\n%s\r\n$%zu\r\n%s\r\n$%zu\r\n",
                             packer->command, strlen(key.text), key.text, size);
    char *start = (char *)parcel->hash - len;
    memcpy(start, head, (size_t)len);
    memcpy((char *)parcel->hash + size, "\r\n", 2);
    parcel->request = (struct request){
        .slot = (int)slot_of_shard(parcel->shard, packer->shards->n),
        .bytes = start,
        .len = (size_t)len + size + 2,
        .patience = state->was_silent ? SILENT_PATIENCE : 0,
        .done = packer->adds ? add_done : ask_done,
    };
    net_route(packer->net, &parcel->request, now_ms());
}

static void seal(struct packer *packer, struct shard_state *state) {
    struct parcel *parcel = state->open;
    state->open = NULL;
    packer->parcels++;
    if (!packer->adds && now_ms() < state->silent_till) {
        ask_in_vain(packer, parcel);
        parcel_free(packer, parcel);
    } else {
        parcel_send(packer, parcel);
    }
}

static bool is_due(const struct packer *packer, const struct shard_state *state, int64_t now) {
    const uint64_t shard = (uint64_t)(state - packer->shard);
    const struct node *node = packer->net->owner[slot_of_shard(shard, packer->shards->n)];
    const bool is_idle = !node || node->waiting.n + node->sent.n < FEW_REQUESTS;
    if (packer->is_flushing) return true;
    return is_idle && (!packer->adds || now - state->open->opened >= LONGEST_OPEN);
}

static void list_open(struct packer *packer, struct shard_state *state) {
    if (state->is_listed) return;
    state->is_listed = true;
    state->next_open = NULL;
    if (packer->open_last)
        packer->open_last->next_open = state;
    else
        packer->open_first = state;
    packer->open_last = state;
}

static void seal_due(struct packer *packer, int64_t now) {
    struct shard_state *state = packer->open_first, *next;
    packer->open_first = packer->open_last = NULL;
    for (; state; state = next) {
        next = state->next_open;
        state->is_listed = false;
        if (state->open && is_due(packer, state, now)) seal(packer, state);
        if (state->open) list_open(packer, state);
    }
}

/* ==== Filling =============================================================================== */

static struct parcel *open_parcel(struct packer *packer, uint32_t shard) {
    struct shard_state *state = &packer->shard[shard];
    if (state->open) return state->open;
    while (packer->in_use >= packer->max && !packer->has_failed) {
        net_wake(packer->net);
        pthread_cond_wait(&packer->has_room, &packer->net->lock);
        if (state->open) return state->open; /* Somebody else was faster. */
    }
    struct parcel *parcel = packer->has_failed ? NULL : parcel_new(packer);
    if (!parcel) {
        packer_fail(packer, "out of memory");
        return NULL;
    }
    parcel->shard = shard;
    parcel->opened = now_ms();
    state->open = parcel;
    list_open(packer, state);
    return parcel;
}

/* Hashes of one shard, those at index[0], index[1], ... */
static bool put_run(struct packer *packer, struct asking *asking, uint32_t shard,
                    const uint64_t *hash, const uint32_t *index, size_t n) {
    while (n > 0) {
        struct parcel *parcel = open_parcel(packer, shard);
        if (!parcel) return false;
        const size_t left = packer->room - parcel->n, some = n < left ? n : left;
        for (size_t i = 0; i < some; i++)
            put_number((uint8_t *)&parcel->hash[parcel->n + i], 8, hash[index[i]]);
        parcel->n += (uint32_t)some;
        if (asking) {
            parcel->piece[parcel->pieces++] = (struct piece){asking, index, (uint32_t)some};
            asking->left += some;
        }
        index += some;
        n -= some;
        if (parcel->n == packer->room || parcel->pieces == MAX_ASKERS)
            seal(packer, &packer->shard[shard]);
    }
    return true;
}

/* A batch in the order of its shards: those of shard s are at order[start[s]] to before
 * order[start[s + 1]]. Lines without a key are left out. */
struct sorted {
    uint32_t *shard, *order, *start;
};

static bool sort_batch(const struct packer *packer, const struct batch *batch,
                       struct sorted *sorted) {
    const uint64_t shards = packer->shards->n;
    uint32_t *room = calloc(2 * batch->n + shards + 2, sizeof *room);
    if (!room) return false;
    *sorted = (struct sorted){room, room + batch->n, room + 2 * batch->n};
    tamis_shards_of(packer->shards->model, batch->hash, batch->n, sorted->shard);
    for (size_t i = 0; i < batch->n; i++)
        if (batch->key[i].bytes) sorted->start[sorted->shard[i] + 2]++;
    for (uint64_t s = 2; s < shards + 2; s++) sorted->start[s] += sorted->start[s - 1];
    for (size_t i = 0; i < batch->n; i++)
        if (batch->key[i].bytes) sorted->order[sorted->start[sorted->shard[i] + 1]++] = (uint32_t)i;
    return true;
}

/* What asks, if anything does, waits for its answers. */
static bool put_batch(struct packer *packer, struct asking *asking, const struct batch *batch) {
    struct sorted sorted = {0};
    const bool is_sorted = sort_batch(packer, batch, &sorted);
    net_lock(packer->net);
    if (!is_sorted) packer_fail(packer, "out of memory");
    bool is_good = !packer->has_failed;
    for (uint32_t s = 0; s < packer->shards->n && is_good; s++) {
        const uint32_t first = sorted.start[s], n = sorted.start[s + 1] - first;
        if (n > 0) is_good = put_run(packer, asking, s, batch->hash, sorted.order + first, n);
    }
    net_wake(packer->net);
    /* Also after a failure: parcels on their way know where this batch is. */
    while (asking && asking->left > 0) pthread_cond_wait(&asking->is_done, &packer->net->lock);
    is_good = !packer->has_failed;
    net_unlock(packer->net);
    free(sorted.shard);
    return is_good;
}

void packer_add(struct packer *packer, struct batch *batch) {
    (void)put_batch(packer, NULL, batch);
}

bool packer_ask(struct packer *packer, struct batch *batch) {
    struct asking asking = {.batch = batch};
    pthread_cond_init(&asking.is_done, NULL);
    const bool is_good = put_batch(packer, &asking, batch);
    pthread_cond_destroy(&asking.is_done);
    return is_good;
}

bool packer_flush(struct packer *packer) {
    net_lock(packer->net);
    packer->is_flushing = true;
    net_wake(packer->net);
    while (packer->in_use > 0 && !packer->has_failed)
        pthread_cond_wait(&packer->has_room, &packer->net->lock);
    const bool is_good = !packer->has_failed;
    net_unlock(packer->net);
    return is_good;
}

/* ==== The whole ============================================================================= */

static int64_t packer_tick(void *with, int64_t now) {
    struct packer *packer = with;
    seal_due(packer, now);
    const int64_t next = confirm_tick(packer, now);
    return packer->open_first && now + LONGEST_OPEN < next ? now + LONGEST_OPEN : next;
}

int packer_open(struct packer *packer, const struct shards *shards, bool adds) {
    const struct args *args = shards->args;
    const uint64_t memory =
        given(args, OPT_MEMORY) ? args->setting[OPT_MEMORY].number : usual_memory;
    size_t room = OPEN_BYTES / sizeof(uint64_t) / (size_t)shards->n;
    if (room > PARCEL_HASHES) room = PARCEL_HASHES;
    if (room < MIN_HASHES) room = MIN_HASHES;
    *packer = (struct packer){.shards = shards,
                              .net = shards->net,
                              .command = adds ? "TAMIS.HADD" : "TAMIS.HHAS",
                              .adds = adds,
                              .room = room};
    pthread_cond_init(&packer->has_room, NULL);
    packer->max = (size_t)(memory / parcel_bytes(packer));
    /* Every shard may have one that is being filled, and then some must be on their way. */
    if (packer->max < 2 * shards->n + 2) packer->max = (size_t)(2 * shards->n + 2);
    packer->shard = calloc((size_t)shards->n, sizeof *packer->shard);
    if (!packer->shard) return fail_memory(args);
    const struct hooks hooks = {.tick = packer_tick, .lost = confirm_lost, .with = packer};
    net_hook(packer->net, &hooks);
    return 0;
}

void packer_close(struct packer *packer) {
    for (size_t i = 0; i < packer->all_count; i++) free(packer->all[i]);
    free(packer->all);
    free(packer->shard);
    *packer = (struct packer){0};
}
#endif
