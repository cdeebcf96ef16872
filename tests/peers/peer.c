/* SPDX-License-Identifier: MIT */
/* Our side of every comparison with another system: filters as lines of text, in and out.
 *
 *     peer check < CASES           filters that the other system wrote, and what it answers
 *     peer make < WISHES > CASES   filters that we make, and what we answer, for the other to check
 *     peer knows FORMAT            exits 0 when this library has the format
 *
 * A case is a few lines. Bytes are in hex; a key may be empty.
 *
 *     case FORMAT        such as "guava", with parameters behind it as tamis_import takes them
 *     how WORDS          for the other side alone: copied
 *     spec SPEC          a new filter of this spec ...
 *     add HEX            ... with these keys has the bytes below
 *     bytes HEX          the filter as the other system stores it; `make` writes this line
 *     ask ANSWER HEX     0 or 1; `make` writes the answer, whatever the wish says
 *     end
 *
 * `check` reads the bytes, compares every answer, writes the bytes again and compares them, and
 * makes the filter anew where there is a spec. It prints "N filters, N answers", or what differs,
 * and exits 1. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_formats.h"

typedef struct blob {
    uint8_t *bytes;
    size_t size, room;
} blob;

/* Keys one behind the other, in one blob. */
typedef struct keys {
    blob all;
    size_t *len;
    uint8_t *answer;
    size_t n, room;
} keys;

typedef struct trial {
    char *format, *how, *spec;
    bool has_bytes;
    blob bytes;
    keys added, asked;
} trial;

static unsigned long long filters, answers;
static size_t line_number;

/* ---- Memory that grows ---------------------------------------------------------------------- */

static void *sure(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "out of memory\n");
    exit(2);
}

static bool append(void *ctx, const void *bytes, size_t size) {
    blob *b = ctx;
    if (b->size + size + 1 > b->room) {
        b->room = 2 * (b->size + size + 1);
        b->bytes = sure(realloc(b->bytes, b->room));
    }
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return true;
}

static void stop(const char *what) {
    fprintf(stderr, "line %zu: %s\n", line_number, what);
    exit(2);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static unsigned digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    stop("that is no hex");
    return 0;
}

static size_t append_hex(blob *to, const char *hex) {
    size_t n = 0;
    for (; hex[0]; hex += 2, n++) {
        if (!hex[1]) stop("half a byte");
        const uint8_t byte = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
        append(to, &byte, 1);
    }
    return n;
}

static void append_key(keys *k, uint8_t answer, const char *hex) {
    if (k->n == k->room) {
        k->room = 2 * k->room + 64;
        k->len = sure(realloc(k->len, k->room * sizeof *k->len));
        k->answer = sure(realloc(k->answer, k->room));
    }
    k->answer[k->n] = answer;
    k->len[k->n++] = append_hex(&k->all, hex);
}

static void set_text(char **to, const char *text) {
    free(*to);
    *to = sure(malloc(strlen(text) + 1));
    strcpy(*to, text);
}

static const char *after(const char *line, const char *word) {
    const size_t n = strlen(word);
    if (strncmp(line, word, n) != 0 || (line[n] && line[n] != ' ')) return NULL;
    return line + n + (line[n] == ' ');
}

/* False at the end of the case. */
static bool take_line(trial *t, const char *line) {
    const char *rest;
    if ((rest = after(line, "case")))
        set_text(&t->format, rest);
    else if ((rest = after(line, "how")))
        set_text(&t->how, rest);
    else if ((rest = after(line, "spec")))
        set_text(&t->spec, rest);
    else if ((rest = after(line, "add")))
        append_key(&t->added, 1, rest);
    else if ((rest = after(line, "bytes")))
        append_hex(&t->bytes, rest), t->has_bytes = true;
    else if ((rest = after(line, "ask 0")))
        append_key(&t->asked, 0, rest);
    else if ((rest = after(line, "ask 1")))
        append_key(&t->asked, 1, rest);
    else if (after(line, "end"))
        return false;
    else
        stop("no such line");
    return true;
}

static bool read_trial(trial *t) {
    static char *line;
    static size_t room;
    ssize_t len;
    while ((len = getline(&line, &room, stdin)) > 0) {
        line_number++;
        if (line[len - 1] != '\n') stop("the last line is cut");
        line[len - 1] = '\0';
        if (!take_line(t, line)) {
            if (!t->format) stop("a case without a format");
            return true;
        }
    }
    if (t->format) stop("a case without an end");
    free(line);
    line = NULL;
    return false;
}

static void free_keys(keys *k) {
    free(k->all.bytes);
    free(k->len);
    free(k->answer);
}

static void clear(trial *t) {
    free(t->format);
    free(t->how);
    free(t->spec);
    free(t->bytes.bytes);
    free_keys(&t->added);
    free_keys(&t->asked);
    memset(t, 0, sizeof *t);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static void print_hex(const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) printf("%02x", bytes[i]);
}

/* What differs, and the case, so that it can be tried alone. */
static bool differs(const trial *t, const char *what, const char *why) {
    printf("filter %llu (%s, %s, %s), up to line %zu: %s%s%s\n", filters, t->format,
           t->how ? t->how : "", t->spec ? t->spec : "", line_number, what, why ? ": " : "",
           why ? why : "");
    return false;
}

