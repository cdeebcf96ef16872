/* SPDX-License-Identifier: MIT */
/* filters.h: only the files in cli/ include this. Several images that are asked as one set.
 *
 *     operands, --image --members.c--> images, directories of images --> members, each with a name
 *     batch --filters.c--> which lines any of them has, and which of them has each
 */
#ifndef TAMIS_CLI_IMAGES_FILTERS_H
#define TAMIS_CLI_IMAGES_FILTERS_H

#include "cli/images/images.h"

struct member {
    struct image image;
    char *path; /* of the image, on the heap */
    char *name; /* how it is called among others: "feeds/spam.tamis" is "spam" */

    /* How it hashes keys: by these three, or its own way, which is NULL. */
    const char *hash;
    uint64_t seed, key_id;

    struct classes classes; /* of its keys, where a question asks for several */

    const char **label; /* the names of its labels, found when they are first needed; or NULL */
};

struct filters {
    const struct args *args;
    struct member *member; /* in the order in which they were named */
    size_t n, room;
    size_t *order;   /* the same so that those that hash alike are neighbours */
    size_t operands; /* how many of the operands they are */
    bool tells_which;
    uint64_t *found; /* labels of a line */
    size_t found_n, found_room;
};

/* ==== Which images: members.c =============================================================== */

/* Finds and opens what the leading operands, or --image, name. filters_close is due also after a
 * failure. */
int filters_open(struct filters *filters, const struct args *args);
void filters_close(struct filters *filters);

/* ==== Asking them: filters.c ================================================================ */

/* Puts those that hash alike together. False when memory is out. */
bool filters_sort(struct filters *filters);

/* Batches bring hashes as most of the members want them. */
void filters_hash(struct filters *filters, struct keys *keys);

/* Fills batch->hit: whether any of them has the key. On any thread. */
void filters_ask(const struct filters *filters, struct batch *batch);

/* With `tells_which`, after filters_ask: the sets that have the i-th key. `name` is NULL where
 * there is only one image, and `label` where it has no labels. In order only, where there are
 * labels. False when memory is out. */
typedef void take_set(void *with, const char *name, const char *label);
bool filters_tell(struct filters *filters, const struct batch *batch, size_t i, take_set *take,
                  void *with);
bool filters_have_labels(const struct filters *filters);

#endif
