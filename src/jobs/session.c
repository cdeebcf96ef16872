/* SPDX-License-Identifier: MIT */
/* A session between two sides that find what differs between their sets, from its first byte to its
 * list. session_recv.c and session_send.c know the messages, frames.c their bytes; here is the
 * state machine, and what the caller sees. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "bits/bits.h"
#include "hash/sip13.h"
#include "jobs/session.h"

/* ---- Making ---------------------------------------------------------------------------------- */

static tamis_status limit(uint64_t *value, uint64_t default_value, uint64_t max, const char *name) {
    if (*value > max)
        return tamis__fail(TAMIS_INVALID, "%s is %llu: at most %llu", name,
                           (unsigned long long)*value, (unsigned long long)max);
    if (!*value) *value = default_value;
    return TAMIS_OK;
}

static tamis_status read_limits(struct tamis_session_options *o) {
    const uint64_t million = 1 << 20, many = UINT64_C(1) << 32;
    tamis_status rc =
        limit(&o->max_keys, TAMIS_ROSTER_MAX_SYMBOLS, TAMIS_ROSTER_MAX_SYMBOLS, "options.max_keys");
    if (!rc) rc = limit(&o->max_key_bytes, million, TAMIS_MAX_KEY_BYTES, "options.max_key_bytes");
    if (!rc) rc = limit(&o->max_bytes, many, UINT64_MAX / 4, "options.max_bytes");
    if (!rc) rc = limit(&o->max_symbols, 0, TAMIS_STREAM_MAX_SYMBOLS, "options.max_symbols");
    if (!rc) rc = limit(&o->symbols, 0, TAMIS_STREAM_MAX_SYMBOLS, "options.symbols");
    return rc;
}

static tamis_status read_options(const struct tamis_session_options *in, enum tamis_side side,
                                 struct tamis_session_options *o) {
    const tamis_status rc = tamis__read_struct(in, o, sizeof *o, "session_options");
    if (rc) return rc;
    if (side != TAMIS_SENDER && side != TAMIS_RECEIVER)
        return tamis__fail(TAMIS_INVALID, "side is %d (1: sender, 2: receiver)", (int)side);
    if ((unsigned)o->wants > TAMIS_WANTS_NOTHING)
        return tamis__fail(TAMIS_INVALID, "options.wants is %d: 0 to 2", (int)o->wants);
    if (o->hash && strlen(o->hash) > TAMIS_HASH_TEXT)
        return tamis__fail(TAMIS_INVALID, "options.hash has %zu bytes: at most %d", strlen(o->hash),
                           TAMIS_HASH_TEXT);
    if (o->wants == TAMIS_WANTS_KEYS && o->is_one_way)
        return tamis__fail(TAMIS_INVALID, "options.wants: a one-way stream has no keys");
    if (o->wants == TAMIS_WANTS_KEYS && !o->hash_of)
        return tamis__fail(TAMIS_INVALID, "options.wants: keys need options.hash_of");
    return read_limits(o);
}

/* Nobody who chose the keys of a set could know the nonces, and so choose keys whose symbols never
 * decode. */
static void session_key(const tamis_session *t, uint8_t key[TAMIS_STREAM_KEY_BYTES]) {
    const uint8_t *sender = tamis__asks(t) ? t->their_nonce : t->nonce;
    const uint8_t *receiver = tamis__asks(t) ? t->nonce : t->their_nonce;
    uint8_t text[TAMIS_STREAM_KEY_BYTES + 1] = {0};
    if (!t->options.is_one_way) memcpy(text, receiver, TAMIS_STREAM_KEY_BYTES);
    for (uint8_t half = 0; half < 2; half++) {
        text[TAMIS_STREAM_KEY_BYTES] = half;
        tamis__put64(key + (size_t)8 * half, tamis__sip24(sender, text, sizeof text));
    }
}

static uint64_t symbols_of_one_way(const tamis_session *t) {
    const uint64_t percent = t->own / 100;
    return t->options.symbols ? t->options.symbols
                              : tamis_symbols_enough(percent < 1000 ? 1000 : percent);
}

/* Even sets that share nothing need fewer, all but once in ten million times. */
static uint64_t max_symbols(const tamis_session *t) {
    if (t->options.is_one_way && !tamis__asks(t)) return symbols_of_one_way(t);
    if (t->options.max_symbols) return t->options.max_symbols;
    const uint64_t enough = 2 * (t->own + t->their_n) + 1024;
    return enough < TAMIS_SESSION_MAX_SYMBOLS ? enough : TAMIS_SESSION_MAX_SYMBOLS;
}

