/* SPDX-License-Identifier: MIT */
/* Makes the images of tests/golden-bad: each is a sound image with one fault, named after it, and
 * with checksums that fit, as somebody would forge it. `make golden` runs it; files that exist are
 * left alone.
 *
 *     forge FOLDER        reads FOLDER/../golden, writes FOLDER */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "tests/support/seal.h"

static const char *dir;
static uint8_t image[1 << 16];
static size_t size;

static void start_from(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/../golden/%s.tamis", dir, name);
    FILE *file = fopen(path, "rb");
    if (!file) exit((perror(path), 1));
    size = fread(image, 1, sizeof image, file);
    fclose(file);
}

static void write_as(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.tamis", dir, name);
    FILE *file = fopen(path, "wbx");
    if (!file && errno == EEXIST) return;
    if (!file || fwrite(image, 1, size, file) != size || fclose(file)) exit((perror(path), 1));
    printf("made %s\n", path);
}

static void sealed_as(const char *name) {
    test_reseal(image, size);
    write_as(name);
}

/* A sound image with one number of its header changed. */
static void number(const char *from, const char *name, size_t at, size_t bytes, uint64_t value) {
    start_from(from);
    for (size_t i = 0; i < bytes; i++) image[at + i] = (uint8_t)(value >> 8 * i);
    sealed_as(name);
}

static void notes(const char *name, const char *text, size_t len) {
    start_from("blocked-1");
    size = TEST_HEADER_BYTES + (size_t)tamis__get64(image + 144);
    memcpy(image + size, text, len);
    tamis__put64(image + 152, len);
    size += len;
    sealed_as(name);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    dir = argv[1];
    enum {
        VERSION = 8,
        MODE = 10,
        PLACE = 11,
        KIND = 12,
        REFUSE = 20,
        SEED = 24,
        ID = 32,
        SECRET = 40,
        CAPACITY = 56,
        ONE_IN = 72,
        WORDS = 80,
        PAYLOAD = 144,
        NOTES = 152,
        SELF = 160,
        ZERO = 168
    };

    /* Six bytes that another library read as a filter of 17 GB. */
    memcpy(image, "\x00\x01\x7f\xff\xff\xff", size = 6);
    write_as("six-bytes-claim-17-gb");
    size = 0;
    write_as("empty-file");
    start_from("blocked-1");
    size = TEST_HEADER_BYTES - 1;
    write_as("half-a-header");
    start_from("blocked-1");
    image[0] = 'X';
    sealed_as("another-magic");
    start_from("blocked-1");
    image[TEST_HEADER_BYTES] ^= 1;
    write_as("payload-bit-flipped");
    start_from("blocked-1");
    image[64] ^= 1;
    write_as("header-bit-flipped");
    start_from("blocked-1");
    image[size++] = 0;
    sealed_as("one-byte-more");
    start_from("blocked-1");
    size--;
    sealed_as("one-byte-less");

    number("blocked-1", "version-0", VERSION, 2, 0);
    number("blocked-1", "newer-version", VERSION, 2, 2);
    number("blocked-1", "newer-feature", REFUSE, 4, 1u << 31);
    number("blocked-1", "newer-kind", KIND, 4, 999999);
    number("blocked-1", "newer-hash", MODE, 1, 200);
    number("blocked-1", "kind-0", KIND, 4, 0);
    number("blocked-1", "own-hash-for-our-kind", MODE, 1, 0);
    number("blocked-1", "another-hash", MODE, 1, 2);
    number("blocked-1", "another-seed", SEED, 8, 7);
    number("blocked-1", "key-place-without-key", PLACE, 1, 1);
    number("blocked-1", "key-place-unknown", PLACE, 1, 3);
    number("blocked-1", "key-id-without-key", ID, 8, 1);
    number("blocked-1", "secret-without-key", SECRET, 8, 1);
    number("blocked-outside-1", "secret-in-an-outside-image", SECRET, 8, 1);
    number("blocked-1", "hash-self-test", SELF, 8, 1);
    number("blocked-1", "reserved-bytes", ZERO, 8, 1);
    number("blocked-1", "capacity-2-to-57", CAPACITY, 8, (uint64_t)1 << 57);
    number("blocked-1", "rate-1", ONE_IN, 8, 1000000);
    number("blocked-1", "blocks-0", WORDS, 8, 0);
    number("blocked-1", "blocks-wrap-64-bits", WORDS, 8, (uint64_t)1 << 58);
    number("blocked-1", "blocks-2-to-63", WORDS, 8, (uint64_t)1 << 63);
    number("blocked-1", "blocks-one-more", WORDS, 8, tamis__get64(image + WORDS) + 1);
    number("blocked-1", "hashes-0", WORDS + 8, 8, 0);
    number("blocked-1", "hashes-9", WORDS + 8, 8, 9);
    number("blocked-1", "unused-word", WORDS + 56, 8, 1);
    number("blocked-1", "payload-size-0", PAYLOAD, 8, 0);
    number("blocked-1", "payload-size-2-to-64", PAYLOAD, 8, UINT64_MAX);
    number("blocked-1", "payload-size-wraps", PAYLOAD, 8, (uint64_t)0 - 192);
    number("blocked-1", "notes-size-2-to-64", NOTES, 8, UINT64_MAX);
    number("classic-1", "classic-bits-0", WORDS, 8, 0);
    number("classic-1", "classic-bits-2-to-64", WORDS, 8, UINT64_MAX);
    number("classic-1", "classic-hashes-65", WORDS + 8, 8, 65);
    number("classic-1", "classic-hashes-a-billion", WORDS + 8, 8, 1000000000);
    number("classic-1", "classic-scheme-unknown", WORDS + 16, 8, 5);
    number("classic-double-1", "classic-double-with-odd-bits", WORDS, 8,
           tamis__get64(image + WORDS) - 1);
    number("split-1", "split-index-unknown", WORDS + 8, 8, 2);
    number("split-1", "split-parquet-2-to-31-blocks", WORDS, 8, (uint64_t)1 << 31);
    start_from("classic-any-bits-1");
    image[TEST_HEADER_BYTES + 1999 / 8] |= 0x80;
    sealed_as("classic-stray-bit");

    notes("notes-without-end", "a\0b", 3);
    notes("notes-odd-number", "a\0", 2);
    notes("notes-out-of-order", "b\0\0a\0\0", 6);
    notes("notes-twice", "a\0001\0a\0002\0", 8);
    notes("notes-name-empty", "\0x\0", 3);
    notes("notes-name-upper-case", "A\0x\0", 4);
    notes("notes-not-utf-8", "a\0\xff\0", 4);
    notes("notes-overlong-utf-8", "a\0\xc0\x80\0", 5);
    return 0;
}
