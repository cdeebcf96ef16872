/* SPDX-License-Identifier: MIT */
/* Fuzz target of other systems' formats: any bytes are refused with a sentence, or become a filter
 * that can be asked, changed, kept as an image and written again as bytes that come in again.
 *
 * The environment variable TAMIS_FORMAT names the format; without it the first byte of the input
 * chooses one of all. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_true) {
    if (!is_true) abort();
}

typedef struct bytes {
    uint8_t *at;
    size_t size;
} bytes;

static bool append(void *ctx, const void *from, size_t size) {
    bytes *to = ctx;
    uint8_t *larger = realloc(to->at, to->size + size + 1);
    if (!larger) return false;
    memcpy(larger + to->size, from, size);
    to->at = larger;
    to->size += size;
    return true;
}

/* What goes out comes in again, and goes out as the same bytes. */
static void goes_round(const tamis *f, const char *format) {
    bytes first = {malloc(1), 0}, second = {malloc(1), 0};
    tamis *g;
    const tamis_status rc = tamis_export(f, format, append, &first);
    demand(rc == TAMIS_OK || rc == TAMIS_UNSUPPORTED);
    if (rc == TAMIS_OK) {
        demand(tamis_import(&g, format, first.at, first.size) == TAMIS_OK);
        demand(tamis_export(g, format, append, &second) == TAMIS_OK);
        demand(first.size == second.size && memcmp(first.at, second.at, first.size) == 0);
        tamis_free(g);
    }
    free(first.at);
    free(second.at);
}

static void stays_in_an_image(const tamis *f) {
    const size_t size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(size);
    tamis *g;
    demand(image && tamis_serialize(f, image, size) == TAMIS_OK);
    demand(tamis_load(&g, image, size) == TAMIS_OK);
    tamis_free(g);
    free(image);
}

static void use(tamis *f) {
    static const char *const keys[] = {"", "a", "tamis", "8 bytes.",
                                       "a longer key that fills more than a block"};
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    demand(info.fpr_now >= 0 && info.fpr_now <= 1);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const size_t len = strlen(keys[i]);
        const bool is_in = tamis_has(f, keys[i], len);
        demand((tamis_count(f, keys[i], len) > 0) == is_in);
        if (tamis_add(f, keys[i], len) == TAMIS_OK) demand(tamis_has(f, keys[i], len));
    }
    if (info.abilities & TAMIS_CAN_REMOVE) tamis_remove(f, keys[1], 1);
}

static bool look(void *ctx, const struct tamis_found *found) {
    size_t *left = ctx;
    demand(found->name && found->choose && found->kind);
    return --*left > 0;
}

static void try_format(const char *format, const uint8_t *data, size_t size) {
    const struct tamis_options options = {.struct_size = sizeof options, .max_bytes = 64 << 20};
    size_t max = 100;
    tamis *f;
    tamis_format_scan(format, data, size, look, &max);
    if (tamis_import_with(&f, format, data, size, &options)) {
        demand(f == NULL && *tamis_why());
        return;
    }
    goes_round(f, format);
    stays_in_an_image(f);
    use(f);
    goes_round(f, format);
    tamis_free(f);
}

/* What the bytes of a format do not tell must be said. */
static const char *text_of(const char *name) {
    static const char *const texts[] = {
        "cassandra:version=nb",
        "bip158:key=000102030405060708090a0b0c0d0e0f",
        "libbloom1:entries=1000,error=0.05",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcspn(texts[i], ":") == strlen(name) && memcmp(texts[i], name, strlen(name)) == 0)
            return texts[i];
    return name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *format = getenv("TAMIS_FORMAT");
    struct tamis_format_info info = TAMIS_FORMAT_INFO_INIT;
    if (!format || !*format) {
        if (size == 0) return 0;
        demand(tamis_format_at(*data % tamis_format_count(), &info));
        format = info.name;
        data++, size--;
    }
    try_format(text_of(format), data, size);
    return 0;
}
