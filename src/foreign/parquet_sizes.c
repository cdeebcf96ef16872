/* SPDX-License-Identifier: MIT */
/* The sizes of filters by the writers of Parquet files. All start from the same formula, and each
 * rounds in its own way. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "foreign/bytes.h"
#include "foreign/parquet.h"

#define BLOCK_BITS   256.0
#define MAX_BYTES    ((uint64_t)1 << 27) /* of most writers and readers */
#define HEADER_BYTES ((uint64_t)1 << 30) /* the largest power of two that fits a header */
#define BEYOND_BITS  0x1p40              /* more than any of them makes */
#define JAVA_BYTES   ((uint64_t)1 << 20) /* unless its writer is given another limit */

static uint64_t at_least_a_block(uint64_t bytes) {
    return bytes < TAMIS_PARQUET_BLOCK ? TAMIS_PARQUET_BLOCK : bytes;
}

static uint64_t by_duckdb(double bits) {
    return at_least_a_block(tamis__power_of_two_from((uint64_t)(bits / 8)));
}

/* Meant to round up to whole blocks, it clears a bit instead; the power of two mostly hides it. */
static uint64_t by_java(double bits) {
    const uint64_t max = MAX_BYTES * 8;
    const uint64_t whole = bits > (double)max ? max : (uint64_t)bits;
    const uint64_t bytes =
        tamis__power_of_two_from(at_least_a_block(((whole + 255) & ~(uint64_t)256) / 8));
    return bytes < JAVA_BYTES ? bytes : JAVA_BYTES;
}

static uint64_t by_arrow(double bits) {
    const double max = (double)MAX_BYTES * 8;
    return tamis__power_of_two_from((uint64_t)fmin(fmax(bits, BLOCK_BITS), max)) / 8;
}

static uint64_t by_rust(double bits) {
    return tamis__power_of_two_from(at_least_a_block((uint64_t)fmin(bits / 8, (double)MAX_BYTES)));
}

static uint64_t by_hyparquet(double bits) {
    const double blocks = ceil(fmin(ceil(bits), (double)MAX_BYTES * 8) / BLOCK_BITS);
    const uint64_t bytes = at_least_a_block((uint64_t)blocks * TAMIS_PARQUET_BLOCK);
    return bytes < 1024 ? tamis__power_of_two_from(bytes) : bytes;
}

static const struct {
    const char *name;
    uint64_t (*bytes)(double bits);
} writers[] = {{"duckdb", by_duckdb},
               {"parquet-java", by_java},
               {"arrow", by_arrow},
               {"parquet-rs", by_rust},
               {"hyparquet", by_hyparquet}};

uint64_t tamis_parquet_bytes(const char *writer, uint64_t keys, double fpr) {
    size_t i = 0;
    while (i < sizeof writers / sizeof *writers && strcmp(writer, writers[i].name) != 0) i++;
    if (i == sizeof writers / sizeof *writers)
        tamis__fail(TAMIS_INVALID,
                    "'%s' is not one of duckdb, parquet-java, arrow, parquet-rs, hyparquet",
                    writer);
    else if (!(fpr >= 1e-12 && fpr < 1))
        tamis__fail(TAMIS_INVALID, "the rate must be from 1e-12 to below 1, not %g", fpr);
    else {
        const double bits = -8.0 * (double)keys / log(1.0 - pow(fpr, 1.0 / 8.0));
        const uint64_t bytes = writers[i].bytes(fmin(bits, BEYOND_BITS));
        if (bytes <= HEADER_BYTES) return bytes;
        tamis__fail(TAMIS_TOO_LARGE, "a filter of more than 1 GiB does not fit a Parquet file");
    }
    return 0;
}
