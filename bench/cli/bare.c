/* SPDX-License-Identifier: MIT */
/* bare.c: the minimum that any command for lines has to do: read, split and hash them.
 *
 *     bare FILE
 *
 * Blocks of 128 KiB, memchr for the line ends, XXH3 of each line. The output depends on every hash,
 * so that none can be optimised away.
 */
#define XXH_INLINE_ALL
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { BLOCK = 128 * 1024 };

/* Hashes the whole lines of a block, returns where the rest begins. */
static size_t hash_lines(const char *block, size_t len, uint64_t *sum, uint64_t *lines) {
    const char *at = block, *const end = block + len, *stop;
    while ((stop = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        *sum += XXH3_64bits(at, (size_t)(stop - at));
        ++*lines;
        at = stop + 1;
    }
    return (size_t)(at - block);
}

int main(int argc, char **argv) {
    static char block[BLOCK];
    const int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    uint64_t sum = 0, lines = 0;
    size_t kept = 0;
    ssize_t got;
    if (fd < 0) {
        fputs("usage: bare FILE\n", stderr);
        return 2;
    }
    while ((got = read(fd, block + kept, BLOCK - kept)) > 0) {
        const size_t len = kept + (size_t)got;
        const size_t done = hash_lines(block, len, &sum, &lines);
        kept = len - done;
        if (kept == BLOCK) return 2; /* a line longer than a block: unsupported */
        memmove(block, block + done, kept);
    }
    printf("%" PRIu64 " lines, %016" PRIx64 "\n", lines, sum);
    return 0;
}
