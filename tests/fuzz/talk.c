/* SPDX-License-Identifier: MIT */
/* Fuzz target of conversations: whatever comes from the other side, a talk ends with a sentence or
 * with the right list, and never runs on.
 *
 * The first byte says which side is under test, what it wants, and who the other is: the bytes that
 * follow, or an honest one from whose bytes some are changed on the way, three of the input for
 * each: where, and by what. Sums always match in this build, so that every message is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COMMON = 20, EXTRA = 6, STEPS = 20000 };

static void demand(bool is_true) {
    if (!is_true) abort();
}

/* Hash and key are the same 8 bytes. */
static bool key_of(void *ctx, uint64_t hash, const void **key, size_t *len) {
    static uint8_t bytes[8];
    (void)ctx;
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(hash >> (8 * i));
    *key = bytes;
    *len = sizeof bytes;
    return true;
}

static uint64_t hash_of(void *ctx, const void *key, size_t len) {
    uint64_t hash = 0;
    (void)ctx;
    for (size_t i = 0; i < len && i < 8; i++)
        hash |= (uint64_t)((const uint8_t *)key)[i] << (8 * i);
    return len == 8 ? hash : ~hash;
}

static uint64_t hash_at(int side, uint64_t i) {
    return (i < COMMON ? i + 1 : 1000 * ((uint64_t)side + 1) + i) * UINT64_C(0x9e3779b97f4a7c15);
}

static tamis_session *open_session(int side, uint8_t mode) {
    static const uint8_t nonces[2][16] = {{1}, {2}};
    uint64_t hashes[COMMON + EXTRA];
    tamis_session *t;
    const struct tamis_session_options o = {
        .struct_size = sizeof o,
        .hash = "h",
        .nonce = nonces[side],
        .is_one_way = mode >> 2 & 1,
        .symbols = 40,
        .wants = mode >> 2 & 1 ? TAMIS_WANTS_HASHES : (enum tamis_wants)((mode >> 3 & 3) % 3),
        .key_of = key_of,
        .hash_of = hash_of,
        .max_symbols = mode >> 5 & 1 ? 30 : 3000, /* who asks for 2^25 gets them */
        .max_bytes = 1 << 20,
    };
    for (uint64_t i = 0; i < COMMON + EXTRA; i++) hashes[i] = hash_at(side, i);
    demand(tamis_session_create(&t, side ? TAMIS_RECEIVER : TAMIS_SENDER, hashes, COMMON + EXTRA,
                                &o) == TAMIS_OK);
    return t;
}

static bool is_only(int side, uint64_t hash) {
    for (uint64_t i = COMMON; i < COMMON + EXTRA; i++)
        if (hash_at(side, i) == hash) return true;
    return false;
}

/* What the one under test came to. With bytes of anybody the lists may be anything that its digest
 * confirms; with an honest side they are what differs. */
static void check_end(tamis_session *t, int side, bool is_honest, bool knows_all) {
    struct tamis_session_item item;
    struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
    uint64_t cursor = 0, n = 0;
    const tamis_status rc = tamis_session_finish(t);
    tamis_session_get_info(t, &info);
    while (tamis_session_next(t, &cursor, &item)) {
        n++;
        if (item.key) demand(hash_of(NULL, item.key, item.len) == item.hash);
        if (rc == TAMIS_OK && is_honest) demand(is_only(item.is_ours ? side : !side, item.hash));
    }
    if (rc == TAMIS_OK && is_honest && knows_all) demand(n == 2 * EXTRA);
    if (rc && rc != TAMIS_PARTIAL) demand(n == 0 && strlen(tamis_why()) > 0);
}

/* Bytes of the input as they are, in pieces. */
static void receive_anybody(tamis_session *t, const uint8_t *data, size_t size) {
    uint8_t bytes[512];
    int steps = 0;
    for (size_t at = 0; at < size && !tamis_session_is_over(t);) {
        const size_t left = size - at, piece = left < 61 ? left : 61;
        while (tamis_session_output(t, bytes, sizeof bytes)) demand(++steps < STEPS);
        (void)tamis_session_input(t, data + at, piece);
        at += piece;
    }
    while (tamis_session_output(t, bytes, sizeof bytes)) demand(++steps < STEPS);
}

static void change(const uint8_t *data, size_t size, uint64_t at, uint8_t *bytes, size_t n) {
    for (size_t i = 0; i + 3 <= size; i += 3) {
        const uint64_t where = data[i] | (uint64_t)data[i + 1] << 8;
        if (where >= at && where < at + n) bytes[where - at] ^= data[i + 2];
    }
}

/* An honest one, and what happens to its words on the way. */
static void receive_honest(tamis_session *t, tamis_session *honest, const uint8_t *data,
                           size_t size) {
    uint8_t bytes[512];
    uint64_t at = 0;
    size_t n;
    int steps = 0;
    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        while ((n = tamis_session_output(t, bytes, sizeof bytes)) > 0) {
            demand(++steps < STEPS);
            is_moving = true;
            if (!tamis_session_is_over(honest)) (void)tamis_session_input(honest, bytes, n);
        }
        while ((n = tamis_session_output(honest, bytes, sizeof bytes)) > 0) {
            demand(++steps < STEPS);
            is_moving = true;
            change(data, size, at, bytes, n);
            at += n;
            if (!tamis_session_is_over(t)) (void)tamis_session_input(t, bytes, n);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    const uint8_t mode = data[0];
    const int side = mode & 1;
    const bool is_honest = mode >> 1 & 1, is_one_way = mode >> 2 & 1;
    tamis_session *t = open_session(side, mode);
    if (is_honest) {
        tamis_session *honest = open_session(!side, mode);
        receive_honest(t, honest, data + 1, size - 1);
        tamis_session_free(honest);
    } else
        receive_anybody(t, data + 1, size - 1);
    /* The wish to know may have been changed on the way; that of the one under test was not. */
    const bool knows_all = side || (!is_one_way && (mode >> 3 & 3) % 3 != TAMIS_WANTS_NOTHING);
    check_end(t, side, is_honest, knows_all);
    tamis_session_free(t);
    return 0;
}
