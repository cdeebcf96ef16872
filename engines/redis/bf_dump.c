/* SPDX-License-Identifier: MIT */
/* BF.SCANDUMP, BF.LOADCHUNK and BF.LOAD: filters in chunks.
 *
 * The first chunk is the header, under the iterator 1; every other has as iterator one more than
 * the bytes of all chunks behind the header up to its end. Of RedisBloom's own filters chunks are
 * those that RedisBloom tells, only smaller; of ours they are parts of the image. Chunks that come
 * are kept until all are there, and pass the gate as a whole (chunk_load.h). */
#include <math.h>
#include <string.h>

#include "engines/redis/bf.h"
#include "engines/redis/chunk_load.h"
#include "engines/redis/commands.h"
#include "engines/redis/origin_bloom.h"

enum { IMAGE_CHUNK = 1 << 20, IMAGE_HEADER = 192 };

/* ---- Where chunks lie ------------------------------------------------------------------------ */

/* What lies behind a header: the bits of links, or all the rest of an image, taken as one link. */
typedef struct layout {
    const uint8_t *origin; /* the header of RedisBloom; NULL: an image */
    uint64_t header, total;
} layout;

static layout layout_of_filter(const tamis *filter) {
    const uint8_t *payload = bloom_payload(filter);
    if (!payload) return (layout){NULL, IMAGE_HEADER, tamis_image_size(filter)};
    const bloom_header h = bloom_header_at(payload);
    layout l = {payload, bloom_bits_from(h.links), bloom_bits_from(h.links)};
    for (uint64_t i = 0; i < h.links; i++) l.total += bloom_link_at(payload, i).bytes;
    return l;
}

/* How many bytes of its link there are from `at` on, which counts from the end of the header; 0
 * when it is in none. */
static uint64_t left_in_link(const layout *l, uint64_t at) {
    uint64_t before = 0;
    if (at >= l->total - l->header) return 0;
    if (!l->origin) return l->total - l->header - at;
    for (uint64_t i = 0;; i++) {
        before += bloom_link_at(l->origin, i).bytes;
        if (at < before) return before - at;
    }
}

/* ---- BF.SCANDUMP key iterator ---------------------------------------------------------------- */

typedef struct chunk {
    uint64_t next, at;
    size_t size;
    char bytes[];
} chunk;

static void reply_chunk(redis_ctx *ctx, uint64_t next, const void *bytes, size_t size) {
    redis.ReplyWithArray(ctx, 2);
    redis.ReplyWithLongLong(ctx, (long long)next);
    redis.ReplyWithStringBuffer(ctx, bytes, size);
}

static void cut(job *j) {
    chunk *c = j->task;
    const tamis_status rc = tamis_serialize_at(j->target->filter, c->at, c->bytes, c->size);
    if (rc) job_fail(j, rc);
}

static void send(job *j, redis_ctx *ctx) {
    const chunk *c = j->task;
    if (j->rc)
        reply_error(ctx, "ERR %s", j->why);
    else
        reply_chunk(ctx, c->next, c->bytes, c->size);
}

static void free_task(job *j) {
    redis.Free(j->task);
}

/* A part of an image; only its header, with the checksum, takes as long as the filter is large. */
static void dump_image(redis_ctx *ctx, redis_string *key, value *v, const chunk *c) {
    job *j = job_new(ctx, key, v);
    if (!j) return;
    chunk *kept = j->task = try_alloc(sizeof *kept + c->size);
    if (!kept) {
        job_drop(j);
        reply_error(ctx, "ERR Insufficient memory");
        return;
    }
    *kept = (chunk){.next = c->next, .at = c->at, .size = c->size};
    j->make = cut, j->end = send, j->clean = free_task;
    job_do(ctx, j, c->at ? 0 : tamis_image_size(v->filter));
}

