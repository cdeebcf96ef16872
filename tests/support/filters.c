/* SPDX-License-Identifier: MIT */
#include "tests/support/filters.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/kind.h"

void test_demand(tamis_status rc, const char *what) {
    if (rc == TAMIS_OK) return;
    fprintf(stderr, "%s: %s\n", what, tamis_why());
    abort();
}

tamis *test_make(const char *format, ...) {
    char spec[256];
    tamis *f;
    va_list list;
    va_start(list, format);
    vsnprintf(spec, sizeof spec, format, list);
    va_end(list);
    test_demand(tamis_create(&f, spec), spec);
    return f;
}

tamis *test_copy(const tamis *f) {
    tamis *copy;
    test_demand(tamis_copy(&copy, f), "copy");
    return copy;
}

struct tamis_info test_info(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    return info;
}

struct tamis_plan test_plan(const char *spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    test_demand(tamis_plan_spec(spec, &plan), spec);
    return plan;
}

bool test_is_part(const struct tamis_plan *plan) {
    for (int i = 0; i < TAMIS_WORDS && plan->word_name[i]; i++)
        if (strcmp(plan->word_name[i], "shards") == 0)
            return plan->word[i] > 1 && strcmp(plan->kind, "shard") == 0;
    return false;
}

uint8_t *test_image(const tamis *f, size_t *size) {
    *size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(*size);
    if (!image) abort();
    test_demand(tamis_serialize(f, image, *size), "image");
    return image;
}

size_t test_own_kinds(void) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    size_t n = 0;
    while (tamis_kind_at(n, &kind) && kind.id < TAMIS_FOREIGN_FROM) n++;
    return n;
}
