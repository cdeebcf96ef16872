/* SPDX-License-Identifier: MIT */
/* BF.SCANDUMP, BF.LOADCHUNK and BF.LOAD: filters in chunks.
 *
 * The first chunk is the header, under the iterator 1; every other has as iterator one more than
 * the bytes of all chunks after the header up to its end. Of RedisBloom's own filters chunks are
 * those that RedisBloom tells, only smaller; of ours they are parts of the image. Chunks that come
 * are kept until all are there, and pass the gate as a whole (chunk_load.h). */
#include <math.h>
#include <string.h>

#include "engines/redis/bf.h"
#include "engines/redis/chunk_dump.h"
#include "engines/redis/chunk_load.h"
#include "engines/redis/commands.h"
#include "engines/redis/little_endian.h"
#include "engines/redis/origin_bloom.h"

enum { IMAGE_CHUNK = 1 << 20 };

/* ---- Where chunks are ------------------------------------------------------------------------ */

/* What follows a header: the bits of links, or all the rest of an image, taken as one link. */
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

static int dump(request *r, uint64_t iterator) {
    const layout l = layout_of_filter(r->value->filter);
    const uint64_t max = l.origin ? ORIGIN_CHUNK : IMAGE_CHUNK;
    const uint64_t left = iterator ? left_in_link(&l, iterator - 1) : l.header;
    const uint64_t size = iterator && left > max ? max : left;
    const chunk c = {.next = iterator ? iterator + size : 1,
                     .at = iterator ? l.header + iterator - 1 : 0,
                     .size = (size_t)size};
    if (size == 0) return reply_chunk(r, 0, "", 0);
    return l.origin ? reply_chunk(r, c.next, l.origin + c.at, c.size) : chunk_dump(r, &c);
}

int bf_scandump_command(request *r) {
    long long iterator;
    value *v = request_value(r, NOT_FOUND);
    if (!v) return REDIS_OK;
    if (redis.StringToLongLong(r->argv[2], &iterator))
        return redis.ReplyWithError(r->ctx, "Second argument must be numeric");
    if (iterator < 0) return reply_chunk(r, 0, "", 0);
    value_note_facts(v);
    return dump(r, (uint64_t)iterator);
}

/* ---- BF.LOADCHUNK key iterator bytes --------------------------------------------------------- */

static int load(request *r, chunk_form form, uint64_t offset, uint64_t total) {
    const coming c = {form, offset, total, r->argv[3], BF_BAD_DATA};
    return arrive(r, &c);
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

static bool is_image_header(struct tamis_key k, uint64_t *total) {
    enum { AT_PAYLOAD = 144, AT_NOTES = 152 };
    static const uint8_t magic[] = {0xd6, 't', 'a', 'm', 'i', 's', 0x1a, '\n'};
    const uint64_t max = (uint64_t)1 << 56;
    const uint8_t *p = k.bytes;
    if (k.len != IMAGE_HEADER || memcmp(p, magic, sizeof magic) != 0) return false;
    const uint64_t payload = le_get(p + AT_PAYLOAD, 8), notes = le_get(p + AT_NOTES, 8);
    *total = IMAGE_HEADER + payload + notes;
    return payload && payload <= max && notes <= max;
}

static int load_header(request *r) {
    const struct tamis_key k = key_of(r->argv[3]);
    uint64_t total = 0;
    if (is_origin_header(k, &total)) return load(r, FORM_REDISBLOOM, 0, total);
    if (is_image_header(k, &total)) return load(r, FORM_IMAGE, 0, total);
    return redis.ReplyWithError(r->ctx, BF_BAD_DATA);
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

static int load_data(request *r, long long iterator) {
    const arrival *a = r->value->arrival;
    const uint64_t len = key_of(r->argv[3]).len;
    uint64_t offset = 0;
    layout l;
    const bool is_known = a ? find_layout(a, &l) : (l = layout_of_filter(r->value->filter), true);
    const char *why = is_known ? find_chunk(&l, iterator, len, &offset) : BF_BAD_DATA;
    if (!why && len && !a) why = BF_BAD_DATA; /* it begins with the chunk of iterator 1 */
    if (!why && len) return load(r, a->form, l.header + offset, a->total);
    return why ? redis.ReplyWithError(r->ctx, why) : reply_ok(r->ctx);
}

int bf_loadchunk_command(request *r) {
    long long iterator;
    if (redis.StringToLongLong(r->argv[2], &iterator))
        return redis.ReplyWithError(r->ctx, "ERR Second argument must be numeric");
    const bool is_header = iterator == 1 && (key_of(r->argv[3]).len || !r->value);
    if (!r->is_wrong && is_header) return load_header(r);
    if (r->value) return load_data(r, iterator);
    return redis.ReplyWithError(r->ctx, r->is_wrong ? WRONG_TYPE : NOT_FOUND);
}

/* ---- BF.LOAD key bytes ----------------------------------------------------------------------- */

/* Valkey's filters hash keys by a function of their own, under a seed of their own. */
int bf_load_command(request *r) {
    return reply_error(r->ctx, "ERR filters of Valkey's own module cannot be read here: add the "
                               "items to a new one, by BF.INSERT");
}
