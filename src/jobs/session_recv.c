/* SPDX-License-Identifier: MIT */
/* What a session receives: all of it is untrusted, and checked before it is used. */
#include <string.h>

#include "base/status.h"
#include "bits/bits.h"
#include "jobs/session.h"

static const char *const names[TAMIS_MESSAGES] = {"none", "hello", "digest", "symbols", "more",
                                                  "done", "list",  "keys",   "end",     "fail"};

static tamis_status wrong(const char *what) {
    return tamis__fail(TAMIS_CORRUPT, "the other side %s", what);
}

/* ---- What may come --------------------------------------------------------------------------- */

/* The states in which each message is valid, and who may send it. */
static bool is_in_turn(const tamis_session *t, uint8_t type) {
    const bool asks = tamis__asks(t), is_open = t->has_received_digest && !t->has_received_end;
    switch (type) {
    case TAMIS_MSG_HELLO: return !t->has_received_hello;
    case TAMIS_MSG_DIGEST: return t->has_received_hello && !t->has_received_digest;
    case TAMIS_MSG_SYMBOLS: return asks && is_open;
    case TAMIS_MSG_MORE: return !asks && is_open && !t->is_done;
    case TAMIS_MSG_DONE: return !asks && is_open && !t->is_done;
    case TAMIS_MSG_LIST: return !asks && t->is_done && !tamis__lists_are_received(t);
    case TAMIS_MSG_KEYS:
        return t->is_done && (asks ? t->has_sent_done : tamis__lists_are_received(t)) &&
               !tamis__keys_are_received(t);
    case TAMIS_MSG_END: return asks && is_open;
    case TAMIS_MSG_FAIL: return !t->options.is_one_way;
    default: return false;
    }
}

static uint64_t longest(const tamis_session *t, uint8_t type) {
    switch (type) {
    case TAMIS_MSG_HELLO: return TAMIS_HELLO_BYTES + TAMIS_HASH_TEXT;
    case TAMIS_MSG_DIGEST: return 16;
    case TAMIS_MSG_SYMBOLS:
        return TAMIS_FRAME_ITEMS * (TAMIS_SYMBOL_FIXED + TAMIS_VARINT_MAX_BYTES);
    case TAMIS_MSG_MORE: return 8;
    case TAMIS_MSG_DONE: return TAMIS_DONE_BYTES;
    case TAMIS_MSG_LIST: return 1 + 8 * TAMIS_FRAME_ITEMS;
    case TAMIS_MSG_KEYS:
        return TAMIS_KEYS_FRAME + TAMIS_VARINT_MAX_BYTES + t->options.max_key_bytes;
    case TAMIS_MSG_FAIL: return TAMIS_FAIL_TEXT;
    default: return 0;
    }
}

tamis_status tamis__session_may_recv(const tamis_session *t, uint8_t type, uint32_t length) {
    if (type == 0 || type >= TAMIS_MESSAGES)
        return tamis__fail(TAMIS_CORRUPT, "unknown message %u: 1 to %d", type, TAMIS_MESSAGES - 1);
    if (!is_in_turn(t, type))
        return tamis__fail(TAMIS_CORRUPT, "the message '%s' was not expected", names[type]);
    if (length > longest(t, type))
        return tamis__fail(TAMIS_TOO_LARGE, "a message '%s' of %lu bytes: at most %llu are allowed",
                           names[type], (unsigned long)length,
                           (unsigned long long)longest(t, type));
    return TAMIS_OK;
}

static tamis_status wrong_length(uint8_t type, uint32_t length) {
    return tamis__fail(TAMIS_CORRUPT, "a message '%s' cannot have %lu bytes", names[type],
                       (unsigned long)length);
}

/* ---- Hello and digest ------------------------------------------------------------------------ */

/* Untrusted text goes to terminals: only harmless characters. */
static void clean(char *to, size_t room, const uint8_t *from, size_t len) {
    size_t i = 0;
    for (; i < len && i + 1 < room; i++)
        to[i] = from[i] >= 32 && from[i] < 127 ? (char)from[i] : '?';
    to[i] = 0;
}

static tamis_status check_hash(const tamis_session *t, const uint8_t *text, size_t len) {
    char theirs[TAMIS_HASH_TEXT + 1];
    if (len == strlen(t->hash) && memcmp(text, t->hash, len) == 0) return TAMIS_OK;
    clean(theirs, 64, text, len);
    return tamis__fail(TAMIS_MISMATCH, "keys are hashed by '%s' there and by '%.63s' here", theirs,
                       t->hash);
}