static void dump(redis_ctx *ctx, redis_string *key, value *v, uint64_t iterator) {
    const layout l = layout_of_filter(v->filter);
    const uint64_t max = l.origin ? ORIGIN_CHUNK : IMAGE_CHUNK;
    const uint64_t left = iterator ? left_in_link(&l, iterator - 1) : l.header;
    const uint64_t size = iterator && left > max ? max : left;
    const chunk c = {.next = iterator ? iterator + size : 1,
                     .at = iterator ? l.header + iterator - 1 : 0,
                     .size = (size_t)size};
    if (size == 0)
        reply_chunk(ctx, 0, "", 0);
    else if (l.origin)
        reply_chunk(ctx, c.next, l.origin + c.at, c.size);
    else
        dump_image(ctx, key, v, &c);
}

int bf_scandump_command(redis_ctx *ctx, redis_string **argv, int argc) {
    long long iterator;
    place p = place_open(ctx, argv[1], REDIS_READ, FAMILY_BF);
    value *v = bf_value(ctx, &p, BF_NOT_FOUND);
    (void)argc;
    place_close(&p);
    if (!v) return REDIS_OK;
    if (redis.StringToLongLong(argv[2], &iterator))
        return redis.ReplyWithError(ctx, "Second argument must be numeric");
    if (iterator < 0) {
        reply_chunk(ctx, 0, "", 0);
        return REDIS_OK;
    }
    value_note_facts(v);
    dump(ctx, argv[1], v, (uint64_t)iterator);
    return REDIS_OK;
}

/* ---- BF.LOADCHUNK key iterator bytes --------------------------------------------------------- */

static void reply_taken(redis_ctx *ctx, uint64_t have) {
    (void)have;
    reply_ok(ctx);
}

static coming coming_of(redis_string *bytes, chunk_form form, uint64_t offset, uint64_t total) {
    return (coming){.form = form,
                    .offset = offset,
                    .total = total,
                    .bytes = bytes,
                    .family = FAMILY_BF,
                    .reply = reply_taken,
                    .refusal = BF_BAD_DATA};
}

/* What a header must be before anything is kept because of it; the rest is for the gate. */
static bool is_link(const bloom_link *l) {
    const double ln2 = 0.693147180559945;
    return l->bytes && l->bytes <= UINT64_MAX / 8 && l->bits == 8 * l->bytes && l->error > 0 &&
           l->error < 1 && l->bits_per_item > 0 && l->bits_per_item < 1e6 &&
           ceil(ln2 * l->bits_per_item) == l->hashes;
}

static bool is_origin_header(struct tamis_key k, uint64_t *total) {
    if (k.len < bloom_bits_from(1)) return false;
    const bloom_header h = bloom_header_at(k.bytes);
    uint64_t items = 0;
    if (h.links == 0 || h.options > BLOOM_OPTIONS || k.len != bloom_bits_from(h.links))
        return false;
    *total = k.len;
    for (uint64_t i = 0; i < h.links; i++) {
        const bloom_link l = bloom_link_at(k.bytes, i);
        if (!is_link(&l) || l.bytes > UINT64_MAX - *total || l.items > UINT64_MAX - items)
            return false;
        *total += l.bytes;
        items += l.items;
    }
    return items == h.items;
}

static uint64_t number_at(const uint8_t *p) {
    uint64_t x = 0;
    for (int i = 8; i-- > 0;) x = x << 8 | p[i];
    return x;
}

static bool is_image_header(struct tamis_key k, uint64_t *total) {
    enum { AT_PAYLOAD = 144, AT_NOTES = 152 };
    static const uint8_t magic[] = {0xd6, 't', 'a', 'm', 'i', 's', 0x1a, '\n'};
    const uint64_t max = (uint64_t)1 << 56;
    const uint8_t *p = k.bytes;
    if (k.len != IMAGE_HEADER || memcmp(p, magic, sizeof magic) != 0) return false;
    const uint64_t payload = number_at(p + AT_PAYLOAD), notes = number_at(p + AT_NOTES);
    *total = IMAGE_HEADER + payload + notes;
    return payload && payload <= max && notes <= max;
}