tamis_status tamis__session_start(tamis_session *t) {
    uint8_t key[TAMIS_STREAM_KEY_BYTES];
    session_key(t, key);
    t->max_symbols = max_symbols(t);
    if (t->options.is_one_way) t->credit = t->max_symbols;
    const tamis_status rc = tamis__asks(t) ? tamis__peeler_of(&t->peeler, &t->symbol_set, key)
                                           : tamis__symbols_of(&t->symbols, &t->symbol_set, key);
    if (!rc) memset(&t->symbol_set, 0, sizeof t->symbol_set);
    return rc;
}

static tamis_status draw_nonce(tamis_session *t) {
    if (t->options.nonce) memcpy(t->nonce, t->options.nonce, sizeof t->nonce);
    if (t->options.nonce || tamis__random_secret(t->nonce)) return TAMIS_OK;
    return tamis__fail(TAMIS_IO, "the system has no random bytes for a nonce");
}

static tamis_status set_up(tamis_session *t, const uint64_t *hashes, size_t n) {
    if (t->options.hash) strcpy(t->hash, t->options.hash);
    t->own = n;
    tamis_status rc = draw_nonce(t);
    if (!rc) rc = tamis__symbol_set_start(&t->symbol_set, t->options.memory, hashes, n, t->nonce);
    if (!rc && t->options.is_one_way && !tamis__asks(t)) rc = tamis__session_start(t);
    return rc;
}

tamis_status tamis_session_create(tamis_session **session, enum tamis_side side,
                                  const uint64_t *hashes, size_t n,
                                  const struct tamis_session_options *options) {
    struct tamis_session_options o;
    struct tamis_options memory;
    tamis_block self;
    *session = NULL;
    tamis_status rc = read_options(options, side, &o);
    if (!rc) rc = tamis__read_options(o.memory, &memory);
    if (rc) return rc;
    const struct tamis_allocator allocator = tamis__allocator(&memory);
    tamis_session *t = tamis__get(&allocator, sizeof *t, &self);
    if (!t) return TAMIS_NOMEM;
    t->allocator = allocator, t->self = self, t->side = side, t->options = o;
    rc = set_up(t, hashes, n);
    if (rc)
        tamis_session_free(t);
    else
        *session = t;
    return rc;
}

void tamis_session_free(tamis_session *t) {
    if (!t) return;
    const struct tamis_allocator allocator = t->allocator;
    tamis_buffer *const buffers[] = {&t->list[0],  &t->list[1], &t->keys,
                                     &t->key_ends, &t->in,      &t->out};
    tamis_block self = t->self;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        tamis__buffer_free(&allocator, buffers[i]);
    tamis_symbols_free(t->symbols);
    tamis_peeler_free(t->peeler);
    tamis__symbol_set_free(&t->symbol_set);
    tamis__block_free(&allocator, &self);
}

/* ---- Failing --------------------------------------------------------------------------------- */

static tamis_status still_broken(const tamis_session *t) {
    return tamis__fail(t->broken, "%s", t->why);
}

/* Sends the reason to the other side, unless it failed first. Output made before goes out first:
 * part of it may already have been sent. */
tamis_status tamis__session_break(tamis_session *t, tamis_status status) {
    const char *why = tamis_why();
    const size_t len = strlen(why) < sizeof t->why ? strlen(why) : sizeof t->why - 1;
    memcpy(t->why, why, len);
    t->broken = status;
    const uint64_t made = t->out.size;
    if (status != TAMIS_CANCELLED && tamis__session_send_failure(t) != TAMIS_OK) t->out.size = made;
    return still_broken(t);
}

/* ---- Input ----------------------------------------------------------------------------------- */

static bool is_over(const tamis_session *t) {
    if (t->options.is_one_way && tamis__asks(t)) return t->is_done;
    return t->has_received_end || (t->has_sent_end && t->out.size == 0);
}

