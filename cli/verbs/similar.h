/* SPDX-License-Identifier: MIT */
/* similar.h: only the files of `tamis similar` include this. */
#ifndef TAMIS_CLI_SIMILAR_H
#define TAMIS_CLI_SIMILAR_H

#include "cli/cli.h"

/* One operand: an image, or a file of keys that was sketched or, with --exact, kept as hashes. */
struct set {
    const char *name;
    bool is_image;
    struct image image; /* of images; otherwise its filter alone */
    uint64_t *hash;     /* with --exact: ascending, each once */
    size_t hashes, room;
    struct tamis_estimate keys;
};

struct pair {
    const struct set *first, *second;
    struct tamis_estimate similarity, common;
};

/* How a text becomes keys: each `words` words in a row, whatever lines they stand on. */
struct shingler {
    const tamis *hasher;
    uint64_t words, seen;
    uint64_t *last; /* hashes of the last words, the oldest overwritten first */
};

enum { MAX_WORDS = 64 }; /* of a shingle */

/* All sets of the operands; sets_close is due also after a failure: similar_sets.c. */
int sets_open(struct set **sets, const struct args *args);
void sets_close(struct set *sets, size_t n);

/* How much two have in common; reports what does not fit together. */
int sets_compare(const struct args *args, struct pair *pair);

#endif
