/* SPDX-License-Identifier: MIT */
/* lines.c: lines to measure the command with.
 *
 *     lines N OF [SEED]    N lines drawn from OF different ones, all equally likely
 *     lines --set N OF     N different ones of those, every (OF/N)-th
 *
 * 10 million of 8 million are 5.71 million different ones. A line is 24 characters and its newline:
 * 16 hex digits that no hash function can exploit, and a number after them.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void print_line(uint64_t number) {
    static const char digits[] = "0123456789abcdef";
    char line[25];
    uint64_t bits = mix(number);
    for (int i = 0; i < 16; i++, bits >>= 4) line[i] = digits[bits & 15];
    for (int i = 23; i >= 16; i--, number /= 10) line[i] = (char)('0' + number % 10);
    line[24] = '\n';
    fwrite(line, 1, sizeof line, stdout);
}

int main(int argc, char **argv) {
    const int is_set = argc > 1 && strcmp(argv[1], "--set") == 0;
    argc -= is_set, argv += is_set;
    if (argc < 3) {
        fputs("usage: lines [--set] N OF [SEED]\n", stderr);
        return 2;
    }
    const uint64_t n = strtoull(argv[1], NULL, 10), of = strtoull(argv[2], NULL, 10);
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (n == 0 || of == 0 || (is_set && n > of)) return 2;
    for (uint64_t i = 0; i < n; i++) print_line(is_set ? i * (of / n) : mix(seed << 40 | i) % of);
    return fflush(stdout) == 0 ? 0 : 2;
}
