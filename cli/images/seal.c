/* SPDX-License-Identifier: MIT */
/* seal.c: signatures of patches.
 *
 *       0  magic             8     72  digest of the base     32
 *       8  public key       32    104  digest of the result   32
 *      40  digest of patch  32    136  signature              64
 *
 * Digests are BLAKE2b-256, the signature is Ed25519 of the first 136 bytes. The checksums inside a
 * patch find accidents; these digests stand against people.
 */
#include "cli/images/seal.h"

#include <errno.h>
#include <stdlib.h>

enum { AT_KEY = 8, AT_PATCH = 40, AT_BASE = 72, AT_RESULT = 104, AT_SIGNATURE = 136 };

static const uint8_t magic[8] = {0xd6, 's', 'e', 'a', 'l', 0x01, 0x1a, 0x0a};

static const uint8_t *seal_of(const struct bytes *patch) {
    return patch->at + patch->size - SEAL_BYTES;
}

bool seal_is_there(const struct bytes *patch) {
    return patch->size >= SEAL_BYTES && memcmp(seal_of(patch), magic, sizeof magic) == 0;
}

struct human seal_signer(const struct bytes *patch) {
    struct human hex = {""};
    for (size_t i = 0; i < AT_PATCH - AT_KEY; i++)
        snprintf(hex.text + 2 * i, 3, "%02x", seal_of(patch)[AT_KEY + i]);
    return hex;
}

#ifndef TAMIS_WITH_SODIUM

static int fail_without(const struct args *args) {
    return fail(args, NULL,
                "this tamis was built without libsodium, which it needs to sign and verify");
}

const char *seal_library(void) {
    return NULL;
}

int seal_make_keys(const struct args *args, const char *path) {
    (void)path;
    return fail_without(args);
}

int seal_start(struct seal **seal, const struct args *args, const char *key_path) {
    (void)key_path;
    *seal = NULL;
    return fail_without(args);
}

void seal_more(struct seal *seal, const void *patch_bytes, size_t size) {
    (void)seal, (void)patch_bytes, (void)size;
}

void seal_end(struct seal *seal, const struct bytes *base, const struct bytes *result,
              uint8_t sealed[SEAL_BYTES]) {
    (void)seal, (void)base, (void)result;
    memset(sealed, 0, SEAL_BYTES);
}

void seal_free(struct seal *seal) {
    (void)seal;
}

struct digest digest_of(const void *bytes, size_t size) {
    (void)bytes, (void)size;
    return (struct digest){.is_known = false};
}

int text_sign(const struct args *args, const char *key_path, const void *text, size_t len,
              uint8_t public_key[PUBLIC_KEY_BYTES], uint8_t signature[SIGNATURE_BYTES]) {
    (void)key_path, (void)text, (void)len, (void)public_key, (void)signature;
    return fail_without(args);
}

int text_check(const struct args *args, const char *key_path, const char *path, const void *text,
               size_t len, const uint8_t public_key[PUBLIC_KEY_BYTES],
               const uint8_t signature[SIGNATURE_BYTES]) {
    (void)key_path, (void)path, (void)text, (void)len, (void)public_key, (void)signature;
    return fail_without(args);
}

int seal_check(const struct args *args, const struct bytes *patch, const char *key_path) {
    (void)patch, (void)key_path;
    return fail_without(args);
}

int seal_check_base(const struct args *args, const struct bytes *patch, const struct bytes *base) {
    (void)patch, (void)base;
    return fail_without(args);
}

int seal_check_result(const struct args *args, const struct bytes *patch,
                      const struct bytes *result) {
    (void)patch, (void)result;
    return fail_without(args);
}

#else

#include <sodium.h>

enum {
    PUBLIC_BYTES = crypto_sign_PUBLICKEYBYTES,
    SEED_BYTES = crypto_sign_SEEDBYTES,
    SIGNER_BYTES = crypto_sign_SECRETKEYBYTES,
    HEX_DIGITS = 64
};
_Static_assert(crypto_generichash_BYTES == DIGEST_BYTES &&
                   crypto_sign_PUBLICKEYBYTES == PUBLIC_KEY_BYTES && SEED_BYTES == 32 &&
                   crypto_sign_BYTES == SIGNATURE_BYTES &&
                   crypto_sign_BYTES == SEAL_BYTES - AT_SIGNATURE,
               "the layout of a seal");

const char *seal_library(void) {
    static char text[48];
    snprintf(text, sizeof text, "libsodium %s", sodium_version_string());
    return text;
}

