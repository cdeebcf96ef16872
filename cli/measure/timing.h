/* SPDX-License-Identifier: MIT */
/* timing.h: only the files in cli/ include this. How fast a filter is on this machine. */
#ifndef TAMIS_CLI_MEASURE_TIMING_H
#define TAMIS_CLI_MEASURE_TIMING_H

#include "tamis.h"

/* Nanoseconds per key; NaN for what was not measured. */
struct measured {
    uint64_t keys;
    double build; /* by a builder, everything counted */
    double hit;   /* of a list, keys that are inside */
    double miss;  /* of a list, non-members */
    double one;   /* one call for each non-member */
};

/* A list of keys to measure with: `members` are or will be inside, `nonmembers` not. */
struct sample {
    struct tamis_key *members, *nonmembers;
    size_t n;
};

/* Makes a filter of this spec with `keys` numbers and measures it. */
tamis_status measure_params(const char *spec, uint64_t keys, const struct tamis_options *options,
                            struct measured *measured);

/* Makes a filter of this spec with the members of a sample, and measures how long that took for
 * each. */
tamis_status measure_build(const char *spec, const struct sample *sample,
                           const struct tamis_options *options, tamis **filter, double *ns);

/* Asks an existing filter about numbers that it has never seen, or about the keys of a sample. */
void measure_nonmembers(const tamis *filter, struct measured *measured);
void measure_sample(const tamis *filter, const struct sample *sample, struct measured *measured);

/* What memory itself takes: one random line of `bytes` bytes, many under way at once. 0 when there
 * is no room for them. */
double measure_line(uint64_t bytes);

#endif
