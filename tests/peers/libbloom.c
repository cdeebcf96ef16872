/* SPDX-License-Identifier: MIT */
/* The other side of libbloom.sh: libbloom itself, as lines that peer.c describes.
 *
 *     libbloom write FILE < WISHES > CASES   filters made by libbloom, with its answers
 *     libbloom read FILE < CASES             are our bytes and answers those of libbloom?
 *
 * "how N P" says for what. Compiled with -DTWO for version 2, which has files: FILE is one to use;
 * without it for version 1, of which the bits are taken as they lie in memory. */
#include <bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef TWO
#define BLOOM_INIT(f, n, p) bloom_init2(f, n, p)
#else
#define BLOOM_INIT(f, n, p) bloom_init(f, (int)(n), p)
#endif

enum { MAX = 8192, LINE = 1 << 22, ADDRESS = 67 };

typedef struct blob {
    unsigned char *bytes;
    size_t size;
} blob;

static char format[256], how[256], spec[256];
static blob added[MAX], asked[MAX], stored;
static char answer[MAX];
static size_t adds, asks;
static const char *path;

static void stop(const char *what) {
    printf("%s: %s\n", how, what);
    exit(1);
}

static blob from_hex(const char *hex) {
    blob b = {malloc(strlen(hex) / 2 + 1), strlen(hex) / 2};
    for (size_t i = 0; i < b.size; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) stop("no hex");
        b.bytes[i] = (unsigned char)byte;
    }
    return b;
}

static void print_hex(const char *word, blob b) {
    fputs(word, stdout);
    for (size_t i = 0; i < b.size; i++) printf("%02x", b.bytes[i]);
    putchar('\n');
}

static void make(struct bloom *f) {
    unsigned n;
    double p;
    if (sscanf(how, "%u %lf", &n, &p) != 2 || BLOOM_INIT(f, n, p)) stop("bloom_init");
    for (size_t i = 0; i < adds; i++) bloom_add(f, added[i].bytes, (int)added[i].size);
}

#ifdef TWO
static blob bytes_of(struct bloom *f) {
    unlink(path);
    if (bloom_save(f, (char *)path)) stop("bloom_save");
    FILE *in = fopen(path, "rb");
    blob b = {malloc(f->bytes + 75), f->bytes + 75};
    if (!in || fread(b.bytes, 1, b.size, in) != b.size) stop("the file is short");
    fclose(in);
    memset(b.bytes + ADDRESS, 0, 8);
    return b;
}

static void take(struct bloom *f) {
    unlink(path);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(stored.bytes, 1, stored.size, out) != stored.size || fclose(out))
        stop("cannot write");
    if (bloom_load(f, (char *)path)) stop("bloom_load refuses it");
}
#else
static blob bytes_of(struct bloom *f) {
    blob b = {malloc((size_t)f->bytes + 1), (size_t)f->bytes};
    memcpy(b.bytes, f->bf, b.size);
    return b;
}

static void take(struct bloom *f) {
    adds = 0;
    make(f);
    if ((size_t)f->bytes != stored.size) stop("another size");
    memcpy(f->bf, stored.bytes, stored.size);
}
#endif

static void write_case(void) {
    struct bloom f;
    make(&f);
    const blob b = bytes_of(&f);
    printf("case %s\nhow %s\nspec %s\n", format, how, spec);
    for (size_t i = 0; i < adds; i++) print_hex("add ", added[i]);
    print_hex("bytes ", b);
    for (size_t i = 0; i < asks; i++)
        print_hex(bloom_check(&f, asked[i].bytes, (int)asked[i].size) ? "ask 1 " : "ask 0 ",
                  asked[i]);
    puts("end");
    free(b.bytes);
    bloom_free(&f);
}

static void compare(struct bloom *f, const char *which) {
    const blob b = bytes_of(f);
    for (size_t i = 0; i < asks; i++)
        if (bloom_check(f, asked[i].bytes, (int)asked[i].size) != answer[i]) stop(which);
    if (b.size != stored.size || memcmp(b.bytes, stored.bytes, b.size) != 0) stop(which);
    free(b.bytes);
    bloom_free(f);
}

static void read_case(void) {
    struct bloom f;
    make(&f);
    compare(&f, "made anew it differs");
    take(&f);
    compare(&f, "read it differs");
}

static void forget(void) {
    for (size_t i = 0; i < adds; i++) free(added[i].bytes);
    for (size_t i = 0; i < asks; i++) free(asked[i].bytes);
    free(stored.bytes);
    stored = (blob){NULL, 0};
    adds = asks = 0;
}

int main(int argc, char **argv) {
    static char line[LINE];
    unsigned long long filters = 0, answers = 0;
    const int is_write = argc == 3 && strcmp(argv[1], "write") == 0;
    path = argc == 3 ? argv[2] : "";
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "case ", 5) == 0) snprintf(format, sizeof format, "%s", line + 5);
        if (strncmp(line, "how ", 4) == 0) snprintf(how, sizeof how, "%s", line + 4);
        if (strncmp(line, "spec ", 5) == 0) snprintf(spec, sizeof spec, "%s", line + 5);
        if (strncmp(line, "add ", 4) == 0 && adds < MAX) added[adds++] = from_hex(line + 4);
        if (strncmp(line, "bytes ", 6) == 0) stored = from_hex(line + 6);
        if (strncmp(line, "ask ", 4) == 0 && asks < MAX) {
            answer[asks] = line[4] == '1';
            asked[asks++] = from_hex(line + 6);
        }
        if (strcmp(line, "end") != 0) continue;
        filters++;
        answers += 2 * asks;
        const size_t all = adds;
        if (is_write)
            write_case();
        else
            read_case();
        adds = all;
        forget();
    }
    if (!is_write) printf("%llu filters, %llu answers\n", filters, answers);
    return 0;
}