/* ---- Key files: a line that says what it is, a line of hex digits ---- */

enum key { SECRET_KEY, PUBLIC_KEY };

static const char *const first_line[] = {
    [SECRET_KEY] = "tamis secret key (ed25519), to sign patches: keep it private\n",
    [PUBLIC_KEY] = "tamis public key (ed25519), to verify patches\n"};

static int sodium_ready(const struct args *args) {
    return sodium_init() < 0 ? fail(args, NULL, "libsodium failed to initialise") : 0;
}

static int write_key(const struct args *args, const char *path, enum key key,
                     const uint8_t bytes[32]) {
    char digits[HEX_DIGITS + 1];
    struct new_file file;
    sodium_bin2hex(digits, sizeof digits, bytes, 32);
    digits[HEX_DIGITS] = '\n';
    int code = file_begin(&file, args, path,
                          key == SECRET_KEY ? TAMIS_READERS_OWNER_ALWAYS : TAMIS_READERS_USUAL);
    if (!code)
        code = file_end(&file, file_put(&file, first_line[key], strlen(first_line[key])) &&
                                   file_put(&file, digits, sizeof digits));
    sodium_memzero(digits, sizeof digits);
    return code;
}

int seal_make_keys(const struct args *args, const char *path) {
    uint8_t seed[SEED_BYTES], public[PUBLIC_BYTES], signer[SIGNER_BYTES];
    char other[PATH_MAX];
    if ((size_t)snprintf(other, sizeof other, "%s.pub", path) >= sizeof other)
        return fail(args, path, "cannot write: %s", strerror(ENAMETOOLONG));
    int code = file_may_write(args, path, "a key");
    if (!code) code = file_may_write(args, other, "a key");
    if (!code) code = sodium_ready(args);
    if (code) return code;
    randombytes_buf(seed, sizeof seed);
    crypto_sign_seed_keypair(public, signer, seed);
    code = write_key(args, path, SECRET_KEY, seed);
    if (!code) code = write_key(args, other, PUBLIC_KEY, public);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(signer, sizeof signer);
    return code;
}

/* The words of a file that is no key, or the wrong one of the two. */
static int fail_key(const struct args *args, const char *path, enum key wanted, const char *text) {
    const enum key other = wanted == SECRET_KEY ? PUBLIC_KEY : SECRET_KEY;
    const bool is_other = strncmp(text, first_line[other], strlen(first_line[other])) == 0;
    if (is_other && wanted == PUBLIC_KEY)
        return fail(args, path, "this is a secret key; verify with the public one: %s.pub", path);
    if (is_other) return fail(args, path, "this is a public key; only the secret one can sign");
    return fail(args, path, "not a tamis %s key; make one with \"tamis keygen\"",
                wanted == SECRET_KEY ? "secret" : "public");
}

static int parse_key(const struct args *args, const char *path, enum key wanted, const char *text,
                     uint8_t bytes[32]) {
    const size_t len = strlen(first_line[wanted]);
    size_t got = 0;
    const char *end = text;
    if (strncmp(text, first_line[wanted], len) == 0)
        sodium_hex2bin(bytes, 32, text + len, strlen(text + len), NULL, &got, &end);
    if (got == 32 && end[strspn(end, "\r\n")] == '\0') return 0;
    return fail_key(args, path, wanted, text);
}

static int read_key(const struct args *args, const char *path, enum key wanted, uint8_t bytes[32]) {
    char text[256];
    if (sodium_ready(args)) return EXIT_TROUBLE;
    const ssize_t len = file_start(args, path, text, sizeof text - 1);
    if (len < 0) return EXIT_TROUBLE;
    text[len] = '\0';
    const int code = parse_key(args, path, wanted, text, bytes);
    sodium_memzero(text, sizeof text);
    return code;
}

/* ---- Signing ---- */

struct seal {
    crypto_generichash_state patch;
    uint8_t public[PUBLIC_BYTES], signer[SIGNER_BYTES];
};

struct digest digest_of(const void *bytes, size_t size) {
    struct digest digest = {.is_known = sodium_init() >= 0};
    crypto_generichash(digest.bytes, DIGEST_BYTES, bytes, size, NULL, 0);
    return digest;
}