/* The size of the next piece, as far as known so far: magic, header, frame. */
static tamis_status wanted_bytes(const tamis_session *t, uint64_t *wanted) {
    uint8_t type;
    uint32_t length;
    *wanted = t->has_received_magic ? (uint64_t)TAMIS_FRAME_HEAD : (uint64_t)TAMIS_MAGIC_BYTES;
    if (!t->has_received_magic || t->in.size < TAMIS_FRAME_HEAD) return TAMIS_OK;
    if (!tamis__frame_head(t->in.bytes, &type, &length))
        return tamis__fail(TAMIS_CORRUPT,
                           "message %llu is damaged: its header does not match its check",
                           (unsigned long long)t->frames_in);
    *wanted = TAMIS_FRAME_HEAD + (uint64_t)length + TAMIS_FRAME_FOOT;
    return t->in.size > TAMIS_FRAME_HEAD ? TAMIS_OK : tamis__session_may_recv(t, type, length);
}

static tamis_status receive_magic(tamis_session *t) {
    enum { VERSION = TAMIS_MAGIC_BYTES - 1 };
    if (memcmp(t->in.bytes, tamis__session_magic, VERSION) != 0)
        return tamis__fail(TAMIS_CORRUPT, "the other side does not speak this protocol");
    if (t->in.bytes[VERSION] != tamis__session_magic[VERSION])
        return tamis__fail(TAMIS_TOO_NEW,
                           "the other side speaks version %u of the protocol, this one %u",
                           t->in.bytes[VERSION], tamis__session_magic[VERSION]);
    t->has_received_magic = true;
    t->in.size = 0;
    return TAMIS_OK;
}

static tamis_status receive_frame(tamis_session *t) {
    uint8_t type;
    uint32_t length;
    tamis__frame_head(t->in.bytes, &type, &length);
    if (!tamis__frame_is_sound(t->in.bytes, length, t->frames_in))
        return tamis__fail(TAMIS_CORRUPT,
                           "message %llu is damaged: its bytes do not match its checksum",
                           (unsigned long long)t->frames_in);
    t->frames_in++;
    t->in.size = 0;
    return tamis__session_recv(t, type, t->in.bytes + TAMIS_FRAME_HEAD, length);
}

/* Memory grows with the bytes received, not with the length in a header. */
static tamis_status take_piece(tamis_session *t, const uint8_t *bytes, size_t size, size_t *used) {
    uint64_t wanted;
    tamis_status rc = wanted_bytes(t, &wanted);
    if (rc) return rc;
    const uint64_t missing = wanted - t->in.size;
    *used = size < missing ? size : (size_t)missing;
    rc = tamis__buffer_put(&t->allocator, &t->in, bytes, *used);
    if (rc || t->in.size < wanted) return rc;
    if (!t->has_received_magic) return receive_magic(t);
    return wanted == TAMIS_FRAME_HEAD ? TAMIS_OK : receive_frame(t);
}

static tamis_status take_all(tamis_session *t, const uint8_t *bytes, size_t size) {
    t->bytes_in += size;
    if (t->bytes_in > t->options.max_bytes)
        return tamis__fail(TAMIS_TOO_LARGE, "the other side sent more than the %llu bytes allowed",
                           (unsigned long long)t->options.max_bytes);
    while (size) {
        size_t used = 0;
        if (is_over(t))
            return t->options.is_one_way
                       ? TAMIS_OK
                       : tamis__fail(TAMIS_CORRUPT, "extra bytes after the end of the session");
        const tamis_status rc = take_piece(t, bytes, size, &used);
        if (rc) return rc;
        bytes += used, size -= used;
    }
    /* A header may be refused before its body comes. */
    uint64_t wanted;
    return is_over(t) ? TAMIS_OK : wanted_bytes(t, &wanted);
}

