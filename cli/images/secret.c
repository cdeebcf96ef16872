/* SPDX-License-Identifier: MIT */
/* secret.c: reading --secret-file.
 *
 * The secret is read once, before the verb runs, so that it can come through a pipe also where
 * several images are opened. It is wiped together with the arguments.
 */
#include "cli/cli.h"

#include <string.h>

/* Room for 32 digits and a line end, and one byte more to see that a file is too long. */
enum { HEX_DIGITS = 2 * SECRET_BYTES, SECRET_ROOM = HEX_DIGITS + 3 };

static bool from_hex(const uint8_t *text, size_t len, uint8_t *secret) {
    while (len > HEX_DIGITS && (text[len - 1] == '\n' || text[len - 1] == '\r')) len--;
    if (len != HEX_DIGITS) return false;
    for (size_t i = 0; i < SECRET_BYTES; i++) {
        const int high = hex_digit((char)text[2 * i]), low = hex_digit((char)text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

int secret_read(struct args *args) {
    if (!given(args, OPT_SECRET_FILE)) return 0;
    const char *path = args->setting[OPT_SECRET_FILE].text;
    uint8_t bytes[SECRET_ROOM];
    const ssize_t len = file_start(args, path, bytes, sizeof bytes);
    if (len < 0) return EXIT_TROUBLE;

    args->has_secret = true;
    if (len == SECRET_BYTES)
        memcpy(args->secret, bytes, SECRET_BYTES);
    else if (!from_hex(bytes, (size_t)len, args->secret))
        args->has_secret = false;
    wipe_secret(bytes, sizeof bytes);
    if (args->has_secret) return 0;
    return fail(args, path, "not a secret (allowed: 16 bytes or 32 hex digits)");
}
