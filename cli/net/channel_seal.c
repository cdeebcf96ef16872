/* SPDX-License-Identifier: MIT */
/* channel_seal.c: frames that only the two ends can write and read.
 *
 * Both have a key of 32 bytes. For each conversation and each direction BLAKE2b makes another one
 * from it and from a random number of either end, so that nothing that was ever recorded fits
 * again. Frames are those of libsodium's secretstream (XChaCha20-Poly1305): in their order, none
 * missing, and the last one says that it is the last.
 */
#include "cli/cli.h"
#include "cli/net/channel.h"

#include <stdlib.h>
#include <string.h>

#ifndef TAMIS_WITH_SODIUM

int cipher_open(struct cipher **cipher, const struct args *args, const char *path) {
    (void)path;
    *cipher = NULL;
    return fail(args, NULL,
                "--key: this tamis was built without libsodium, which it needs for encryption");
}

void cipher_close(struct cipher *cipher) {
    (void)cipher;
}

void cipher_start(struct cipher *cipher, enum wire_end end, const uint8_t asker[NONCE_BYTES],
                  const uint8_t answerer[NONCE_BYTES], uint8_t header[CIPHER_HEADER_BYTES],
                  uint8_t secret[TALK_SECRET_BYTES]) {
    (void)cipher, (void)end, (void)asker, (void)answerer;
    memset(header, 0, CIPHER_HEADER_BYTES);
    memset(secret, 0, TALK_SECRET_BYTES);
}

bool cipher_take_header(struct cipher *cipher, const uint8_t header[CIPHER_HEADER_BYTES]) {
    (void)cipher, (void)header;
    return false;
}

void cipher_seal(struct cipher *cipher, const void *bytes, size_t len, bool is_last,
                 uint8_t *sealed) {
    (void)cipher, (void)bytes, (void)is_last;
    memset(sealed, 0, len + CIPHER_MORE_BYTES);
}

bool cipher_unseal(struct cipher *cipher, const uint8_t *sealed, size_t len, bool is_last,
                   uint8_t *bytes) {
    (void)cipher, (void)sealed, (void)len, (void)is_last, (void)bytes;
    return false;
}

#else

#include <sodium.h>

_Static_assert((int)CIPHER_HEADER_BYTES == crypto_secretstream_xchacha20poly1305_HEADERBYTES &&
                   (int)CIPHER_MORE_BYTES == crypto_secretstream_xchacha20poly1305_ABYTES &&
                   (int)TALK_KEY_BYTES == crypto_secretstream_xchacha20poly1305_KEYBYTES,
               "the layout of sealed frames");

struct cipher {
    uint8_t shared[TALK_KEY_BYTES];
    uint8_t incoming[TALK_KEY_BYTES];
    crypto_secretstream_xchacha20poly1305_state in, out;
};

int cipher_open(struct cipher **cipher, const struct args *args, const char *path) {
    *cipher = NULL;
    if (sodium_init() < 0) return fail(args, NULL, "libsodium failed to initialise");
    struct cipher *made = calloc(1, sizeof *made);
    if (!made) return fail_memory(args);
    *cipher = made;
    return secret_from_file(args, path, made->shared, sizeof made->shared,
                            "a shared key (allowed: 32 bytes or 64 hex digits); make one with "
                            "\"head -c 32 /dev/urandom\"");
}

void cipher_close(struct cipher *cipher) {
    if (cipher) sodium_memzero(cipher, sizeof *cipher);
    free(cipher);
}

/* ---- Keys of a conversation ---- */

/* `use` is the end that sends, or 'h' for the secret of the hash. */
static void derive(const struct cipher *cipher, uint8_t use, const uint8_t asker[NONCE_BYTES],
                   const uint8_t answerer[NONCE_BYTES], uint8_t *key, size_t len) {
    static const uint8_t purpose[16] = "tamis talk, 1";
    uint8_t text[sizeof purpose + 1 + 2 * NONCE_BYTES];
    memcpy(text, purpose, sizeof purpose);
    text[sizeof purpose] = use;
    memcpy(text + sizeof purpose + 1, asker, NONCE_BYTES);
    memcpy(text + sizeof purpose + 1 + NONCE_BYTES, answerer, NONCE_BYTES);
    crypto_generichash(key, len, text, sizeof text, cipher->shared, sizeof cipher->shared);
}

void cipher_start(struct cipher *cipher, enum wire_end end, const uint8_t asker[NONCE_BYTES],
                  const uint8_t answerer[NONCE_BYTES], uint8_t header[CIPHER_HEADER_BYTES],
                  uint8_t secret[TALK_SECRET_BYTES]) {
    uint8_t outgoing[TALK_KEY_BYTES];
    const enum wire_end other = end == WIRE_ASKS ? WIRE_ANSWERS : WIRE_ASKS;
    derive(cipher, (uint8_t)end, asker, answerer, outgoing, sizeof outgoing);
    derive(cipher, (uint8_t)other, asker, answerer, cipher->incoming, sizeof cipher->incoming);
    derive(cipher, 'h', asker, answerer, secret, TALK_SECRET_BYTES);
    crypto_secretstream_xchacha20poly1305_init_push(&cipher->out, header, outgoing);
    sodium_memzero(outgoing, sizeof outgoing);
}

bool cipher_take_header(struct cipher *cipher, const uint8_t header[CIPHER_HEADER_BYTES]) {
    return crypto_secretstream_xchacha20poly1305_init_pull(&cipher->in, header, cipher->incoming) ==
           0;
}

/* ---- Frames ---- */

static uint8_t tag_of(bool is_last) {
    return is_last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL : 0;
}

void cipher_seal(struct cipher *cipher, const void *bytes, size_t len, bool is_last,
                 uint8_t *sealed) {
    crypto_secretstream_xchacha20poly1305_push(&cipher->out, sealed, NULL, bytes, len, NULL, 0,
                                               tag_of(is_last));
}

bool cipher_unseal(struct cipher *cipher, const uint8_t *sealed, size_t len, bool is_last,
                   uint8_t *bytes) {
    uint8_t tag = 0;
    return len >= CIPHER_MORE_BYTES &&
           crypto_secretstream_xchacha20poly1305_pull(&cipher->in, bytes, NULL, &tag, sealed, len,
                                                      NULL, 0) == 0 &&
           tag == tag_of(is_last);
}

#endif
