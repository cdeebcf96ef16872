/* SPDX-License-Identifier: MIT */
/* For session.c, session_recv.c and session_send.c only.
 *
 *     the sender                                the receiver
 *       hello ─────────────────────────────────▶
 *             ◀───────────────────────────────── hello
 *       digest ────────────────────────────────▶
 *             ◀───────────────────────────────── digest, more (up to symbol k)
 *       symbols ───────────────────────────────▶
 *             ◀───────────────────────────────── more ... done, lists, keys
 *       keys, end ─────────────────────────────▶
 *
 * docs/reconcile.md has the bytes. */
#ifndef TAMIS_JOBS_SESSION_H
#define TAMIS_JOBS_SESSION_H

#include "jobs/streams.h"

/* The numbers are part of the protocol. */
typedef enum tamis_message {
    TAMIS_MSG_HELLO = 1,
    TAMIS_MSG_DIGEST = 2,
    TAMIS_MSG_SYMBOLS = 3, /* an empty one: there will be no more */
    TAMIS_MSG_MORE = 4,
    TAMIS_MSG_DONE = 5,
    TAMIS_MSG_LIST = 6,
    TAMIS_MSG_KEYS = 7,
    TAMIS_MSG_END = 8,
    TAMIS_MSG_FAIL = 9,
    TAMIS_MESSAGES
} tamis_message;

enum {
    TAMIS_MAGIC_BYTES = 8, /* including the version */
    TAMIS_HELLO_BYTES = 29,
    TAMIS_HASH_TEXT = 255,
    TAMIS_DONE_BYTES = 25,
    TAMIS_FRAME_ITEMS = 1024,   /* symbols, and hashes of a list, in one frame */
    TAMIS_SYMBOL_FIXED = 8 + 5, /* bytes of sum and check, before the count */
    TAMIS_KEYS_FRAME = 1 << 16, /* no further key in a frame of this size */
    TAMIS_FAIL_TEXT = 200,
    TAMIS_FIRST_SYMBOLS = 64, /* first request; the overshoot is at most this ... */
    TAMIS_OVERSHOOT = 8,      /* ... or this part of those received */
    TAMIS_ESTIMATE_FROM = 128 /* symbols needed for an estimate of the difference */
};

#define TAMIS_SESSION_MAX_SYMBOLS (UINT64_C(1) << 25)
#define TAMIS_MAX_KEY_BYTES \
    ((uint64_t)TAMIS_FRAME_MAX_BYTES - TAMIS_KEYS_FRAME - TAMIS_VARINT_MAX_BYTES)

extern const uint8_t tamis__session_magic[TAMIS_MAGIC_BYTES];

/* Lists are named after the side that has the hashes. */
enum { TAMIS_RECEIVER_HAS = 0, TAMIS_SENDER_HAS = 1 };

struct tamis_session {
    struct tamis_allocator allocator;
    tamis_block self;
    enum tamis_side side;
    struct tamis_session_options options; /* limits filled in */
    char hash[TAMIS_HASH_TEXT + 1];
    uint8_t nonce[TAMIS_STREAM_KEY_BYTES];
    uint64_t own; /* our hashes */

    tamis_symbol_set symbol_set; /* until the stream takes it over */
    tamis_symbols *symbols;
    tamis_peeler *peeler;
    uint64_t n_symbols, max_symbols, credit; /* sent or taken; the limit; requested so far */
    uint64_t n_needed, symbol_bytes;

    uint64_t their_n; /* from the other side */
    uint8_t their_nonce[TAMIS_STREAM_KEY_BYTES];
    enum tamis_wants they_want;
    struct tamis_digest their_digest;

    tamis_buffer list[2]; /* hashes, 8 bytes each, that only the receiver and only the sender has */
    uint64_t listed[2];   /* how many there will be */
    tamis_buffer keys, key_ends; /* theirs, contiguous, and where each ends: 8 bytes */

    tamis_buffer in, out; /* the frame being received; output not yet sent */
    uint64_t out_at, frames_in, frames_out, bytes_in, bytes_out;
    uint64_t list_sent[2], keys_sent; /* hashes of each list; our keys */
    bool has_received_magic, has_received_hello, has_received_digest, has_received_end;
    bool has_sent_hello, has_said_digest, has_sent_done, has_said_dry, has_sent_end;
    bool is_done; /* the receiver knows the difference, or stopped */
    bool is_whole;
    tamis_status broken;
    char why[256];
};

/* Ends the session with the current error message, permanently. */
tamis_status tamis__session_break(tamis_session *, tamis_status);

/* Handles one whole frame of the other side, its sums checked. */
tamis_status tamis__session_recv(tamis_session *, uint8_t type, const uint8_t *body,
                                 uint32_t length);

/* The maximum size of a frame of this type now; fails when it is not allowed. */
tamis_status tamis__session_may_recv(const tamis_session *, uint8_t type, uint32_t length);

/* Appends the next frame, or none when there is nothing to send. */
tamis_status tamis__session_send(tamis_session *);

/* Appends the reason of the failure. */
tamis_status tamis__session_send_failure(tamis_session *);

/* Starts the stream, as soon as both nonces are known. */
tamis_status tamis__session_start(tamis_session *);

/* The expected count of symbol i of n hashes, rounded: a frame has the difference from it. */
static inline uint64_t tamis__expected_count(uint64_t n, uint64_t i) {
    return (2 * n + (i + 2) / 2) / (i + 2);
}

static inline bool tamis__asks(const tamis_session *t) {
    return t->side == TAMIS_RECEIVER;
}

static inline enum tamis_wants tamis__sender_wants(const tamis_session *t) {
    return tamis__asks(t) ? t->they_want : t->options.wants;
}

static inline bool tamis__receiver_wants_keys(const tamis_session *t) {
    return (tamis__asks(t) ? t->options.wants : t->they_want) == TAMIS_WANTS_KEYS;
}

/* Is a list sent? The list of what only the sender has also requests the keys. */
static inline bool tamis__list_travels(const tamis_session *t, int which) {
    return tamis__sender_wants(t) != TAMIS_WANTS_NOTHING ||
           (which == TAMIS_SENDER_HAS && tamis__receiver_wants_keys(t));
}

static inline uint64_t tamis__count(const tamis_buffer *list) {
    return list->size / 8;
}

/* The lists from this side's point of view. */
static inline int tamis__ours(const tamis_session *t) {
    return tamis__asks(t) ? TAMIS_RECEIVER_HAS : TAMIS_SENDER_HAS;
}

/* Has the sender received all lists? */
static inline bool tamis__lists_are_received(const tamis_session *t) {
    for (int i = 0; i < 2; i++)
        if (tamis__list_travels(t, i) && tamis__count(&t->list[i]) < t->listed[i]) return false;
    return true;
}

static inline bool tamis__keys_are_received(const tamis_session *t) {
    return t->options.wants != TAMIS_WANTS_KEYS ||
           tamis__count(&t->key_ends) == t->listed[!tamis__ours(t)];
}

#endif
