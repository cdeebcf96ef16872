/* SPDX-License-Identifier: MIT */
/* Runs the fuzz target of the module's values over sound ones, each cut short at every byte and
 * with every byte set to values that counts and sizes break on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/exact.h"
#include "tests/fuzz/rdb.h"

static unsigned try_value(uint8_t *bytes, size_t size) {
    static const uint8_t values[] = {0, 1, 0x40, 0x7f, 0x80, 0xff};
    const size_t step = getenv("TAMIS_QUICK") ? 5 : 1;
    unsigned tried = 1;
    try_bytes(bytes, size);
    for (size_t cut = 0; cut < size; cut += step, tried++) try_bytes(bytes, cut);
    for (size_t at = 0; at < size; at += step)
        for (size_t v = 0; v < sizeof values; v++, tried++) {
            const uint8_t old = bytes[at];
            bytes[at] = values[v];
            try_bytes(bytes, size);
            bytes[at] = old;
        }
    return tried;
}

int main(void) {
    static uint8_t bytes[RDB_MAX_SEED];
    unsigned seeds = 0, tried = 0;
    for (size_t size; (size = rdb_seed(seeds, bytes)) > 0; seeds++) tried += try_value(bytes, size);
    printf("ok 1 - %u values, %u inputs\n1..1\n", seeds, tried);
    return 0;
}
