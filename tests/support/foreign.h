/* SPDX-License-Identifier: MIT */
/* Tests of other systems' filters may include this, after cmocka.h: files that the systems wrote,
 * and what must be true of every one of them. What fails here fails the test with a sentence. */
#ifndef TAMIS_TESTS_SUPPORT_FOREIGN_H
#define TAMIS_TESTS_SUPPORT_FOREIGN_H

#include "tamis.h"

typedef struct test_file {
    uint8_t *bytes; /* NULL: it is not there */
    size_t size;
} test_file;

/* A file of tests/vectors, which must be there. Free its bytes. */
test_file test_vector(const char *path);

/* A file that others published and that is not ours to copy: it is looked for in the folder
 * $TAMIS_VECTORS, or beside the checkout. Skips the test when it is not there. */
test_file test_published(const char *path);

/* What comes in goes out as the same bytes, also after a stay in an image, loaded or viewed. */
tamis *test_import(const char *format, test_file);
void test_goes_round(const char *format, test_file);

/* The bytes that are exported; free them. */
test_file test_export(const tamis *, const char *format);

/* Lists of keys end with an entry whose bytes are NULL. */
struct tamis_key test_text(const char *text);
extern const struct tamis_key test_six_words[]; /* alpha beta gamma delta "" café */
extern const struct tamis_key test_no_words[];  /* epsilon ... a Alpha: never added */

void test_all_in(const tamis *, const struct tamis_key *keys);
void test_none_in(const tamis *, const struct tamis_key *keys);

/* The texts key-FROM ... key-(TO-1): all in, and the false positives among them exactly these,
 * ascending, up to an entry of 0. */
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

/* Every part of the file from its start, and the file with every byte changed to each of some
 * values (all 255 of files up to two kilobytes, unless TAMIS_QUICK is set), is refused, or is a
 * filter that can be asked, measured and written. Nothing behind the bytes is read, and never more
 * than twice their size and 1 MiB is allocated. Returns how many were let in. */
uint64_t test_hostile(const char *format, test_file);

/* The same of these bytes alone: whether they were let in. */
bool test_is_let_in(const char *format, const uint8_t *bytes, size_t size);

/* ---- Bytes and wishes as they stand in a specification ---- */

/* The bytes of "00ff80"; free them. */
test_file test_hex(const char *hex);

/* These bytes are refused, and the sentence says why. */
void test_refused(const char *format, test_file file, const char *why);

void test_hex_refused(const char *format, const char *hex, const char *why);

/* A spec, or a format without bytes, that is refused with this status and a sentence. */
void test_spec_refused(const char *spec, tamis_status status, const char *why);

/* The first shape words of a plan. */
void test_planned(const char *spec, uint64_t word_0, uint64_t word_1);

/* What describes a filter makes one of the same shape. */
void test_spec_leads_back(const tamis *f);

#endif
