/* SPDX-License-Identifier: MIT */
#include "tests/support/building.h"

#include <stdlib.h>

#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

tamis_builder *test_builder(const char *spec) {
    tamis_builder *b;
    test_demand(tamis_builder_create(&b, spec, 0, NULL), spec);
    return b;
}

tamis_builder *test_careful_builder(const char *spec, unsigned threads) {
    const struct tamis_builder_options options = {
        .struct_size = sizeof options, .threads = threads, .verify = true};
    tamis_builder *b;
    test_demand(tamis_builder_create_with(&b, spec, &options), spec);
    return b;
}

tamis *test_finish(tamis_builder *b) {
    tamis *f;
    test_demand(tamis_builder_finish(b, &f), "finish");
    tamis_builder_free(b);
    return f;
}

void test_add_numbers(tamis_builder *b, uint64_t family, uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++)
        test_demand(tamis_builder_add_hash(b, test_number(family, i)), "add");
}

tamis *test_build(const char *spec, uint64_t family, uint64_t n) {
    tamis_builder *b = test_builder(spec);
    test_add_numbers(b, family, 0, n);
    return test_finish(b);
}

test_view test_view_at(const tamis *f, size_t shift) {
    const size_t size = (size_t)tamis_image_size(f);
    test_view view = {.memory = malloc(size + shift)};
    if (!view.memory) abort();
    test_demand(tamis_serialize(f, view.memory + shift, size), "image");
    test_demand(tamis_view(&view.filter, view.memory + shift, size), "view");
    return view;
}

void test_end_view(test_view *view) {
    tamis_free(view->filter);
    free(view->memory);
}
