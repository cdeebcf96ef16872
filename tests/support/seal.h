/* SPDX-License-Identifier: MIT */
/* Tests that forge images may include this. What fails here ends the test program with a
 * sentence. */
#ifndef TAMIS_TESTS_SUPPORT_SEAL_H
#define TAMIS_TESTS_SUPPORT_SEAL_H

#include "tamis.h"

enum { TEST_WORDS_AT = 80, TEST_HEADER_BYTES = 192 };

/* Makes both checksums of an image fit its bytes again, as somebody would who forges one. Needs a
 * whole header and nothing else to be right. */
void test_reseal(uint8_t *image, size_t size);

/* What a test does with a forged filter that was let in; NULL: nothing. */
typedef void (*test_use)(const tamis *);

/* Reseals an image and loads it. What is let in is used, and freed. */
tamis_status test_load_resealed(uint8_t *image, size_t size, test_use);

/* The same with the word at a byte of the image changed, which is put back afterwards. */
tamis_status test_load_forged(uint8_t *image, size_t size, size_t at, uint64_t value, test_use);

/* Does the gate take an image with another value in a word of its payload? It is put back. */
bool test_takes_word(uint8_t *image, size_t size, size_t word, uint64_t value);

/* Does the gate take a filter whose payload has one bit flipped? */
bool test_takes_flip(const tamis *, uint64_t bit);

/* Shape words that are forged, each alone: are all of them refused as corrupt, and is the image let
 * in as it was? */
typedef struct test_word {
    unsigned word;
    uint64_t value;
} test_word;

bool test_refuses_words(const tamis *, const test_word *, size_t n, test_use);

/* So many images with one to three bits flipped, in every eighth of them of the shape words and
 * otherwise of the payload: how many are let in? */
unsigned test_flip_bits(const tamis *, unsigned images, test_use);

#endif
