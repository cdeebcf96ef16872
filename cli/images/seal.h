/* SPDX-License-Identifier: MIT */
/* seal.h: only the files in cli/ include this. Signatures of patches: who made them?
 *
 * A seal follows the patch. It holds digests of the patch and of both images, the public key of who
 * signed, and the signature of all that (docs/format.md). Made and checked by libsodium, which a
 * build can do without: then whatever needs it says so.
 */
#ifndef TAMIS_CLI_IMAGES_SEAL_H
#define TAMIS_CLI_IMAGES_SEAL_H

#include "cli/feeds/feed_index.h"
#include "cli/files/files.h"

enum { SEAL_BYTES = 200 };

/* What signs, with its version, or NULL when this command was built without. */
const char *seal_library(void);

/* Whether the last bytes of a signed patch are what they should be. Needs no library. */
bool seal_is_there(const struct bytes *patch);

/* The public key that a seal names, in hex digits; whether the seal is right, seal_check says. */
struct human seal_signer(const struct bytes *patch);

/* Makes a pair of keys: a secret one in `path`, for its owner only, and the public one in
 * `path`.pub. */
int seal_make_keys(const struct args *args, const char *path);

/* A seal in the making. seal_free is due also after a failure. */
struct seal;
int seal_start(struct seal **seal, const struct args *args, const char *key_path);
void seal_more(struct seal *seal, const void *patch_bytes, size_t size);
void seal_end(struct seal *seal, const struct bytes *base, const struct bytes *result,
              uint8_t sealed[SEAL_BYTES]);
void seal_free(struct seal *seal);

/* The digest of some bytes; unknown without the library. */
struct digest digest_of(const void *bytes, size_t size);

/* Signs a text, and checks who did. `path` is where it came from. */
int text_sign(const struct args *args, const char *key_path, const void *text, size_t len,
              uint8_t public_key[PUBLIC_KEY_BYTES], uint8_t signature[SIGNATURE_BYTES]);
int text_check(const struct args *args, const char *key_path, const char *path, const void *text,
               size_t len, const uint8_t public_key[PUBLIC_KEY_BYTES],
               const uint8_t signature[SIGNATURE_BYTES]);

/* Checks a patch with its seal: by that key, of these bytes. */
int seal_check(const struct args *args, const struct bytes *patch, const char *key_path);

/* Checks an image by the seal of a patch that seal_check let pass. */
int seal_check_base(const struct args *args, const struct bytes *patch, const struct bytes *base);
int seal_check_result(const struct args *args, const struct bytes *patch,
                      const struct bytes *result);

#endif
