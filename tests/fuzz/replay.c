/* SPDX-License-Identifier: MIT */
/* Runs the fuzz target over files: the corpus, golden images and golden-bad ones. What a fuzzer
 * once found stays found. Each file is also cut short and has each header byte set to a few values
 * that counts and sizes break on. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/exact.h"

enum { HEADER = 192, FLIPS = 1200, MAX = 1 << 20 };

static void try_headers(uint8_t *bytes, size_t size) {
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    try_bytes(bytes, size);
    for (size_t cut = 0; cut < size && cut <= HEADER + 16; cut++) try_bytes(bytes, cut);
    for (size_t at = 0; at < HEADER && at < size; at++)
        for (size_t v = 0; v < sizeof values; v++) {
            const uint8_t old = bytes[at];
            bytes[at] = values[v];
            try_bytes(bytes, size);
            bytes[at] = old;
        }
}

/* Bits all over the payload, so that the audit of every kind sees damage everywhere: of each byte
 * of a small one. A checked build, which is slow, looks at a seventh. */
static void try_payloads(uint8_t *bytes, size_t size) {
    const size_t span = size > HEADER ? size - HEADER : 0;
    const size_t step = (span / FLIPS + 1) * (getenv("TAMIS_QUICK") ? 7 : 1);
    for (size_t at = HEADER; at < size; at += step) {
        const uint8_t bit = (uint8_t)(1 << at * 5 % 8);
        bytes[at] ^= bit;
        try_bytes(bytes, size);
        bytes[at] ^= bit;
    }
}

static int replay_dir(const char *dir_path, bool is_golden) {
    static uint8_t bytes[MAX];
    int count = 0;
    DIR *dir = opendir(dir_path);
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", dir_path, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file) continue;
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        try_headers(bytes, size);
        if (is_golden) try_payloads(bytes, size);
        count++;
    }
    closedir(dir);
    return count;
}

int main(void) {
    static const char *const dirs[] = {"tests/fuzz/corpus", "tests/golden", "tests/golden-bad"};
    int total = 0, bad = 0;
    for (int i = 0; i < 3; i++) {
        const int count = replay_dir(dirs[i], i == 1);
        printf("%sok %d - fuzz replay of %d files of %s\n", count ? "" : "not ", i + 1, count,
               dirs[i]);
        bad += !count;
        total += count;
    }
    printf("# %d files\n1..3\n", total);
    return bad != 0;
}