static tamis_status check_sides(const tamis_session *t, const uint8_t *body) {
    if (body[0] != TAMIS_SENDER && body[0] != TAMIS_RECEIVER)
        return tamis__fail(TAMIS_CORRUPT, "the other side is %u (1: sender, 2: receiver)", body[0]);
    if (body[0] == (uint8_t)t->side)
        return tamis__fail(TAMIS_MISMATCH, "both sides %s: one must send, the other receive",
                           tamis__asks(t) ? "receive" : "send");
    if (body[1] > 1 || body[2] > TAMIS_WANTS_NOTHING || body[3] > 1)
        return wrong("sent a hello with unknown values");
    if (body[1] != t->options.is_one_way)
        return tamis__fail(TAMIS_MISMATCH, "one side wants a one-way stream, the other a session");
    if (body[2] == TAMIS_WANTS_KEYS && !t->options.key_of && !t->options.is_one_way)
        return tamis__fail(TAMIS_MISMATCH,
                           "the other side wants keys, but this side sends only hashes");
    if (t->options.wants == TAMIS_WANTS_KEYS && !body[3])
        return tamis__fail(TAMIS_MISMATCH,
                           "this side wants keys, but the other side sends only hashes");
    return TAMIS_OK;
}

static tamis_status receive_hello(tamis_session *t, const uint8_t *body, uint32_t length) {
    if (length < TAMIS_HELLO_BYTES || length != (uint32_t)TAMIS_HELLO_BYTES + body[28])
        return wrong_length(TAMIS_MSG_HELLO, length);
    tamis_status rc = check_sides(t, body);
    if (!rc) rc = check_hash(t, body + TAMIS_HELLO_BYTES, body[28]);
    if (rc) return rc;
    t->their_n = tamis__get64(body + 20);
    if (t->their_n > t->options.max_keys)
        return tamis__fail(TAMIS_TOO_LARGE,
                           "the other side has %llu keys: at most %llu are allowed",
                           (unsigned long long)t->their_n, (unsigned long long)t->options.max_keys);
    t->they_want = (enum tamis_wants)body[2];
    memcpy(t->their_nonce, body + 4, sizeof t->their_nonce);
    t->has_received_hello = true;
    return tamis__session_start(t);
}

static tamis_status receive_digest(tamis_session *t, const uint8_t *body, uint32_t length) {
    if (length != 16) return wrong_length(TAMIS_MSG_DIGEST, length);
    t->their_digest =
        (struct tamis_digest){t->their_n, {tamis__get64(body), tamis__get64(body + 8)}};
    t->has_received_digest = true;
    return TAMIS_OK;
}

static bool are_equal(const struct tamis_digest *x, const struct tamis_digest *y) {
    return x->n == y->n && x->sum[0] == y->sum[0] && x->sum[1] == y->sum[1];
}

/* ---- The receiver ---------------------------------------------------------------------------- */

static tamis_status put_hash(tamis_session *t, int which, uint64_t hash) {
    uint8_t bytes[8];
    tamis__put64(bytes, hash);
    return tamis__buffer_put(&t->allocator, &t->list[which], bytes, sizeof bytes);
}

/* Nothing is complete until size and digest match. */
static tamis_status conclude(tamis_session *t) {
    const struct tamis_digest d = tamis_peeler_digest(t->peeler);
    uint64_t cursor = 0, hash;
    bool is_ours;
    tamis_status rc = TAMIS_OK;
    t->is_whole = tamis_peeler_is_whole(t->peeler);
    if (t->is_whole && !are_equal(&d, &t->their_digest))
        return wrong("sent symbols of another set: its digest does not match");
    if (t->is_whole) t->n_needed = tamis_peeler_symbols(t->peeler);
    while (!rc && tamis_peeler_next(t->peeler, &cursor, &hash, &is_ours))
        rc = put_hash(t, is_ours ? TAMIS_RECEIVER_HAS : TAMIS_SENDER_HAS, hash);
    for (int i = 0; i < 2; i++) t->listed[i] = tamis__count(&t->list[i]);
    t->is_done = !rc;
    return rc;
}

