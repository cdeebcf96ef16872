/* SPDX-License-Identifier: MIT */
/* Our side of the comparison with Redis: reads commands from stdin, one a line, and answers each
 * with one line. Keys and bytes are in hexadecimal, "." is empty.
 *
 *     new SPEC            ok, or the sentence
 *     import FORMAT HEX   ok, or the sentence
 *     export FORMAT       bytes
 *     add HEX...          one digit each: 1 was new, 0 was there, f full   (as add_new)
 *     put HEX...          one digit each: 1 added, f full                   (as add)
 *     many HEX...         ok, or the sentence; all at once
 *     del HEX...          one digit each
 *     has HEX...          one digit each
 *     count HEX...        numbers
 *     times N HEX         ok, or the sentence: adds a key N times
 *     chunks              ITERATOR:BYTES...
 *     lzf HEX             packed bytes, or - where it does not pay */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/lzf.h"
#include "foreign/redis.h"
#include "tamis.h"
#include "tamis_formats.h"

static tamis *filter;

typedef struct bytes {
    uint8_t *at;
    size_t n;
} bytes;

static int digit(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static bytes from_hex(const char *hex) {
    bytes b = {malloc(strlen(hex) / 2 + 1), 0};
    if (!b.at) abort();
    for (; hex[0] != '.' && hex[0] && hex[1]; hex += 2)
        b.at[b.n++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
    return b;
}

static void put_hex(const uint8_t *p, size_t n) {
    if (n == 0) putchar('.');
    for (size_t i = 0; i < n; i++) printf("%02x", p[i]);
}

static bool append(void *ctx, const void *p, size_t n) {
    bytes *b = ctx;
    b->at = realloc(b->at, b->n + n + 1);
    if (!b->at) abort();
    memcpy(b->at + b->n, p, n);
    b->n += n;
    return true;
}

static void answer(tamis_status rc) {
    printf("%s", rc ? tamis_why() : "ok");
}

static void export_as(const char *format) {
    bytes b = {NULL, 0};
    if (tamis_export(filter, format, append, &b))
        printf("! %s", tamis_why());
    else
        put_hex(b.at, b.n);
    free(b.at);
}

static void import_as(const char *format, const char *hex) {
    const bytes b = from_hex(hex);
    tamis_free(filter);
    answer(tamis_import(&filter, format, b.at, b.n));
    free(b.at);
}

static void one_key(char verb, bytes key) {
    bool is_new = true;
    tamis_status rc = TAMIS_OK;
    switch (verb) {
    case 'a': rc = tamis_add_new(filter, key.at, key.n, &is_new); break;
    case 'p': rc = tamis_add(filter, key.at, key.n); break;
    case 'd': is_new = tamis_remove(filter, key.at, key.n) == TAMIS_OK; break;
    case 'h': is_new = tamis_has(filter, key.at, key.n); break;
    default: printf("%llu ", (unsigned long long)tamis_count(filter, key.at, key.n)); return;
    }
    putchar(rc == TAMIS_FULL ? 'f' : rc ? '!' : is_new ? '1' : '0');
}

static void each_key(char verb, char *keys) {
    for (char *hex = strtok(keys, " "); hex; hex = strtok(NULL, " ")) {
        const bytes key = from_hex(hex);
        one_key(verb, key);
        free(key.at);
    }
}

static void many(char *keys) {
    struct tamis_key *list = malloc((strlen(keys) + 1) * sizeof *list);
    size_t n = 0;
    if (!list) abort();
    for (char *hex = strtok(keys, " "); hex; hex = strtok(NULL, " ")) {
        const bytes key = from_hex(hex);
        list[n++] = (struct tamis_key){key.at, key.n};
    }
    answer(tamis_add_many(filter, list, n));
    for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)list[i].bytes);
    free(list);
}

static void chunks(void) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_body body = {.items = 0};
    tamis_redis_chunk chunk = {.iterator = 0};
    tamis_measure(filter, &info);
    memcpy(body.word, info.word, sizeof body.word);
    body.bytes = (uint8_t *)(uintptr_t)tamis_payload(filter, &body.size);
    const bool is_bloom = strcmp(info.kind, "redisbloom") == 0;
    while ((is_bloom ? tamis__redisbloom_chunk : tamis__rediscuckoo_chunk)(&body, chunk.iterator,
                                                                           &chunk)) {
        printf("%llu:", (unsigned long long)chunk.iterator);
        put_hex(body.bytes + chunk.at, (size_t)chunk.size);
        putchar(' ');
    }
}

static void lzf(const char *hex) {
    static uint64_t seen[TAMIS_LZF_SEEN];
    const bytes b = from_hex(hex);
    uint8_t *packed = malloc(b.n + 1);
    if (!packed) abort();
    const uint64_t n = b.n > 20 ? tamis__lzf_pack(b.at, b.n, seen, packed, b.n - 4) : 0;
    if (n)
        put_hex(packed, (size_t)n);
    else
        putchar('-');
    free(packed);
    free(b.at);
}

static void obey(char *line) {
    char *rest = strchr(line, ' ');
    if (rest) *rest++ = '\0';
    char *more = rest ? strchr(rest, ' ') : NULL;
    if (strcmp(line, "new") == 0) {
        tamis_free(filter);
        answer(tamis_create(&filter, rest));
    } else if (strcmp(line, "import") == 0) {
        *more++ = '\0';
        import_as(rest, more);
    } else if (strcmp(line, "export") == 0) {
        export_as(rest);
    } else if (strcmp(line, "many") == 0) {
        many(rest);
    } else if (strcmp(line, "times") == 0) {
        const bytes key = from_hex(more + 1);
        answer(tamis_add_times(filter, key.at, key.n, strtoull(rest, NULL, 10)));
        free(key.at);
    } else if (strcmp(line, "chunks") == 0) {
        chunks();
    } else if (strcmp(line, "lzf") == 0) {
        lzf(rest);
    } else {
        each_key(line[0], rest);
    }
    putchar('\n');
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        if (line[n - 1] == '\n') line[n - 1] = '\0';
        obey(line);
        fflush(stdout);
    }
    free(line);
    tamis_free(filter);
    return 0;
}
