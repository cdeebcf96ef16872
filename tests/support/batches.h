/* SPDX-License-Identifier: MIT */
/* For tests of kinds: a batch equals its keys one by one, on every CPU. A failure ends the test
 * program with a message. */
#ifndef TAMIS_TESTS_SUPPORT_BATCHES_H
#define TAMIS_TESTS_SUPPORT_BATCHES_H

#include "tamis.h"

/* Adds the hashes one by one, and to other filters of that spec in batches of all sizes, with each
 * set of CPU features that this machine has; demands the same bytes. Then queries all of them and
 * as many non-members in batches of all sizes, and demands the answers of plain code for each
 * alone; and again with the hashes taken for keys. */
void test_batches(const char *spec, const uint64_t *hashes, size_t n);

#endif
