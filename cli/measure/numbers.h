/* SPDX-License-Identifier: MIT */
/* numbers.h: only the files in cli/ include this. Filters of numbers that look random, the same in
 * every run, and what they answer about others. */
#ifndef TAMIS_CLI_MEASURE_NUMBERS_H
#define TAMIS_CLI_MEASURE_NUMBERS_H

#include "tamis.h"

/* The i-th of a sequence that looks random, and never has a number twice. */
uint64_t number_at(uint64_t i);

/* Numbers before this one are members, the others non-members. */
#define FIRST_NONMEMBER (UINT64_C(1) << 63)

/* Starts a builder of this spec, with the threads of the options. */
tamis_status numbers_builder(tamis_builder **builder, const char *spec,
                             const struct tamis_options *options);

/* Builds a filter of `keys` numbers from the first-th on. */
tamis_status numbers_build(const char *spec, uint64_t first, uint64_t keys,
                           const struct tamis_options *options, tamis **filter);

/* How many of `n` non-members, from the first-th on, are answered yes. */
uint64_t numbers_hits(const tamis *filter, uint64_t first, uint64_t n);

#endif
