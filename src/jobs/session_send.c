/* SPDX-License-Identifier: MIT */
/* What a session sends: one frame after the other, each in its turn. */
#include <string.h>

#include "base/status.h"
#include "bits/bits.h"
#include "jobs/session.h"

const uint8_t tamis__session_magic[TAMIS_MAGIC_BYTES] = {0x93, 'T', 'A', 'L', 'K', '\r', '\n', 1};

static tamis_status put(tamis_session *t, const void *bytes, uint64_t size) {
    return tamis__buffer_put(&t->allocator, &t->out, bytes, size);
}

static tamis_status open_frame(tamis_session *t, tamis_message type, uint64_t *start) {
    return tamis__frame_open(&t->allocator, &t->out, (uint8_t)type, start);
}

static tamis_status close_frame(tamis_session *t, uint64_t start) {
    const tamis_status rc = tamis__frame_close(&t->allocator, &t->out, start, t->frames_out);
    t->frames_out += !rc;
    return rc;
}

static tamis_status say(tamis_session *t, tamis_message type, const void *body, uint64_t size) {
    uint64_t start;
    tamis_status rc = open_frame(t, type, &start);
    if (!rc) rc = put(t, body, size);
    return rc ? rc : close_frame(t, start);
}

static tamis_status say_hello(tamis_session *t) {
    uint8_t body[TAMIS_HELLO_BYTES + TAMIS_HASH_TEXT];
    const size_t len = strlen(t->hash);
    body[0] = (uint8_t)t->side;
    body[1] = t->options.is_one_way;
    body[2] = (uint8_t)t->options.wants;
    body[3] = t->options.key_of != NULL;
    memcpy(body + 4, t->nonce, sizeof t->nonce);
    tamis__put64(body + 20, t->own);
    body[28] = (uint8_t)len;
    memcpy(body + TAMIS_HELLO_BYTES, t->hash, len);
    t->has_sent_hello = true;
    const tamis_status rc = put(t, tamis__session_magic, sizeof tamis__session_magic);
    return rc ? rc : say(t, TAMIS_MSG_HELLO, body, TAMIS_HELLO_BYTES + len);
}

static tamis_status say_digest(tamis_session *t) {
    const struct tamis_digest d =
        t->symbols ? tamis_symbols_digest(t->symbols) : tamis_peeler_digest(t->peeler);
    uint8_t body[16];
    tamis__put64(body, d.sum[0]);
    tamis__put64(body + 8, d.sum[1]);
    t->has_said_digest = true;
    return say(t, TAMIS_MSG_DIGEST, body, sizeof body);
}

/* ---- The sender ------------------------------------------------------------------------------ */

static tamis_status put_symbol(tamis_session *t, const struct tamis_symbol *s, uint64_t i) {
    uint8_t bytes[TAMIS_SYMBOL_FIXED + TAMIS_VARINT_MAX_BYTES];
    const uint64_t off = (uint64_t)s->count - tamis__expected_count(t->own, i);
    tamis__put64(bytes, s->sum);
    tamis__put32(bytes + 8, (uint32_t)s->check);
    bytes[12] = (uint8_t)(s->check >> 32);
    const uint64_t folded = off << 1 ^ (0 - (off >> 63)); /* 0, -1, 1, -2, ... as 0, 1, 2, 3 */
    return put(t, bytes,
               TAMIS_SYMBOL_FIXED + tamis__varint_put(bytes + TAMIS_SYMBOL_FIXED, folded));
}

static tamis_status say_symbols(tamis_session *t, uint64_t n) {
    struct tamis_symbol list[64];
    uint64_t start;
    if (n > TAMIS_FRAME_ITEMS) n = TAMIS_FRAME_ITEMS;
    tamis_status rc = open_frame(t, TAMIS_MSG_SYMBOLS, &start);
    for (uint64_t left = n; !rc && left;) {
        const size_t here = left < 64 ? (size_t)left : 64;
        rc = tamis_symbols_next(t->symbols, list, here);
        for (size_t i = 0; !rc && i < here; i++) rc = put_symbol(t, &list[i], t->n_symbols++);
        left -= here;
    }
    if (!rc) rc = close_frame(t, start);
    t->symbol_bytes += t->out.size - start;
    return rc;
}

static tamis_status say_end(tamis_session *t) {
    t->has_sent_end = true;
    return say(t, TAMIS_MSG_END, NULL, 0);
}

static tamis_status tell(tamis_session *t) {
    const uint64_t upto = t->credit < t->max_symbols ? t->credit : t->max_symbols;
    if (t->n_symbols < upto) return say_symbols(t, upto - t->n_symbols);
    if (t->options.is_one_way) return say_end(t);
    if (t->credit <= t->max_symbols || t->has_said_dry) return TAMIS_OK;
    t->has_said_dry = true;
    return say(t, TAMIS_MSG_SYMBOLS, NULL, 0);
}

/* ---- Keys, of both sides --------------------------------------------------------------------- */

static tamis_status key_at(tamis_session *t, uint64_t i, const void **key, size_t *len) {
    const uint64_t hash = tamis__get64(t->list[tamis__ours(t)].bytes + 8 * i);
    if (!t->options.key_of(t->options.ctx, hash, key, len))
        return tamis__fail(TAMIS_NOT_FOUND, "no key for hash %016llx, which the other side wants",
                           (unsigned long long)hash);
    if (*len > t->options.max_key_bytes)
        return tamis__fail(TAMIS_TOO_LARGE, "a key of %zu bytes is over the limit of %llu", *len,
                           (unsigned long long)t->options.max_key_bytes);
    return TAMIS_OK;
}

