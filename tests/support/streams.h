/* SPDX-License-Identifier: MIT */
/* Tests of filters for streams may include this. What fails here ends the test program with a
 * sentence. */
#ifndef TAMIS_TESTS_SUPPORT_STREAMS_H
#define TAMIS_TESTS_SUPPORT_STREAMS_H

#include "tamis.h"

/* Strangers hit as often as the bits say. */
void test_demand_rate(const tamis *, uint64_t family, uint64_t probes);

/* Images with bytes changed at random and sealed again: refused, or sound enough for everything. */
void test_demand_safe_forgeries(const tamis *, uint64_t family);

/* One wrong number, at a byte of an otherwise sound image: is it refused as corrupt, or not? */
void test_demand_refused(const tamis *, size_t at, uint64_t value, bool is_refused);

#endif
