/* SPDX-License-Identifier: MIT */
/* expand.c: which keys answer a question, and which classes of them there are.
 *
 *     class   names                  blocks              prefixes of URLs
 *     0       an address             IPv4, 0 bits        host: an address
 *     1...    so many labels         IPv4, so many bits  host: so many labels
 *     33...                          IPv6, 0 bits
 *     128...                                             path: so many directories
 *     190                                                path: itself
 *     191                                                path: itself, with its query
 */
#include "cli/keys/expand.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/keys/addresses.h"
#include "cli/keys/steps.h"

enum { IP6_CLASS = 33, MAX_LABELS = 127 };
enum { PATH_CLASS = 128, MAX_DIRS = 61, EXACT_CLASS = 190, QUERY_CLASS = 191 };

/* ---- Marks ---- */

static int mark_prefix(unsigned class, char *text) {
    if (class == EXACT_CLASS) return snprintf(text, MARK_TEXT, "url-prefix/path");
    if (class == QUERY_CLASS) return snprintf(text, MARK_TEXT, "url-prefix/query");
    return class < PATH_CLASS
               ? snprintf(text, MARK_TEXT, "url-prefix/host/%u", class)
               : snprintf(text, MARK_TEXT, "url-prefix/directory/%u", class - PATH_CLASS);
}

size_t mark_of(enum reach reach, unsigned class, char mark[MARK_TEXT]) {
    char text[MARK_TEXT] = "";
    int len = 0;
    if (reach == TO_PARENTS && class <= MAX_LABELS)
        len = snprintf(text, sizeof text, "parents/%u", class);
    if (reach == TO_BLOCKS && class <= IP6_CLASS + 128)
        len = class < IP6_CLASS ? snprintf(text, sizeof text, "cidr/4/%u", class)
                                : snprintf(text, sizeof text, "cidr/6/%u", class - IP6_CLASS);
    if (reach == TO_PREFIXES && class < CLASSES) len = mark_prefix(class, text);
    if (len == 0) return 0;
    mark[0] = '\0'; /* which no key of these forms starts with */
    memcpy(mark + 1, text, (size_t)len);
    return 1 + (size_t)len;
}

/* ---- Names ---- */

/* How many labels a name has; 0 for an address, which has no parents. */
static unsigned labels_of(const char *name, size_t len) {
    unsigned labels = 1, digits = 0;
    if (len == 0 || memchr(name, ':', len)) return 0;
    while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9') digits++;
    if (digits == len || (digits > 0 && name[len - 1 - digits] == '.')) return 0;
    for (size_t i = 0; i < len; i++) labels += name[i] == '.';
    return labels < MAX_LABELS ? labels : MAX_LABELS;
}

/* The name after its first label. */
static const char *parent_of(const char *name, const char *end) {
    const char *dot = memchr(name, '.', (size_t)(end - name));
    return dot ? dot + 1 : end;
}

static void push(struct probes *probes, struct tamis_key key, struct tamis_key match) {
    probes->key[probes->n] = key;
    probes->match[probes->n++] = match;
}

static bool add_parents(struct probes *probes, const struct classes *there,
                        const struct tamis_key *question) {
    const char *name = question->bytes, *end = end_of(question);
    unsigned labels = labels_of(name, question->len);
    if (PROBES - probes->n < MAX_LABELS) return false;
    do {
        const struct tamis_key key = part(name, end);
        if (classes_has(there, labels)) push(probes, key, key);
        name = parent_of(name, end);
    } while (labels > 1 && labels-- && name < end);
    return true;
}

/* ---- Blocks ---- */

static size_t block_size(const struct tamis_key *block) {
    return *(const uint8_t *)block->bytes == 4 ? 6 : MAX_BLOCK;
}

static unsigned class_of_block(const struct tamis_key *block) {
    const uint8_t *bytes = block->bytes;
    return bytes[0] == 4 ? bytes[1] : IP6_CLASS + (unsigned)bytes[1];
}

/* The highest class below this one, wrapping round to a number above all when there is none. */
static unsigned class_before(const struct classes *there, unsigned class) {
    while (class > 0) {
        const unsigned word = (class - 1) / 64, shift = 63 - (class - 1) % 64;
        const uint64_t below = there->word[word] << shift;
        if (below) return class - 1 - (unsigned)__builtin_clzll(below);
        class = 64 * word;
    }
    return UINT_MAX;
}

static bool add_blocks(struct probes *probes, const struct classes *there,
                       const struct tamis_key *question) {
    const uint8_t *bytes = question->bytes;
    const size_t size = block_size(question);
    const unsigned first = bytes[0] == 4 ? 0 : IP6_CLASS;
    if (PROBES - probes->n <= bytes[1]) return false;
    for (unsigned class = first + bytes[1] + 1;
         (class = class_before(there, class)) >= first && class < CLASSES;) {
        const unsigned len = class - first;
        uint8_t *block = probes->block[probes->n];
        write_block(block, bytes[0], bytes + 2, len);
        push(probes, (struct tamis_key){block, size}, (struct tamis_key){bytes, len});
    }
    return true;
}

/* ---- Prefixes of URLs ---- */

/* A URL in its parts: a host, and what of the rest may be in a list. */
struct prefixes {
    const char *host_end;          /* where the path starts */
    const char *path_end, *end;    /* the query lies between, if there is one */
    const char *dir[MAX_DIRS + 1]; /* after each slash */
    unsigned dirs;
};

