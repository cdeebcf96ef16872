/* SPDX-License-Identifier: MIT */
/* Binary fuse filters of the library xor_singleheader against ours: the same keys give the same
 * bytes, both forms, and each answers the other's. Made and run by binaryfuse.sh, which brings the
 * header.
 *
 *     binaryfuse FILTERS           compares so many of each width
 *     binaryfuse --write FOLDER    writes the files of tests/vectors/binary-fuse */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <binaryfusefilter.h>

#include "tamis.h"
#include "tamis_formats.h"

enum { MAX = 40000, STRANGERS = 500 };

static uint64_t state = 12345;

static uint64_t next(void) {
    return binary_fuse_rng_splitmix64(&state);
}

static void stop(const char *what, uint64_t n) {
    printf("not ok 1 - binary-fuse: %s, %llu keys: %s\n", what, (unsigned long long)n, tamis_why());
    exit(1);
}

typedef struct bytes {
    uint8_t *at;
    size_t size, room;
} bytes;

static bool append(void *ctx, const void *from, size_t size) {
    bytes *b = ctx;
    if (b->size + size > b->room) b->at = realloc(b->at, b->room = 2 * (b->size + size));
    if (!b->at) abort();
    memcpy(b->at + b->size, from, size);
    b->size += size;
    return true;
}

/* Theirs: the filter, and its two forms. */
typedef struct theirs {
    binary_fuse8_t f8;
    binary_fuse16_t f16;
    bytes plain, packed;
} theirs;

static void make8(theirs *t, uint64_t *keys, uint32_t n) {
    if (!binary_fuse8_allocate(n, &t->f8) || !binary_fuse8_populate(keys, n, &t->f8)) abort();
    t->plain.size = binary_fuse8_serialization_bytes(&t->f8);
    t->packed.size = binary_fuse8_pack_bytes(&t->f8);
    t->plain.at = malloc(t->plain.size);
    t->packed.at = malloc(t->packed.size);
    binary_fuse8_serialize(&t->f8, (char *)t->plain.at);
    if (binary_fuse8_pack(&t->f8, (char *)t->packed.at, t->packed.size) != t->packed.size) abort();
}

static void make16(theirs *t, uint64_t *keys, uint32_t n) {
    if (!binary_fuse16_allocate(n, &t->f16) || !binary_fuse16_populate(keys, n, &t->f16)) abort();
    t->plain.size = binary_fuse16_serialization_bytes(&t->f16) - 4; /* it writes no mask */
    t->packed.size = binary_fuse16_pack_bytes(&t->f16);
    t->plain.at = malloc(t->plain.size);
    t->packed.at = malloc(t->packed.size);
    binary_fuse16_serialize(&t->f16, (char *)t->plain.at);
    if (binary_fuse16_pack(&t->f16, (char *)t->packed.at, t->packed.size) != t->packed.size)
        abort();
}

static bool they_have(const theirs *t, int width, uint64_t key) {
    return width == 8 ? binary_fuse8_contain(key, &t->f8) : binary_fuse16_contain(key, &t->f16);
}

static void free_theirs(theirs *t, int width) {
    if (width == 8)
        binary_fuse8_free(&t->f8);
    else
        binary_fuse16_free(&t->f16);
    free(t->plain.at);
    free(t->packed.at);
}

static tamis *build(const uint64_t *keys, size_t n, int width) {
    char spec[64];
    tamis_builder *b;
    tamis *f;
    snprintf(spec, sizeof spec, "binary-fuse:width=%d", width);
    if (tamis_builder_create(&b, spec, 0, NULL) || tamis_builder_add_u64s(b, keys, n) ||
        tamis_builder_finish(b, &f))
        stop("building", n);
    tamis_builder_free(b);
    return f;
}

static void compare_form(const tamis *ours, const theirs *t, const bytes *form, const char *format,
                         int width, const uint64_t *keys, size_t n) {
    bytes out = {0};
    tamis *f;
    if (tamis_export(ours, format, append, &out)) stop("writing", n);
    if (out.size != form->size || memcmp(out.at, form->at, out.size) != 0) stop("other bytes", n);
    if (tamis_import(&f, format, form->at, form->size)) stop("reading", n);
    for (size_t i = 0; i < n; i++)
        if (!tamis_has_u64(f, keys[i])) stop("a key is missing", n);
    for (int i = 0; i < STRANGERS; i++) {
        const uint64_t key = next();
        if (tamis_has_u64(f, key) != they_have(t, width, key)) stop("another answer", n);
    }
    tamis_free(f);
    free(out.at);
}

static void compare(uint64_t *keys, size_t n, int width) {
    theirs t = {0};
    char format[64];
    tamis *f = build(keys, n, width); /* first: the library may sort its list */
    if (width == 8)
        make8(&t, keys, (uint32_t)n);
    else
        make16(&t, keys, (uint32_t)n);
    snprintf(format, sizeof format, "binary-fuse:width=%d", width);
    compare_form(f, &t, &t.plain, format, width, keys, n);
    snprintf(format, sizeof format, "binary-fuse-packed:width=%d", width);
    compare_form(f, &t, &t.packed, format, width, keys, n);
    tamis_free(f);
    free_theirs(&t, width);
}

static void write_file(const char *dir, const char *form, int width, size_t n, const bytes *b) {
    char path[512];
    snprintf(path, sizeof path, "%s/fuse%d_%zukeys.%s", dir, width, n, form);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->at, 1, b->size, file) != b->size || fclose(file)) abort();
}

/* The keys of the files: i * 0x9e3779b97f4a7c15, from i = 1 on. */
static int write_files(const char *dir) {
    static const size_t counts[] = {0, 1, 2, 3, 100, 1000};
    static uint64_t keys[1000];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int width = 8; width <= 16; width += 8) {
            theirs t = {0};
            for (size_t i = 0; i < counts[c]; i++) keys[i] = (i + 1) * 0x9e3779b97f4a7c15;
            if (width == 8)
                make8(&t, keys, (uint32_t)counts[c]);
            else
                make16(&t, keys, (uint32_t)counts[c]);
            write_file(dir, "bin", width, counts[c], &t.plain);
            write_file(dir, "packed", width, counts[c], &t.packed);
            free_theirs(&t, width);
        }
    return 0;
}

int main(int argc, char **argv) {
    static uint64_t keys[MAX];
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_files(argv[2]);
    const int filters = argc > 1 ? atoi(argv[1]) : 1200;
    for (int i = 0; i < filters; i++)
        for (int width = 8; width <= 16; width += 8) {
            const size_t n = i < 40 ? (size_t)i : i % 50 == 0 ? next() % MAX : next() % 3000;
            for (size_t j = 0; j < n; j++) keys[j] = i % 3 ? next() : (uint64_t)(j * 3 + i);
            compare(keys, n, width);
        }
    printf("ok 1 - binary-fuse: %d filters of 8 and of 16 bits, plain and packed, are the same\n",
           filters);
    return 0;
}