int seal_start(struct seal **seal, const struct args *args, const char *key_path) {
    uint8_t seed[SEED_BYTES];
    *seal = NULL;
    const int code = read_key(args, key_path, SECRET_KEY, seed);
    if (code) return code;
    /* Its state wants to lie on a multiple of 64. */
    struct seal *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (s) {
        crypto_sign_seed_keypair(s->public, s->signer, seed);
        crypto_generichash_init(&s->patch, NULL, 0, DIGEST_BYTES);
    }
    sodium_memzero(seed, sizeof seed);
    *seal = s;
    return s ? 0 : fail_memory(args);
}

void seal_more(struct seal *seal, const void *patch_bytes, size_t size) {
    crypto_generichash_update(&seal->patch, patch_bytes, size);
}

void seal_end(struct seal *seal, const struct bytes *base, const struct bytes *result,
              uint8_t sealed[SEAL_BYTES]) {
    memcpy(sealed, magic, sizeof magic);
    memcpy(sealed + AT_KEY, seal->public, PUBLIC_BYTES);
    crypto_generichash_final(&seal->patch, sealed + AT_PATCH, DIGEST_BYTES);
    memcpy(sealed + AT_BASE, digest_of(base->at, base->size).bytes, DIGEST_BYTES);
    memcpy(sealed + AT_RESULT, digest_of(result->at, result->size).bytes, DIGEST_BYTES);
    crypto_sign_detached(sealed + AT_SIGNATURE, NULL, sealed, AT_SIGNATURE, seal->signer);
}

void seal_free(struct seal *seal) {
    if (seal) sodium_memzero(seal, sizeof *seal);
    free(seal);
}

/* ---- Verifying ---- */

int seal_check(const struct args *args, const struct bytes *patch, const char *key_path) {
    uint8_t public[PUBLIC_BYTES];
    const int code = read_key(args, key_path, PUBLIC_KEY, public);
    if (code) return code;
    if (!seal_is_there(patch))
        return fail(args, patch->path, "the patch is not signed, and --verify wants a signature");
    const uint8_t *seal = seal_of(patch);
    if (memcmp(seal + AT_KEY, public, PUBLIC_BYTES) != 0)
        return fail(args, patch->path, "the patch is signed with a key other than %s", key_path);
    const struct digest digest = digest_of(patch->at, patch->size - SEAL_BYTES);
    if (crypto_sign_verify_detached(seal + AT_SIGNATURE, seal, AT_SIGNATURE, public) != 0 ||
        memcmp(seal + AT_PATCH, digest.bytes, DIGEST_BYTES) != 0)
        return fail(args, patch->path,
                    "the signature is wrong: the patch was changed after it was signed");
    return 0;
}

static bool is_sealed(const struct bytes *patch, size_t at, const struct bytes *image) {
    const struct digest digest = digest_of(image->at, image->size);
    return memcmp(seal_of(patch) + at, digest.bytes, DIGEST_BYTES) == 0;
}

int seal_check_base(const struct args *args, const struct bytes *patch, const struct bytes *base) {
    if (is_sealed(patch, AT_BASE, base)) return 0;
    return fail(args, patch->path, "the patch was signed for an image other than %s", base->path);
}

int seal_check_result(const struct args *args, const struct bytes *patch,
                      const struct bytes *result) {
    if (is_sealed(patch, AT_RESULT, result)) return 0;
    return fail(args, patch->path, "the patch does not produce the image that was signed");
}

/* ---- Texts ---- */

int text_sign(const struct args *args, const char *key_path, const void *text, size_t len,
              uint8_t public_key[PUBLIC_KEY_BYTES], uint8_t signature[SIGNATURE_BYTES]) {
    uint8_t seed[SEED_BYTES], signer[SIGNER_BYTES];
    const int code = read_key(args, key_path, SECRET_KEY, seed);
    if (code) return code;
    crypto_sign_seed_keypair(public_key, signer, seed);
    crypto_sign_detached(signature, NULL, text, len, signer);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(signer, sizeof signer);
    return 0;
}

int text_check(const struct args *args, const char *key_path, const char *path, const void *text,
               size_t len, const uint8_t public_key[PUBLIC_KEY_BYTES],
               const uint8_t signature[SIGNATURE_BYTES]) {
    uint8_t public[PUBLIC_BYTES];
    const int code = read_key(args, key_path, PUBLIC_KEY, public);
    if (code) return code;
    if (memcmp(public_key, public, PUBLIC_BYTES) != 0)
        return fail(args, path, "signed with a key other than %s", key_path);
    if (crypto_sign_verify_detached(signature, text, len, public) != 0)
        return fail(args, path, "the signature is wrong: it was changed after it was signed");
    return 0;
}

#endif