/* Returns the size of the symbol; 0: it is invalid. */
static size_t get_symbol(const tamis_session *t, const uint8_t *p, uint64_t left,
                         struct tamis_symbol *s) {
    uint64_t folded;
    if (left < TAMIS_SYMBOL_FIXED) return 0;
    const size_t len =
        tamis__varint_get(p + TAMIS_SYMBOL_FIXED, left - TAMIS_SYMBOL_FIXED, &folded);
    if (!len || folded >> 33) return 0;
    s->sum = tamis__get64(p);
    s->check = tamis__get32(p + 8) | (uint64_t)p[12] << 32;
    s->count = (int64_t)tamis__expected_count(t->their_n, t->n_symbols);
    s->count += folded & 1 ? -(int64_t)(folded >> 1) - 1 : (int64_t)(folded >> 1);
    return TAMIS_SYMBOL_FIXED + len;
}

static tamis_status take_symbol(tamis_session *t, const struct tamis_symbol *s) {
    if (t->n_symbols == 0 && (uint64_t)s->count != t->their_n)
        return wrong("sent a symbol 0 whose count is not the size of its set");
    t->n_symbols++;
    const tamis_status rc = tamis_peeler_take(t->peeler, s, 1);
    if (rc) return rc;
    return tamis_peeler_is_whole(t->peeler) || t->n_symbols == t->max_symbols ? conclude(t)
                                                                              : TAMIS_OK;
}

/* Symbols that were sent before we had enough are ignored. */
static tamis_status receive_symbols(tamis_session *t, const uint8_t *body, uint32_t length) {
    struct tamis_symbol s;
    t->symbol_bytes += TAMIS_FRAME_HEAD + (uint64_t)length + TAMIS_FRAME_FOOT;
    if (!length) return t->is_done ? TAMIS_OK : conclude(t);
    for (uint64_t at = 0; at < length;) {
        const size_t size = get_symbol(t, body + at, length - at, &s);
        if (!size) return wrong("sent a symbol that is truncated or whose count is out of range");
        if (t->n_symbols >= t->credit && !t->options.is_one_way)
            return wrong("sent more symbols than were requested");
        at += size;
        if (t->is_done)
            t->n_symbols++;
        else {
            const tamis_status rc = take_symbol(t, &s);
            if (rc) return rc;
        }
    }
    return TAMIS_OK;
}

static tamis_status receive_end(tamis_session *t, uint32_t length) {
    if (length) return wrong_length(TAMIS_MSG_END, length);
    if (t->options.is_one_way) return t->is_done ? TAMIS_OK : conclude(t);
    if (!t->has_sent_done || t->out.size || !tamis__keys_are_received(t))
        return wrong("ended the session before everything was sent");
    t->has_received_end = true;
    return TAMIS_OK;
}

/* ---- The sender ------------------------------------------------------------------------------ */

static tamis_status receive_more(tamis_session *t, const uint8_t *body, uint32_t length) {
    if (length != 8) return wrong_length(TAMIS_MSG_MORE, length);
    const uint64_t want = tamis__get64(body);
    if (want <= t->credit || want > TAMIS_STREAM_MAX_SYMBOLS)
        return tamis__fail(TAMIS_CORRUPT,
                           "symbols up to %llu requested (allowed: more than %llu, at most 2^32)",
                           (unsigned long long)want, (unsigned long long)t->credit);
    t->credit = want;
    return TAMIS_OK;
}

static tamis_status check_lists(tamis_session *t);

static tamis_status receive_done(tamis_session *t, const uint8_t *body, uint32_t length) {
    if (length != TAMIS_DONE_BYTES || body[0] > 1) return wrong_length(TAMIS_MSG_DONE, length);
    const uint64_t used = tamis__get64(body + 1);
    const uint64_t receiver = tamis__get64(body + 9), sender = tamis__get64(body + 17);
    if (used > t->n_symbols || receiver > t->their_n || sender > t->own)
        return wrong("is done with more symbols or hashes than exist");
    if (body[0] && t->own - sender + receiver != t->their_n)
        return wrong("is done with numbers that do not add up");
    t->is_done = true;
    t->is_whole = body[0];
    t->n_needed = t->is_whole ? used : 0;
    t->listed[TAMIS_RECEIVER_HAS] = receiver;
    t->listed[TAMIS_SENDER_HAS] = sender;
    return check_lists(t);
}

/* Their lists must agree with our set: ours are in it, theirs are not, and none twice. Applying
 * them turns our list into theirs, so that the digest can be compared. */
