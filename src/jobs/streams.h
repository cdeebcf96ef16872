/* SPDX-License-Identifier: MIT */
/* The conversation of src/jobs may include this: both ends of a stream, made of a list that is
 * there. */
#ifndef TAMIS_JOBS_STREAMS_H
#define TAMIS_JOBS_STREAMS_H

#include "jobs/symbol_set.h"

/* They take the list over when they succeed, and key it. */
tamis_status tamis__symbols_of(tamis_symbols **, tamis_symbol_set *, const uint8_t key[16]);
tamis_status tamis__peeler_of(tamis_peeler **, tamis_symbol_set *, const uint8_t key[16]);

/* The list, for looking up, and for changing it when no symbol is wanted any more. */
tamis_symbol_set *tamis__symbols_symbol_set(tamis_symbols *);

/* How many hashes differ in all, those that were found included, as far as the symbols tell by
 * now. */
double tamis__peeler_estimate(const tamis_peeler *);

#endif
