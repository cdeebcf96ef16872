/* SPDX-License-Identifier: MIT */
/* secret.c: secrets in files, and --secret-file.
 *
 * That one is read once, before the verb runs, so that it can come through a pipe also where
 * several images are opened. It is wiped together with the arguments.
 */
#include "cli/cli.h"

#include <string.h>

static bool from_hex(const uint8_t *text, size_t len, uint8_t *secret, size_t size) {
    while (len > 2 * size && (text[len - 1] == '\n' || text[len - 1] == '\r')) len--;
    if (len != 2 * size) return false;
    for (size_t i = 0; i < size; i++) {
        const int high = hex_digit((char)text[2 * i]), low = hex_digit((char)text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

int secret_from_file(const struct args *args, const char *path, uint8_t *secret, size_t size,
                     const char *wanted) {
    /* Room for digits and a line end, and one byte more to see that a file is too long. */
    uint8_t text[2 * MAX_SECRET_BYTES + 3];
    const ssize_t len = file_start(args, path, text, 2 * size + 3);
    if (len < 0) return EXIT_TROUBLE;
    const bool is_plain = (size_t)len == size;
    if (is_plain) memcpy(secret, text, size);
    const bool is_good = is_plain || from_hex(text, (size_t)len, secret, size);
    wipe_secret(text, sizeof text);
    return is_good ? 0 : fail(args, path, "not %s", wanted);
}

int secret_read(struct args *args) {
    if (!given(args, OPT_SECRET_FILE)) return 0;
    const int code =
        secret_from_file(args, args->setting[OPT_SECRET_FILE].text, args->secret, SECRET_BYTES,
                         "a secret (allowed: 16 bytes or 32 hex digits)");
    args->has_secret = !code;
    return code;
}