/* Files of databases are read and not written: of them only the answers are compared. */
static bool can_write(const char *format) {
    struct tamis_format_info info = TAMIS_FORMAT_INFO_INIT;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(format, ":"), format);
    return tamis_format_named(name, &info) && info.can_write;
}

static bool exports_same(const trial *t, const tamis *f, const char *what) {
    blob out = {NULL, 0, 0};
    if (!can_write(t->format)) return true;
    bool is_same = !tamis_export(f, t->format, append, &out);
    if (!is_same)
        differs(t, what, tamis_why());
    else if (out.size != t->bytes.size || memcmp(out.bytes, t->bytes.bytes, out.size) != 0) {
        is_same = differs(t, what, "other bytes");
        printf("theirs: "), print_hex(t->bytes.bytes, t->bytes.size < 200 ? t->bytes.size : 200);
        printf("\nours:   "), print_hex(out.bytes, out.size < 200 ? out.size : 200), printf("\n");
    }
    free(out.bytes);
    return is_same;
}

/* One by one and at once. */
static bool answers_same(const trial *t, const tamis *f) {
    const keys *k = &t->asked;
    struct tamis_key *list = sure(calloc(k->n + 1, sizeof *list));
    uint8_t *hit = sure(malloc(k->n + 1)), nothing = 0;
    const uint8_t *at = k->all.bytes ? k->all.bytes : &nothing;
    bool is_same = true;
    for (size_t i = 0; i < k->n; at += k->len[i++]) list[i] = (struct tamis_key){at, k->len[i]};
    tamis_has_many(f, list, k->n, hit);
    for (size_t i = 0; i < k->n && is_same; i++) {
        const bool single = tamis_has(f, list[i].bytes, list[i].len);
        if (hit[i] == k->answer[i] && single == hit[i]) continue;
        is_same = differs(t, "another answer for", NULL);
        print_hex(list[i].bytes, list[i].len), printf(": %d and %d\n", k->answer[i], hit[i]);
    }
    answers += k->n;
    free(list);
    free(hit);
    return is_same;
}

/* By a builder: some kinds are made once, from all their keys, and the others it fills straight. */
static tamis *make_anew(const trial *t) {
    const uint8_t nothing = 0, *at = t->added.all.bytes ? t->added.all.bytes : &nothing;
    tamis_builder *b;
    tamis *f = NULL;
    tamis_status rc = tamis_builder_create(&b, t->spec, 0, NULL);
    for (size_t i = 0; i < t->added.n && !rc; at += t->added.len[i++])
        rc = tamis_builder_add(b, at, t->added.len[i]);
    if (!rc) rc = tamis_builder_finish(b, &f);
    if (rc) differs(t, "making it", tamis_why());
    tamis_builder_free(b);
    return f;
}

static bool check(const trial *t) {
    tamis *f;
    if (!t->has_bytes) stop("a case without bytes");
    if (tamis_import(&f, t->format, t->bytes.bytes, t->bytes.size))
        return differs(t, "reading it", tamis_why());
    bool is_same = answers_same(t, f) && exports_same(t, f, "in and out");
    tamis_free(f);
    if (!is_same || !t->spec) return is_same;
    f = make_anew(t);
    is_same = f && answers_same(t, f) && exports_same(t, f, "made anew");
    tamis_free(f);
    return is_same;
}

static int check_all(void) {
    trial t = {0};
    bool is_same = true;
    while (is_same && read_trial(&t)) {
        filters++;
        is_same = check(&t);
        clear(&t);
    }
    if (is_same) printf("%llu filters, %llu answers\n", filters, answers);
    return !is_same;
}

/* ---- Making --------------------------------------------------------------------------------- */

static void print_keys(const keys *k, const tamis *asked) {
    const uint8_t nothing = 0, *at = k->all.bytes ? k->all.bytes : &nothing;
    for (size_t i = 0; i < k->n; at += k->len[i++]) {
        if (asked)
            printf("ask %d ", tamis_has(asked, at, k->len[i]));
        else
            printf("add ");
        print_hex(at, k->len[i]), printf("\n");
    }
}

static bool make(const trial *t) {
    blob out = {NULL, 0, 0};
    if (!t->spec) stop("a wish without a spec");
    tamis *f = make_anew(t);
    if (!f) return false;
    if (tamis_export(f, t->format, append, &out)) return differs(t, "writing it", tamis_why());
    printf("case %s\n", t->format);
    if (t->how) printf("how %s\n", t->how);
    printf("spec %s\n", t->spec);
    print_keys(&t->added, NULL);
    printf("bytes "), print_hex(out.bytes, out.size), printf("\n");
    print_keys(&t->asked, f);
    printf("end\n");
    free(out.bytes);
    tamis_free(f);
    return true;
}

static int make_all(void) {
    trial t = {0};
    bool is_made = true;
    while (is_made && read_trial(&t)) {
        filters++;
        is_made = make(&t);
        clear(&t);
    }
    return !is_made;
}

int main(int argc, char **argv) {
    struct tamis_format_info info = TAMIS_FORMAT_INFO_INIT;
    if (argc == 2 && strcmp(argv[1], "check") == 0) return check_all();
    if (argc == 2 && strcmp(argv[1], "make") == 0) return make_all();
    if (argc == 3 && strcmp(argv[1], "knows") == 0) return !tamis_format_named(argv[2], &info);
    fprintf(stderr, "usage: peer check | peer make | peer knows FORMAT\n");
    return 2;
}
