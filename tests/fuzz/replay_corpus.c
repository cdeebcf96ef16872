/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over what its fuzzer kept: each file as it is, and cut short at some places. A
 * folder inside is for one format of another system, which its name names.
 *
 *     replay_NAME FOLDER */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/exact.h"

enum { MAX = 1 << 16, CUTS = 16 };
static unsigned files;

static void replay_file(const char *path) {
    static uint8_t bytes[MAX];
    FILE *file = fopen(path, "rb");
    if (!file) abort();
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    try_bytes(bytes, size);
    for (size_t cut = 0; cut < CUTS; cut++) try_bytes(bytes, size * cut / CUTS);
    files++;
}

static void replay_dir(const char *dir_path) {
    DIR *dir = opendir(dir_path);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        struct stat is;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", dir_path, entry->d_name);
        if (stat(path, &is) == 0 && S_ISDIR(is.st_mode)) {
            if (setenv("TAMIS_FORMAT", entry->d_name, 1)) abort();
            replay_dir(path);
        } else {
            replay_file(path);
        }
    }
    closedir(dir);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    replay_dir(argv[1]);
    printf("%sok 1 - fuzz replay of %u files of %s\n1..1\n", files ? "" : "not ", files, argv[1]);
    return files == 0;
}
