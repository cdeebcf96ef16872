/* Tests of other systems' filters may include this, behind foreign.h: bytes as they stand in a
 * specification. */
#ifndef TAMIS_TESTS_HELP_HEX_H
#define TAMIS_TESTS_HELP_HEX_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/help/foreign.h"

/* The bytes of "00ff80"; free them. */
static inline test_file test_hex(const char *hex) {
    const size_t size = strlen(hex) / 2;
    test_file file = {malloc(size + 1), size};
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) fail_msg("'%s' is not hexadecimal", hex);
        file.bytes[i] = (uint8_t)byte;
    }
    return file;
}

/* These bytes are refused, and the sentence says why. */
static inline void test_refused(const char *format, test_file file, const char *why) {
    tamis *f;
    if (tamis_import(&f, format, file.bytes, file.size) != TAMIS_CORRUPT)
        fail_msg("%zu bytes that are wrong come in as %s", file.size, format);
    if (!strstr(tamis_why(), why)) fail_msg("'%s' does not say '%s'", tamis_why(), why);
}

static inline void test_hex_refused(const char *format, const char *hex, const char *why) {
    const test_file file = test_hex(hex);
    test_refused(format, file, why);
    free(file.bytes);
}

/* A spec, or a format without bytes, that is refused with this status and a sentence. */
static inline void test_spec_refused(const char *spec, tamis_status status, const char *why) {
    struct tamis_plan plan;
    if (tamis_plan(spec, &plan, sizeof plan) != status)
        fail_msg("%s: not %s but: %s", spec, tamis_status_name(status), tamis_why());
    if (!strstr(tamis_why(), why)) fail_msg("%s: '%s' does not say '%s'", spec, tamis_why(), why);
}

/* The first shape words of a plan. */
static inline void test_planned(const char *spec, uint64_t word_0, uint64_t word_1) {
    struct tamis_plan plan;
    if (tamis_plan(spec, &plan, sizeof plan)) fail_msg("%s: %s", spec, tamis_why());
    if (plan.word[0] != word_0 || plan.word[1] != word_1)
        fail_msg("%s: %llu bits and %llu hashes", spec, (unsigned long long)plan.word[0],
                 (unsigned long long)plan.word[1]);
}

/* What describes a filter makes one of the same shape. */
static inline void test_spec_leads_back(const tamis *f) {
    char spec[256];
    struct tamis_plan plan;
    struct tamis_info info;
    tamis_spec(f, spec, sizeof spec);
    tamis_info(f, &info, sizeof info);
    if (tamis_plan(spec, &plan, sizeof plan)) fail_msg("%s: %s", spec, tamis_why());
    if (memcmp(plan.word, info.word, sizeof plan.word) != 0)
        fail_msg("%s leads to another shape", spec);
}

#endif
