/* SPDX-License-Identifier: MIT */
/* decode.c: which encodings there are; the library does the work. */
#include <string.h>

#include "cli/keys/steps.h"
#include "tamis_formats.h"

const char *encoding_named(const char *name) {
    const char *known;
    for (size_t i = 0; (known = tamis_encoding_at(i)) != NULL; i++)
        if (strcmp(name, known) == 0) return known;
    return NULL;
}

bool encoding_is_any_bytes(const char *encoding) {
    static const char *const names[] = {"bytes", "hex", "base64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(encoding, names[i]) == 0) return true;
    return false;
}

int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    digit = lower_byte(digit);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}
