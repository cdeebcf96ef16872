/* SPDX-License-Identifier: MIT */
/* expand.h: only the files in cli/ include this. Forms of which a question asks for several keys.
 *
 *     www.evil.com   is answered yes when evil.com is in the set      --canon domain,parents
 *     10.1.2.3       when 10.0.0.0/8 is                               --canon cidr
 *     evil.com/a/b   when evil.com/a/ is                              --canon url-prefix
 *
 * Such keys fall into classes: names by their number of labels, blocks by their length. A question
 * asks only for keys of classes that are in the set, and these are told by keys of their own in it,
 * its marks: for each class that a list has, a key that says so. They are carried over by all that
 * is done with sets; one that is there by a false positive costs a probe.
 *
 * Everything here is a pure function of its arguments, for any thread. */
#ifndef TAMIS_CLI_KEYS_EXPAND_H
#define TAMIS_CLI_KEYS_EXPAND_H

#include "cli/keys/form.h"

enum { CLASSES = 192, MARK_TEXT = 32 };

struct classes {
    uint64_t word[CLASSES / 64];
};

static inline bool classes_has(const struct classes *classes, unsigned class) {
    return classes->word[class / 64] >> class % 64 & 1;
}

static inline void classes_set(struct classes *classes, unsigned class) {
    classes->word[class / 64] |= (uint64_t)1 << class % 64;
}

static inline unsigned classes_count(const struct classes *classes) {
    unsigned n = 0;
    for (unsigned class = 0; class < CLASSES; class ++) n += classes_has(classes, class);
    return n;
}

/* The key that marks a class, and its length; 0 when the form has no such class. */
size_t mark_of(enum reach reach, unsigned class, char mark[MARK_TEXT]);

/* ---- Lists ---- */

/* Takes the first key off `rest`, which is what the steps made of a line. False when there is none
 * any more. Ranges of addresses are several, all others one. */
bool next_listed(enum reach reach, struct tamis_key *rest, struct tamis_key *key);

/* Notes the classes of a listed key. */
void classes_note(enum reach reach, const struct tamis_key *key, struct classes *classes);

/* ---- Questions ---- */

/* At most so many keys are asked for at once; a question that asks for more is asked in pieces. */
enum { PROBES = 256, MAX_BLOCK = 18 };

struct probes {
    size_t n;
    struct tamis_key key[PROBES];
    struct tamis_key match[PROBES]; /* what match_text makes words of */
    uint8_t block[PROBES][MAX_BLOCK];
    unsigned at; /* where the next piece of a question starts; 0 at first */
};

/* Adds keys that answer the question, the most specific first, of classes that the set has. False:
 * there was no room for all of them; ask, empty it and call again. */
bool probes_add(struct probes *probes, enum reach reach, const struct classes *there,
                const struct tamis_key *question);

/* How many keys a question asks for at most. */
unsigned most_probes(enum reach reach, const struct classes *there);

/* What was found in the set, for people: "10.0.0.0/8". Returns the length, at most `size`. */
size_t match_text(enum reach reach, const struct tamis_key *match, char *text, size_t size);

/* For cidr.c: the block of `len` bits with this address. */
void write_block(uint8_t *block, unsigned family, const uint8_t *ip, unsigned len);

#endif
