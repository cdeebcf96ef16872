/* SPDX-License-Identifier: MIT */
/* Filters that arrive in chunks: the bytes so far, in pieces of one size. */
#include <string.h>

#include "engines/redis/bounds.h"
#include "engines/redis/value.h"
#include "tamis_formats.h"

const char *const form_names[FORMS] = {"IMAGE", "REDISBLOOM", "REDISCUCKOO"};

void arrival_free(arrival *a) {
    if (!a) return;
    for (uint64_t i = 0; i * ARRIVAL_PIECE < a->room; i++) redis.Free(a->piece[i]);
    redis.Free(a->piece);
    redis.Free(a);
}

size_t arrival_bytes(const arrival *a) {
    return a ? sizeof *a + a->slots * sizeof *a->piece + (size_t)a->room : 0;
}

/* ---- Taking ---------------------------------------------------------------------------------- */

static const char *begin(value *v, chunk_form form, uint64_t total) {
    if (!bounds_allow(total)) return bounds_refusal();
    arrival *a = try_alloc(sizeof *a);
    if (!a) return "ERR Insufficient memory";
    *a = (arrival){.form = form, .total = total};
    arrival_free(v->arrival);
    v->arrival = a;
    return NULL;
}

static bool make_slots(arrival *a, size_t need) {
    if (need <= a->slots) return true;
    const size_t slots = 2 * need;
    uint8_t **piece = try_alloc(slots * sizeof *piece);
    if (!piece) return false;
    if (a->slots) memcpy(piece, a->piece, a->slots * sizeof *piece);
    redis.Free(a->piece);
    a->piece = piece;
    a->slots = slots;
    return true;
}

/* Room follows what has come, not what was announced. */
static bool make_room(arrival *a, uint64_t need) {
    while (a->room < need) {
        const size_t i = (size_t)(a->room / ARRIVAL_PIECE);
        const uint64_t size = lesser(ARRIVAL_PIECE, a->total - a->room);
        if (!make_slots(a, i + 1)) return false;
        a->piece[i] = try_alloc((size_t)size);
        if (!a->piece[i]) return false;
        a->room += size;
    }
    return true;
}

/* The part of [offset, offset + size) that is in one piece. */
static size_t in_one_piece(uint64_t offset, uint64_t size) {
    return (size_t)lesser(size, ARRIVAL_PIECE - offset % ARRIVAL_PIECE);
}

static void put(arrival *a, uint64_t offset, const uint8_t *bytes, size_t size) {
    while (size > 0) {
        const size_t n = in_one_piece(offset, size);
        memcpy(a->piece[offset / ARRIVAL_PIECE] + offset % ARRIVAL_PIECE, bytes, n);
        offset += n, bytes += n, size -= n;
    }
}

/* Does it begin with these bytes already? */
static bool begins_with(const arrival *a, const uint8_t *bytes, size_t size) {
    if (a->have < size) return false;
    for (uint64_t at = 0; at < size; at += ARRIVAL_PIECE)
        if (memcmp(a->piece[at / ARRIVAL_PIECE], bytes + at, in_one_piece(at, size - at)) != 0)
            return false;
    return true;
}

const char *arrival_take(value *v, chunk_form form, uint64_t offset, uint64_t total,
                         const void *bytes, size_t size) {
    if (total == 0 || total > bounds_filter_bytes() + BESIDE_PAYLOAD)
        return "ERR the total must be from 1 byte to what max-filter-bytes allows";
    if (offset > total || size > total - offset) return "ERR the chunk reaches beyond the total";
    if (size == 0) return "ERR a chunk has at least one byte"; /* files have no word for none */
    const arrival *now = v->arrival;
    const bool is_other = !now || now->total != total || now->form != form;
    if (offset == 0 && (is_other || !begins_with(now, bytes, size))) {
        const char *why = begin(v, form, total);
        if (why) return why;
    } else if (is_other) {
        return "ERR there is no such filter on its way: begin with offset 0";
    }
    arrival *a = v->arrival;
    if (offset > a->have) return "ERR there is a gap before this chunk";
    if (!make_room(a, offset + size)) return "ERR Insufficient memory";
    put(a, offset, bytes, size);
    if (offset + size > a->have) a->have = offset + size;
    return NULL;
}

/* ---- Giving ---------------------------------------------------------------------------------- */

void arrival_each(const arrival *a, piece_taker *take, void *ctx) {
    for (uint64_t at = 0; at < a->have; at += ARRIVAL_PIECE)
        take(ctx, at, a->piece[at / ARRIVAL_PIECE], in_one_piece(at, a->have - at));
}

static tamis_status pass_gate(const arrival *a, const void *bytes, tamis **filter) {
    static const char *const formats[] = {NULL, "redisbloom", "rediscuckoo"};
    const struct tamis_options options = value_options(NULL);
    const tamis_status rc =
        a->form == FORM_IMAGE
            ? tamis_load_with(filter, bytes, (size_t)a->have, &options)
            : tamis_import_with(filter, formats[a->form], bytes, (size_t)a->have, &options);
    if (rc) atomic_fetch_add(&counters.refused, 1);
    return rc;
}

/* The pieces in a row, in memory of their own; NULL when there is none. */
static uint8_t *gather(arrival *a, bool is_last_use) {
    uint8_t *whole = bounds_allow(a->have) ? try_alloc((size_t)a->have) : NULL;
    if (!whole) return NULL;
    for (uint64_t at = 0; at < a->have; at += ARRIVAL_PIECE) {
        uint8_t *piece = a->piece[at / ARRIVAL_PIECE];
        memcpy(whole + at, piece, in_one_piece(at, a->have - at));
        if (is_last_use) redis.Free(piece);
    }
    if (is_last_use) a->room = 0;
    return whole;
}

tamis_status arrival_finish(arrival *a, bool is_last_use, tamis **filter) {
    if (a->have <= ARRIVAL_PIECE) return pass_gate(a, a->piece[0], filter);
    uint8_t *whole = gather(a, is_last_use);
    if (!whole) return TAMIS_NOMEM;
    const tamis_status rc = pass_gate(a, whole, filter);
    redis.Free(whole);
    return rc;
}
