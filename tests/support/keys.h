/* SPDX-License-Identifier: MIT */
/* For every test: keys and hashes that are distinct by construction. */
#ifndef TAMIS_TESTS_SUPPORT_KEYS_H
#define TAMIS_TESTS_SUPPORT_KEYS_H

#include <stdint.h>

/* The i-th of 2^64 distinct, well-mixed numbers of a family: a bijection of i for each family, so
 * members and non-members of one family cannot coincide. Non-members are taken from the same
 * family, above every member: number(seed, i) with i >= 2^40. */
uint64_t test_number(uint64_t family, uint64_t i);

#define TEST_STRANGERS ((uint64_t)1 << 40)

#endif
