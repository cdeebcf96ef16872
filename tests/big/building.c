/* SPDX-License-Identifier: MIT */
/* What building costs, for docs/building.md: hashes of integers into a builder, and out of it.
 *
 *     building SPEC KEYS MEMORY THREADS FOLDER [KEYS_IN_A_CALL]
 *     building                 names the kinds that are built, so that none is left out
 *
 * The first prints seconds of each step, nanoseconds of all processors for a key, bits for each
 * key, the highest resident memory, and the bytes that lay on disk. It fails when more was resident
 * than MEMORY and what a program takes that does nothing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "tamis.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

enum { IDLE = 4 << 20 }; /* bytes that the program itself takes: code, libraries, stacks */

typedef struct moment {
    double clock, work; /* seconds, and of all processors */
} moment;

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static moment now(void) {
    return (moment){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static void tell(const char *what, moment from, moment to, uint64_t keys) {
    printf("%s %.2f s (%.1f ns), ", what, to.clock - from.clock,
           (to.work - from.work) * 1e9 / (double)keys);
}

static void demand(tamis_status rc) {
    if (rc == TAMIS_OK) return;
    fprintf(stderr, "%s\n", tamis_why());
    exit(1);
}

/* When each stage began, and what was on disk when the last key was in. */
static moment began[3];
static double on_disk;

/* The file without a name is one of ours, and the only one that nothing leads to. */
static double nameless_bytes(void) {
    double bytes = 0;
    struct stat st;
    for (int fd = 3; fd < 64; fd++)
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
            bytes += (double)st.st_blocks * 512;
    return bytes;
}

static bool watch(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total) {
    (void)ctx, (void)total;
    if (done == 0) began[stage] = now();
    const double bytes = nameless_bytes();
    if (bytes > on_disk) on_disk = bytes;
    return true;
}

static void add_all(tamis_builder *b, uint64_t keys, size_t at_once) {
    uint64_t *numbers = malloc(at_once * sizeof *numbers);
    struct tamis_key *list = malloc(at_once * sizeof *list);
    for (size_t i = 0; i < at_once; i++) list[i] = (struct tamis_key){&numbers[i], 8};
    for (uint64_t i = 0; i < keys; i += at_once) {
        const size_t n = keys - i < at_once ? (size_t)(keys - i) : at_once;
        for (size_t j = 0; j < n; j++) numbers[j] = test_number(1, i + j);
        demand(tamis_builder_add_many(b, list, n));
    }
    free(numbers);
    free(list);
}

static int name_kinds(void) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    for (size_t i = 0; i < test_own_kinds() && tamis_kind_at(i, &kind); i++)
        if (kind.abilities & TAMIS_IS_BUILT) puts(kind.name);
    return 0;
}

int main(int argc, char **argv) {
    uint64_t keys, memory;
    char path[512];
    if (argc == 1) return name_kinds();
    if (argc < 6 || !tamis_parse_count(argv[2], &keys) || !tamis_parse_bytes(argv[3], &memory))
        return fprintf(stderr, "building SPEC KEYS MEMORY THREADS FOLDER [KEYS_IN_A_CALL]\n"), 1;
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .memory_limit = memory,
                                                  .temp_dir = argv[5],
                                                  .threads = (unsigned)atoi(argv[4]),
                                                  .progress = watch};
    tamis_builder *b;
    const moment start = now();
    demand(tamis_builder_create_with(&b, argv[1], &options));
    add_all(b, keys, argc > 6 ? (size_t)atol(argv[6]) : 1024);
    const moment added = now();
    snprintf(path, sizeof path, "%s/building.tamis", argv[5]);
    demand(tamis_builder_finish_to(b, path));
    const moment end = now();
    struct tamis_builder_info info = TAMIS_BUILDER_INFO_INIT;
    tamis_builder_get_info(b, &info);
    tamis_builder_free(b);
    struct stat image = {0};
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    if (stat(path, &image) == 0) remove(path);
    printf("%s, %s keys, %s of memory, %s threads: ", argv[1], argv[2], argv[3], argv[4]);
    tell("add", start, added, keys);
    tell("sort", began[0], began[1], keys);
    tell("build", began[1], end, keys);
    printf("%.3f bits per key in %llu segments (%.3f for the limit), ",
           (double)image.st_size * 8 / (double)keys, (unsigned long long)info.segments,
           info.bits_more);
    printf("peak %.1f MiB, on disk %.1f MiB\n", (double)use.ru_maxrss / 1024, on_disk / 1048576);
    return memory && (uint64_t)use.ru_maxrss * 1024 > memory + IDLE;
}
