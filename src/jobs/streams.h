/* SPDX-License-Identifier: MIT */
/* For sessions in src/jobs: both ends of a stream, from an existing list. */
#ifndef TAMIS_JOBS_STREAMS_H
#define TAMIS_JOBS_STREAMS_H

#include "jobs/symbol_set.h"

/* They own the list when they succeed, and key it. */
tamis_status tamis__symbols_of(tamis_symbols **, tamis_symbol_set *, const uint8_t key[16]);
tamis_status tamis__peeler_of(tamis_peeler **, tamis_symbol_set *, const uint8_t key[16]);

/* The list, to look up hashes, and to change it when no more symbols are wanted. */
tamis_symbol_set *tamis__symbols_symbol_set(tamis_symbols *);

/* Estimates how many hashes differ in all, including those found, from the symbols so far. */
double tamis__peeler_estimate(const tamis_peeler *);

#endif
