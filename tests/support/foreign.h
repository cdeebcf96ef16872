/* SPDX-License-Identifier: MIT */
/* For tests of other systems' filters, after cmocka.h: files that the systems wrote, and what must
 * hold for each of them. A failure fails the test with a message. */
#ifndef TAMIS_TESTS_SUPPORT_FOREIGN_H
#define TAMIS_TESTS_SUPPORT_FOREIGN_H

#include "tamis.h"

typedef struct test_file {
    uint8_t *bytes; /* NULL: missing */
    size_t size;
} test_file;

/* A file of tests/vectors, which must exist. Free its bytes. */
test_file test_vector(const char *path);

/* A file that others published and that is not ours to copy: looked for in the directory
 * $TAMIS_VECTORS, or next to the checkout. Skips the test when it is missing. */
test_file test_published(const char *path);

/* Imports a file and checks that it is exported as the same bytes, also by way of an image, loaded
 * or viewed. */
tamis *test_import(const char *format, test_file);
void test_goes_round(const char *format, test_file);

/* The exported bytes; free them. */
test_file test_export(const tamis *, const char *format);

/* Lists of keys end with an entry whose bytes are NULL. */
struct tamis_key test_text(const char *text);
extern const struct tamis_key test_six_words[]; /* alpha beta gamma delta "" café */
extern const struct tamis_key test_no_words[];  /* epsilon ... a Alpha: never added */

void test_all_in(const tamis *, const struct tamis_key *keys);
void test_none_in(const tamis *, const struct tamis_key *keys);

/* The texts key-FROM ... key-(TO-1): all are in, or the false positives among them are exactly
 * these, ascending, up to an entry of 0. */
void test_range_in(const tamis *, uint64_t from, uint64_t to);
void test_range_hits(const tamis *, uint64_t from, uint64_t to, const uint64_t *hits);

/* Adds keys, or the texts key-FROM ... key-(TO-1). */
void test_add(tamis *, const struct tamis_key *keys);
void test_add_range(tamis *, uint64_t from, uint64_t to);

/* A new filter of this spec with these keys, by adding or by a builder. */
tamis *test_filled(const char *spec, const struct tamis_key *keys);
tamis *test_range_filled(const char *spec, uint64_t from, uint64_t to);

/* Such a filter, written as `format`, has the bytes of the file. */
void test_written_anew(const char *spec, const struct tamis_key *keys, const char *format,
                       test_file);
void test_range_written_anew(const char *spec, uint64_t from, uint64_t to, const char *format,
                             test_file);

/* Every prefix of the file, and the file with every byte changed to each of some values (all 255 of
 * files up to two kilobytes, unless TAMIS_QUICK is set), is refused, or is a filter that can be
 * queried, written and, for every eighth value and 1, measured. Nothing past the bytes is read, and
 * at most twice their size plus 1 MiB is allocated. Returns how many were accepted. */
uint64_t test_hostile(const char *format, test_file);

/* The same for these bytes only: whether they were accepted. */
bool test_is_let_in(const char *format, const uint8_t *bytes, size_t size);

/* ---- Bytes and specs as in a specification ---- */

/* The bytes of "00ff80"; free them. */
test_file test_hex(const char *hex);

/* These bytes are refused, with a message that contains `why`. */
void test_refused(const char *format, test_file file, const char *why);

void test_hex_refused(const char *format, const char *hex, const char *why);

/* A spec, or a format without bytes, that is refused with this status and a message. */
void test_spec_refused(const char *spec, tamis_status status, const char *why);

/* The first shape words of a plan. */
void test_planned(const char *spec, uint64_t word_0, uint64_t word_1);

/* The spec of a filter makes one of the same shape. */
void test_spec_leads_back(const tamis *f);

#endif
