/* SPDX-License-Identifier: MIT */
/* Tests of kinds may include this: hashes added and counted in one line, and what the payload then
 * holds. What fails here ends the test program with a sentence. */
#ifndef TAMIS_TESTS_SUPPORT_CONTENTS_H
#define TAMIS_TESTS_SUPPORT_CONTENTS_H

#include "tamis.h"

/* Adds numbers [from, to) of a family as hashes. */
void test_add_hashes(tamis *, uint64_t family, uint64_t from, uint64_t to);

/* How many of n numbers of a family the filter has, asked in batches and, with the same answers,
 * one by one. */
uint64_t test_count_hits(const tamis *, uint64_t family, uint64_t from, uint64_t n);

/* Payload and shape words; or all bytes of the image. */
bool test_is_same_payload(const tamis *, const tamis *);
bool test_is_same_image(const tamis *, const tamis *);

/* The payload itself, and its bits [at, at + width). */
const uint8_t *test_payload(const tamis *);
uint64_t test_bits_at(const tamis *, uint64_t at, unsigned width);

/* Exactly these n bits of the payload are set, some of them perhaps named twice. */
void test_demand_bits(const tamis *, const uint16_t *at, size_t n);

/* How many bits of n bytes are set. */
uint64_t test_bits_set(const uint8_t *bytes, uint64_t n);

/* How many slots are in use, of the kinds that count slots in their first word. */
uint64_t test_slots_used(const tamis *);

/* What is in memory also passes the gate. */
void test_demand_loads(const tamis *);

#endif
