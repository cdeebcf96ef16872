/* Tests may include this, after tests/help/foreign.h: bytes written as hex digits. */
#ifndef TAMIS_TESTS_HELP_HEX_H
#define TAMIS_TESTS_HELP_HEX_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/help/foreign.h"

/* Free its bytes. */
static inline test_file test_hex(const char *digits) {
    test_file file = {malloc(strlen(digits) / 2 + 1), strlen(digits) / 2};
    for (size_t i = 0; i < file.size; i++) {
        unsigned byte = 0;
        sscanf(digits + 2 * i, "%2x", &byte);
        file.bytes[i] = (uint8_t)byte;
    }
    return file;
}

#endif