tamis_status tamis_session_input(tamis_session *t, const void *bytes, size_t size) {
    if (t->broken) return still_broken(t);
    const tamis_status rc = take_all(t, bytes, size);
    return rc ? tamis__session_break(t, rc) : TAMIS_OK;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* A frame that fails is not started. */
static void say_next(tamis_session *t) {
    t->out_at = t->out.size = 0;
    const tamis_status rc = t->broken ? TAMIS_OK : tamis__session_send(t);
    if (!rc) return;
    t->out.size = 0;
    tamis__session_break(t, rc);
}

size_t tamis_session_output(tamis_session *t, void *bytes, size_t room) {
    size_t given = 0;
    while (given < room) {
        if (t->out_at == t->out.size) {
            say_next(t);
            if (!t->out.size) break;
        }
        const uint64_t left = t->out.size - t->out_at;
        const size_t here = left < room - given ? (size_t)left : room - given;
        memcpy((uint8_t *)bytes + given, t->out.bytes + t->out_at, here);
        t->out_at += here, given += here;
    }
    if (t->out_at == t->out.size) t->out_at = t->out.size = 0;
    t->bytes_out += given;
    return given;
}

/* ---- The end --------------------------------------------------------------------------------- */

bool tamis_session_is_over(const tamis_session *t) {
    return t->broken || is_over(t);
}

tamis_status tamis_session_finish(tamis_session *t) {
    if (t->broken) return still_broken(t);
    if (!is_over(t))
        return tamis__session_break(t, tamis__fail(TAMIS_CORRUPT,
                                                   "the other side stopped early, after %llu bytes",
                                                   (unsigned long long)t->bytes_in));
    if (t->options.is_one_way && !tamis__asks(t)) return TAMIS_OK;
    if (t->is_whole) return TAMIS_OK;
    return tamis__fail(
        TAMIS_PARTIAL, "%llu symbols were too few to find every difference: %llu hashes were found",
        (unsigned long long)t->n_symbols, (unsigned long long)(t->listed[0] + t->listed[1]));
}

bool tamis_session_next(const tamis_session *t, uint64_t *cursor, struct tamis_session_item *item) {
    if (t->broken || !is_over(t)) return false;
    const int ours = tamis__ours(t);
    const uint64_t n_ours = tamis__count(&t->list[ours]), n_theirs = tamis__count(&t->list[!ours]);
    memset(item, 0, sizeof *item);
    if (*cursor >= n_ours + n_theirs) return false;
    const uint64_t i = (*cursor)++;
    item->is_ours = i < n_ours;
    const uint64_t at = item->is_ours ? i : i - n_ours;
    item->hash = tamis__get64(t->list[item->is_ours ? ours : !ours].bytes + 8 * at);
    if (item->is_ours || at >= tamis__count(&t->key_ends)) return true;
    const uint64_t start = at ? tamis__get64(t->key_ends.bytes + 8 * (at - 1)) : 0;
    item->len = (size_t)(tamis__get64(t->key_ends.bytes + 8 * at) - start);
    item->key = item->len ? t->keys.bytes + start : (const void *)"";
    return true;
}

/* log2 of x!, by Stirling's series from 32: its error is below 1e-10 there. */
static double log2_factorial(double x) {
    double sum = 0;
    for (; x < 32; x++) sum -= log2(x + 1);
    return sum +
           ((x + 0.5) * log(x) - x + 0.5 * log(2 * 3.14159265358979323846) + 1 / (12 * x)) / log(2);
}

static double log2_choose(double n, double k) {
    return log2_factorial(n) - log2_factorial(k) - log2_factorial(n - k);
}

/* The receiver has m hashes and must learn which a of them to drop and which b of all other 2^64 to
 * add: one of C(m, a) C(2^64 - m, b) sets. */
static double bound_bits(double m, double a, double b) {
    const double others = b * log2(0x1p64 - m) - log2_factorial(b);
    const double bits = log2_choose(m, a) + others;
    return bits > 0 ? bits : 0; /* rounding may give less than 0 */
}

void tamis_session_get_info(const tamis_session *t, struct tamis_session_info *info) {
    const bool is_good = !t->broken && is_over(t) && (tamis__asks(t) || !t->options.is_one_way);
    const uint64_t receiver_n = tamis__asks(t) ? t->own : t->their_n;
    const int ours = tamis__ours(t);
    const struct tamis_session_info i = {
        .ours = t->listed[ours],
        .theirs = t->listed[!ours],
        .our_n = t->own,
        .their_n = t->their_n,
        .symbols = t->n_symbols,
        .symbols_needed = t->n_needed,
        .bytes_sent = t->bytes_out,
        .bytes_taken = t->bytes_in,
        .symbol_bytes = t->symbol_bytes,
        .bound_bits = bound_bits((double)receiver_n, (double)t->listed[TAMIS_RECEIVER_HAS],
                                 (double)t->listed[TAMIS_SENDER_HAS]),
        .is_whole = is_good && t->is_whole,
        .is_partial = is_good && !t->is_whole,
    };
    tamis__fill_struct(info, &i, sizeof i, "session_info");
}