static int load_header(redis_ctx *ctx, place *p, redis_string *key, redis_string *bytes) {
    const struct tamis_key k = key_of(bytes);
    uint64_t total = 0;
    const bool is_origin = is_origin_header(k, &total);
    if (!is_origin && !is_image_header(k, &total)) {
        place_close(p);
        return redis.ReplyWithError(ctx, BF_BAD_DATA);
    }
    const coming c = coming_of(bytes, is_origin ? FORM_REDISBLOOM : FORM_IMAGE, 0, total);
    return arrive(ctx, p, key, &c);
}

/* By its header, which has to be here: TAMIS.LOAD may have brought less. */
static bool find_layout(const arrival *a, layout *l) {
    struct tamis_key header = {a->piece[0], IMAGE_HEADER};
    uint64_t total;
    *l = (layout){NULL, IMAGE_HEADER, a->total};
    if (a->form == FORM_IMAGE) return a->total > IMAGE_HEADER;
    if (a->have < bloom_bits_from(1)) return false;
    header.len = bloom_bits_from(bloom_header_at(a->piece[0]).links);
    *l = (layout){a->piece[0], header.len, a->total};
    return header.len <= a->have && header.len <= ARRIVAL_PIECE &&
           is_origin_header(header, &total) && total == a->total;
}

/* Where bytes of this length with this iterator belong; NULL, or what is wrong with them. An
 * iterator that is as large as the chunk is one byte before the first link: there too, the text is
 * that of RedisBloom. */
static const char *find_chunk(const layout *l, long long iterator, uint64_t len, uint64_t *offset) {
    if (iterator < 1 || (uint64_t)iterator < len) return BF_BAD_DATA;
    if ((uint64_t)iterator == len) return "ERR invalid offset - no link found";
    *offset = (uint64_t)iterator - 1 - len;
    const uint64_t left = left_in_link(l, *offset);
    if (left == 0) return "ERR invalid offset - no link found";
    return len > left ? "ERR invalid chunk - Too big for current filter" : NULL;
}

static int load_data(redis_ctx *ctx, place *p, redis_string *key, long long iterator,
                     redis_string *bytes) {
    const arrival *a = p->value->arrival;
    const uint64_t len = key_of(bytes).len;
    uint64_t offset = 0;
    layout l;
    const bool is_known = a ? find_layout(a, &l) : (l = layout_of_filter(p->value->filter), true);
    const char *why = is_known ? find_chunk(&l, iterator, len, &offset) : BF_BAD_DATA;
    if (!why && len && !a) why = BF_BAD_DATA; /* it begins with the chunk of iterator 1 */
    if (!why && len) {
        const coming c = coming_of(bytes, a->form, l.header + offset, a->total);
        return arrive(ctx, p, key, &c);
    }
    place_close(p);
    return why ? redis.ReplyWithError(ctx, why) : reply_ok(ctx);
}

int bf_loadchunk_command(redis_ctx *ctx, redis_string **argv, int argc) {
    long long iterator;
    (void)argc;
    if (redis.StringToLongLong(argv[2], &iterator))
        return redis.ReplyWithError(ctx, "ERR Second argument must be numeric");
    place p = place_open(ctx, argv[1], REDIS_READ | REDIS_WRITE, FAMILY_BF);
    const bool is_header = iterator == 1 && (key_of(argv[3]).len || !p.value);
    if (!p.is_wrong && is_header) return load_header(ctx, &p, argv[1], argv[3]);
    if (p.value) return load_data(ctx, &p, argv[1], iterator, argv[3]);
    place_close(&p);
    return redis.ReplyWithError(ctx, p.is_wrong ? WRONG_TYPE : BF_NOT_FOUND);
}

/* ---- BF.LOAD key bytes ----------------------------------------------------------------------- */

/* Valkey's filters hash keys by a function of their own, under a seed of their own. */
int bf_load_command(redis_ctx *ctx, redis_string **argv, int argc) {
    (void)argv, (void)argc;
    return reply_error(ctx, "ERR filters of Valkey's own module cannot be read here: add the items "
                            "to a new one, by BF.INSERT");
}
