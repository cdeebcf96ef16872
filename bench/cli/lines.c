/* SPDX-License-Identifier: MIT */
/* lines.c: lines to measure the command with.
 *
 *     lines [--as SHAPE] N OF [SEED]    N lines drawn from OF different ones, all equally likely
 *     lines [--as SHAPE] --set N OF     N different ones of those, every (OF/N)-th
 *
 * 10 million of 8 million are 5.71 million different ones. A line is 24 characters and its newline:
 * 16 hex digits that no hash function can exploit, and a number after them. Other shapes:
 *
 *     csv       a header, and such a key in the third of five fields; some are in quotes, with
 *               commas, quotes and line breaks inside
 *     jsonl     an object of some 200 bytes with the key in "key"
 *     address   an IPv4 address; with --set the block of 256 that it is in, as CIDR
 *     domain    a host name, a name or two below a domain; with --set the domain
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 24 };

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static const char *key_of(uint64_t number) {
    static const char digits[] = "0123456789abcdef";
    static char key[KEY + 1];
    uint64_t bits = mix(number);
    for (int i = 0; i < 16; i++, bits >>= 4) key[i] = digits[bits & 15];
    for (int i = KEY - 1; i >= 16; i--, number /= 10) key[i] = (char)('0' + number % 10);
    return key;
}

/* ---- Shapes: the i-th line, of this number ---- */

static void print_plain(uint64_t i, uint64_t number, bool is_set) {
    (void)i, (void)is_set;
    fwrite(key_of(number), 1, KEY, stdout);
    putchar('\n');
}

static void print_csv(uint64_t i, uint64_t number, bool is_set) {
    const char *quote = i % 2 ? "\"" : "";
    if (i == 0) puts(is_set ? "key" : "id,name,key,amount,comment");
    if (is_set)
        puts(key_of(number));
    else
        printf("%" PRIu64 ",\"Doe, J%" PRIu64 "\",%s%s%s,%" PRIu64 ".50,%s\n", i, mix(i) % 1000,
               quote, key_of(number), quote, mix(i) % 9973,
               i % 1000 == 0 ? "\"two\nlines\""
               : i % 10 == 0 ? "\"says \"\"yes\"\"\""
                             : "none");
}

static void print_jsonl(uint64_t i, uint64_t number, bool is_set) {
    if (is_set)
        printf("{\"key\":\"%s\"}\n", key_of(number));
    else
        printf("{\"time\":\"2026-11-18T07:%02u:%02uZ\",\"id\":%" PRIu64
               ",\"user\":{\"name\":\"J. Doe\",\"key\":\"another one\"},\"tags\":[\"a\",\"b\"],"
               "\"key\":\"%s\",\"size\":%" PRIu64
               ",\"message\":\"a request was \\\"answered\\\" in %" PRIu64 " ms, as usual\"}\n",
               (unsigned)(i / 60 % 60), (unsigned)(i % 60), i, key_of(number), mix(i) % 100000,
               mix(i) % 1000);
}

/* Every number below 2^24 has a block of its own: the factor is odd. */
static void print_address(uint64_t i, uint64_t number, bool is_set) {
    const uint32_t block = (uint32_t)(number * 0x9e3779b1u & 0xffffff);
    printf("%u.%u.%u.%u%s\n", block >> 16, block >> 8 & 255, block & 255,
           is_set ? 0 : (unsigned)(mix(i) & 255), is_set ? "/24" : "");
}

static void print_domain(uint64_t i, uint64_t number, bool is_set) {
    static const char *const above[] = {"com", "net", "org", "example", "co.uk"};
    static const char *const below[] = {"www.", "mail.", "a.b.", "cdn.static.", ""};
    printf("%s%.12s%u.%s\n", is_set ? "" : below[mix(i) % 5], key_of(number),
           (unsigned)(number % 1000), above[number % 5]);
}

static const struct shape {
    const char *name;
    void (*print)(uint64_t i, uint64_t number, bool is_set);
} shapes[] = {{"plain", print_plain},
              {"csv", print_csv},
              {"jsonl", print_jsonl},
              {"address", print_address},
              {"domain", print_domain}};

static const struct shape *shape_named(const char *name) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
    return NULL;
}

int main(int argc, char **argv) {
    const struct shape *shape = &shapes[0];
    if (argc > 2 && strcmp(argv[1], "--as") == 0) {
        shape = shape_named(argv[2]);
        argc -= 2, argv += 2;
    }
    const bool is_set = argc > 1 && strcmp(argv[1], "--set") == 0;
    argc -= is_set, argv += is_set;
    if (!shape || argc < 3) {
        fputs("usage: lines [--as plain|csv|jsonl|address|domain] [--set] N OF [SEED]\n", stderr);
        return 2;
    }
    const uint64_t n = strtoull(argv[1], NULL, 10), of = strtoull(argv[2], NULL, 10);
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (n == 0 || of == 0 || (is_set && n > of)) return 2;
    for (uint64_t i = 0; i < n; i++)
        shape->print(i, is_set ? i * (of / n) : mix(seed << 40 | i) % of, is_set);
    return fflush(stdout) == 0 ? 0 : 2;
}
