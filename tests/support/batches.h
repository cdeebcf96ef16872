/* SPDX-License-Identifier: MIT */
/* Tests of kinds may include this: a batch is what its keys are one by one, on every processor.
 * What fails here ends the test program with a sentence. */
#ifndef TAMIS_TESTS_SUPPORT_BATCHES_H
#define TAMIS_TESTS_SUPPORT_BATCHES_H

#include "tamis.h"

/* Adds the hashes one by one, and to other filters of that spec in batches of all sizes, with each
 * set of abilities that this processor has; demands the same bytes. Then asks all of them and as
 * many strangers in batches of all sizes, and demands what plain code says of each alone; and once
 * more with the hashes taken for keys. */
void test_batches(const char *spec, const uint64_t *hashes, size_t n);

#endif