static tamis_status apply(tamis_session *t, int which, uint64_t hash) {
    tamis_symbol_set *r = tamis__symbols_symbol_set(t->symbols);
    uint32_t at;
    const bool is_there = tamis__symbol_set_find(r, hash, &at);
    if (which == TAMIS_RECEIVER_HAS)
        return is_there ? wrong("lists as its own a hash that is ours, or a duplicate")
                        : tamis__symbol_set_add(r, hash);
    if (!is_there || at >= t->own || r->list[at].next == TAMIS_GONE)
        return wrong("lists as ours a hash that is not, or a duplicate");
    tamis__symbol_set_take_out(r, at);
    r->list[at].next = TAMIS_GONE;
    return TAMIS_OK;
}

/* Once both lists have arrived. */
static tamis_status check_lists(tamis_session *t) {
    if (!t->is_whole || tamis__sender_wants(t) == TAMIS_WANTS_NOTHING ||
        !tamis__lists_are_received(t))
        return TAMIS_OK;
    const struct tamis_digest d = tamis_symbols_digest(t->symbols);
    return are_equal(&d, &t->their_digest) ? TAMIS_OK
                                           : wrong("sent lists that do not match its digest");
}

static tamis_status receive_list(tamis_session *t, const uint8_t *body, uint32_t length) {
    if (length < 9 || length % 8 != 1) return wrong_length(TAMIS_MSG_LIST, length);
    const int which = body[0];
    if (which > 1 || !tamis__list_travels(t, which))
        return tamis__fail(TAMIS_CORRUPT, "a list %d was not expected", which);
    if (length / 8 > t->listed[which] - tamis__count(&t->list[which]))
        return wrong("lists more hashes than it announced");
    tamis_status rc = TAMIS_OK;
    for (uint32_t i = 1; !rc && i < length; i += 8) {
        const uint64_t hash = tamis__get64(body + i);
        rc = apply(t, which, hash);
        if (!rc) rc = put_hash(t, which, hash);
    }
    return rc ? rc : check_lists(t);
}

/* ---- Keys, of both sides --------------------------------------------------------------------- */

static tamis_status take_key(tamis_session *t, const uint8_t *key, size_t len) {
    const tamis_buffer *theirs = &t->list[!tamis__ours(t)];
    const uint64_t i = tamis__count(&t->key_ends);
    uint8_t end[8];
    if (t->options.hash_of(t->options.ctx, key, len) != tamis__get64(theirs->bytes + 8 * i))
        return wrong("sent a key with the wrong hash");
    tamis_status rc = tamis__buffer_put(&t->allocator, &t->keys, key, len);
    tamis__put64(end, t->keys.size);
    if (!rc) rc = tamis__buffer_put(&t->allocator, &t->key_ends, end, sizeof end);
    return rc;
}

static tamis_status receive_keys(tamis_session *t, const uint8_t *body, uint32_t length) {
    if (!length) return wrong_length(TAMIS_MSG_KEYS, length);
    for (uint64_t at = 0; at < length;) {
        uint64_t len;
        const size_t size = tamis__varint_get(body + at, length - at, &len);
        if (!size || len > length - at - size) return wrong("sent a truncated key");
        if (len > t->options.max_key_bytes)
            return tamis__fail(TAMIS_TOO_LARGE, "a key of %llu bytes: at most %llu are allowed",
                               (unsigned long long)len,
                               (unsigned long long)t->options.max_key_bytes);
        if (tamis__keys_are_received(t)) return wrong("sent more keys than were requested");
        const tamis_status rc = take_key(t, body + at + size, (size_t)len);
        if (rc) return rc;
        at += size + len;
    }
    return TAMIS_OK;
}

/* ---- All messages ---------------------------------------------------------------------------- */

static tamis_status receive_failure(const uint8_t *body, uint32_t length) {
    char text[TAMIS_FAIL_TEXT + 1];
    clean(text, sizeof text, body, length);
    return tamis__fail(TAMIS_CANCELLED, "the other side stopped: %s", text);
}

tamis_status tamis__session_recv(tamis_session *t, uint8_t type, const uint8_t *body,
                                 uint32_t length) {
    switch (type) {
    case TAMIS_MSG_HELLO: return receive_hello(t, body, length);
    case TAMIS_MSG_DIGEST: return receive_digest(t, body, length);
    case TAMIS_MSG_SYMBOLS: return receive_symbols(t, body, length);
    case TAMIS_MSG_MORE: return receive_more(t, body, length);
    case TAMIS_MSG_DONE: return receive_done(t, body, length);
    case TAMIS_MSG_LIST: return receive_list(t, body, length);
    case TAMIS_MSG_KEYS: return receive_keys(t, body, length);
    case TAMIS_MSG_END: return receive_end(t, length);
    default: return receive_failure(body, length);
    }
}
