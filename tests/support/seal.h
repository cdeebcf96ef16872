/* SPDX-License-Identifier: MIT */
/* For tests that forge images. A failure ends the test program with a message. */
#ifndef TAMIS_TESTS_SUPPORT_SEAL_H
#define TAMIS_TESTS_SUPPORT_SEAL_H

#include "tamis.h"

enum { TEST_WORDS_AT = 80, TEST_HEADER_BYTES = 192 };

/* Makes both checksums of an image match its bytes again, as a forger would. Only the header must
 * be whole. */
void test_reseal(uint8_t *image, size_t size);

/* What a test does with a forged filter that was accepted; NULL: nothing. */
typedef void (*test_use)(const tamis *);

/* Reseals an image and loads it. If accepted, it is used and freed. */
tamis_status test_load_resealed(uint8_t *image, size_t size, test_use);

/* The same with the word at a byte of the image changed, and restored afterwards. */
tamis_status test_load_forged(uint8_t *image, size_t size, size_t at, uint64_t value, test_use);

/* Does the gate take an image with another value in a word of its payload? It is put back. */
bool test_takes_word(uint8_t *image, size_t size, size_t word, uint64_t value);

/* Does the gate take a filter whose payload has one bit flipped? */
bool test_takes_flip(const tamis *, uint64_t bit);

/* Forged shape words, each alone: are all of them refused as corrupt, and is the original image
 * accepted? */
typedef struct test_word {
    unsigned word;
    uint64_t value;
} test_word;

bool test_refuses_words(const tamis *, const test_word *, size_t n, test_use);

/* Loads `images` images with one to three bits flipped, in every eighth of them in the shape words
 * and otherwise in the payload: how many are accepted? */
unsigned test_flip_bits(const tamis *, unsigned images, test_use);

#endif