static tamis_status say_keys(tamis_session *t) {
    const uint64_t n = tamis__count(&t->list[tamis__ours(t)]);
    uint64_t start;
    tamis_status rc = open_frame(t, TAMIS_MSG_KEYS, &start);
    while (!rc && t->keys_sent < n && t->out.size - start < TAMIS_KEYS_FRAME) {
        const void *key;
        size_t len;
        uint8_t size[TAMIS_VARINT_MAX_BYTES];
        rc = key_at(t, t->keys_sent, &key, &len);
        if (!rc) rc = put(t, size, tamis__varint_put(size, len));
        if (!rc) rc = put(t, key, len);
        t->keys_sent++;
    }
    return rc ? rc : close_frame(t, start);
}

static bool has_keys_to_say(const tamis_session *t) {
    return t->they_want == TAMIS_WANTS_KEYS &&
           t->keys_sent < tamis__count(&t->list[tamis__ours(t)]);
}

static tamis_status answer(tamis_session *t) {
    if (!tamis__lists_are_received(t) || !tamis__keys_are_received(t)) return TAMIS_OK;
    return has_keys_to_say(t) ? say_keys(t) : say_end(t);
}

/* ---- The receiver ---------------------------------------------------------------------------- */

/* A safe number: each symbol yields at most one hash, and half of the estimate is less than what is
 * needed all but five times in a million (it is a sum of 64 squares, and would have to be twice its
 * mean). */
static uint64_t surely_needed(const tamis_session *t) {
    const uint64_t apart = t->own > t->their_n ? t->own - t->their_n : t->their_n - t->own;
    if (t->n_symbols < TAMIS_ESTIMATE_FROM) return apart;
    const double half = 0.5 * 1.35 * tamis__peeler_estimate(t->peeler);
    if (half <= (double)apart) return apart;
    return half < (double)t->max_symbols ? (uint64_t)half : t->max_symbols;
}

/* Requests more when half of the allowed overshoot is used, so that symbols keep coming while the
 * request travels. */
static tamis_status ask(tamis_session *t) {
    const uint64_t part = t->n_symbols / TAMIS_OVERSHOOT;
    const uint64_t window = part < TAMIS_FIRST_SYMBOLS ? TAMIS_FIRST_SYMBOLS : part;
    uint8_t body[8];
    if (t->credit == t->max_symbols || t->credit > t->n_symbols + window / 2) return TAMIS_OK;
    const uint64_t surely = surely_needed(t);
    uint64_t want = t->n_symbols + window > surely ? t->n_symbols + window : surely;
    if (want > t->max_symbols) want = t->max_symbols;
    if (want <= t->credit) return TAMIS_OK;
    t->credit = want;
    tamis__put64(body, want);
    return say(t, TAMIS_MSG_MORE, body, sizeof body);
}

static tamis_status say_done(tamis_session *t) {
    uint8_t body[TAMIS_DONE_BYTES];
    body[0] = t->is_whole;
    tamis__put64(body + 1, t->is_whole ? t->n_needed : t->n_symbols);
    tamis__put64(body + 9, t->listed[TAMIS_RECEIVER_HAS]);
    tamis__put64(body + 17, t->listed[TAMIS_SENDER_HAS]);
    t->has_sent_done = true;
    return say(t, TAMIS_MSG_DONE, body, sizeof body);
}

static tamis_status say_list(tamis_session *t, int which) {
    const uint8_t name = (uint8_t)which;
    const uint64_t left = tamis__count(&t->list[which]) - t->list_sent[which];
    const uint64_t n = left < TAMIS_FRAME_ITEMS ? left : TAMIS_FRAME_ITEMS;
    uint64_t start;
    tamis_status rc = open_frame(t, TAMIS_MSG_LIST, &start);
    if (!rc) rc = put(t, &name, 1);
    if (!rc) rc = put(t, t->list[which].bytes + 8 * t->list_sent[which], 8 * n);
    t->list_sent[which] += n;
    return rc ? rc : close_frame(t, start);
}

static tamis_status report(tamis_session *t) {
    if (!t->has_sent_done) return say_done(t);
    for (int i = 0; i < 2; i++)
        if (tamis__list_travels(t, i) && t->list_sent[i] < t->listed[i]) return say_list(t, i);
    return has_keys_to_say(t) ? say_keys(t) : TAMIS_OK;
}

/* ---- Whose turn it is ------------------------------------------------------------------------ */

tamis_status tamis__session_send(tamis_session *t) {
    const bool only_writes = t->options.is_one_way;
    if ((only_writes && tamis__asks(t)) || t->has_sent_end || t->has_received_end) return TAMIS_OK;
    if (!t->has_sent_hello) return say_hello(t);
    if (!only_writes && !t->has_received_hello) return TAMIS_OK;
    if (!t->has_said_digest) return say_digest(t);
    if (tamis__asks(t)) return t->is_done ? report(t) : ask(t);
    return t->is_done ? answer(t) : tell(t);
}

tamis_status tamis__session_send_failure(tamis_session *t) {
    const size_t len = strlen(t->why);
    tamis_status rc = TAMIS_OK;
    if (t->options.is_one_way) return TAMIS_OK;
    if (!t->has_sent_hello) rc = put(t, tamis__session_magic, sizeof tamis__session_magic);
    if (rc) return rc;
    return say(t, TAMIS_MSG_FAIL, t->why, len < TAMIS_FAIL_TEXT ? len : TAMIS_FAIL_TEXT);
}