static struct prefixes prefixes_of(const struct tamis_key *url) {
    const char *start = url->bytes, *end = end_of(url);
    const char *slash = memchr(start, '/', url->len);
    struct prefixes prefixes = {.host_end = slash ? slash : end, .end = end};
    const char *query = slash ? memchr(slash, '?', (size_t)(end - slash)) : NULL;
    prefixes.path_end = query ? query : end;
    while (slash && prefixes.dirs <= MAX_DIRS) {
        prefixes.dir[prefixes.dirs++] = ++slash;
        slash = memchr(slash, '/', (size_t)(prefixes.path_end - slash));
    }
    return prefixes;
}

/* One of those that count as directories; deeper ones are only themselves. */
static bool ends_in_dir(const struct prefixes *prefixes) {
    return prefixes->dirs > 0 && prefixes->dir[prefixes->dirs - 1] == prefixes->path_end;
}

static void note_prefix(const struct tamis_key *url, struct classes *classes) {
    const struct prefixes prefixes = prefixes_of(url);
    const char *start = url->bytes;
    classes_set(classes, labels_of(start, (size_t)(prefixes.host_end - start)));
    classes_set(classes, prefixes.path_end < prefixes.end ? QUERY_CLASS
                         : ends_in_dir(&prefixes)         ? PATH_CLASS + prefixes.dirs - 1
                                                          : EXACT_CLASS);
}

static void add_paths(struct probes *probes, const struct classes *there, const char *host,
                      const struct prefixes *prefixes) {
    const struct tamis_key all = part(host, prefixes->end), path = part(host, prefixes->path_end);
    if (all.len > path.len && classes_has(there, QUERY_CLASS)) push(probes, all, all);
    if (classes_has(there, EXACT_CLASS) && !ends_in_dir(prefixes)) push(probes, path, path);
    for (unsigned d = prefixes->dirs; d-- > 0;) {
        const struct tamis_key dir = part(host, prefixes->dir[d]);
        if (classes_has(there, PATH_CLASS + d)) push(probes, dir, dir);
    }
}

/* A piece is one host of a question with all its paths. */
static bool add_prefixes(struct probes *probes, const struct classes *there,
                         const struct tamis_key *question) {
    enum { MAX_PATHS = MAX_DIRS + 3 };
    const struct prefixes prefixes = prefixes_of(question);
    const char *host = question->bytes, *end = prefixes.host_end;
    unsigned labels = labels_of(host, (size_t)(end - host));
    for (unsigned i = 0;; i++) {
        if (i >= probes->at) {
            if (PROBES - probes->n < MAX_PATHS) return false;
            if (classes_has(there, labels)) add_paths(probes, there, host, &prefixes);
            probes->at = i + 1;
        }
        host = parent_of(host, end);
        if (labels <= 1 || host >= end) break;
        labels--;
    }
    probes->at = 0;
    return true;
}

/* ---- All of them ---- */

bool next_listed(enum reach reach, struct tamis_key *rest, struct tamis_key *key) {
    if (rest->len == 0) return false;
    *key = *rest;
    if (reach == TO_BLOCKS) key->len = block_size(rest);
    *rest = part(end_of(key), end_of(rest));
    return true;
}

void classes_note(enum reach reach, const struct tamis_key *key, struct classes *classes) {
    if (reach == TO_PARENTS) classes_set(classes, labels_of(key->bytes, key->len));
    if (reach == TO_BLOCKS) classes_set(classes, class_of_block(key));
    if (reach == TO_PREFIXES) note_prefix(key, classes);
}

bool probes_add(struct probes *probes, enum reach reach, const struct classes *there,
                const struct tamis_key *question) {
    return reach == TO_PARENTS  ? add_parents(probes, there, question)
           : reach == TO_BLOCKS ? add_blocks(probes, there, question)
                                : add_prefixes(probes, there, question);
}

static unsigned count(const struct classes *classes, unsigned from, unsigned to) {
    unsigned n = 0;
    for (; from < to; from++) n += classes_has(classes, from);
    return n;
}

unsigned most_probes(enum reach reach, const struct classes *there) {
    const unsigned names = count(there, 1, PATH_CLASS), hosts = names > 1 ? names : 1;
    const unsigned ip4 = count(there, 0, IP6_CLASS), ip6 = count(there, IP6_CLASS, CLASSES);
    if (reach == TO_PARENTS) return hosts;
    if (reach == TO_BLOCKS) return ip4 > ip6 ? ip4 : ip6;
    return reach == TO_PREFIXES ? hosts * count(there, PATH_CLASS, CLASSES) : 1;
}

size_t match_text(enum reach reach, const struct tamis_key *match, char *text, size_t size) {
    char block[IP_TEXT + 8];
    uint8_t bytes[MAX_BLOCK];
    struct tamis_key words = *match;
    if (reach == TO_BLOCKS) {
        const uint8_t *asked = match->bytes;
        write_block(bytes, asked[0], asked + 2, (unsigned)match->len);
        size_t len = asked[0] == 4 ? write_ip4(block, bytes + 2) : write_ip6(block, bytes + 2);
        if (match->len < (asked[0] == 4 ? 32 : 128))
            len += (size_t)snprintf(block + len, sizeof block - len, "/%u", (unsigned)match->len);
        words = (struct tamis_key){block, len};
    }
    const size_t len = words.len < size ? words.len : size;
    memcpy(text, words.bytes, len);
    return len;
}
