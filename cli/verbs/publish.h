/* SPDX-License-Identifier: MIT */
/* publish.h: only publish.c and publish_image.c include this. What `tamis publish` works on. */
#ifndef TAMIS_CLI_VERBS_PUBLISH_H
#define TAMIS_CLI_VERBS_PUBLISH_H

#include "cli/feeds/feed_files.h"
#include "cli/images/patches.h"

enum change { IS_SAME, IS_NEW, IS_PATCHED, IS_WHOLE, IS_GONE, IS_DELETED, HAS_FAILED };

/* A list, and what became of it. */
struct offer {
    char name[FEED_NAME_BYTES + 1];
    char *path; /* of the list, on the heap; NULL: there is none any more */
    enum change change;
    uint64_t lines, image_bytes, patch_bytes;
};

struct publishing {
    const struct args *args;
    const char *from, *dir;
    char *spec;
    unsigned abilities; /* of the kind in it */
    struct offer *offer;
    size_t offers, room;
    tamis_edit *edit; /* of the index: nobody else publishes here meanwhile */
    char path[PATH_MAX];
    struct text before; /* the index as it was; and as it will be: */
    struct feed_index old, new;
    int code;
};

/* ==== Images and patches: publish_image.c =================================================== */

/* Refuses to publish keys in another form than the image before has. */
int publish_check_form(const struct publishing *p, const struct offer *offer,
                       const struct bytes *old);

/* Builds the image of a list, on the heap; of the shape that the one before has, if keys fit. */
int publish_make_image(struct publishing *p, struct offer *offer, const struct bytes *old,
                       struct bytes *image);

/* Writes the patch between two versions where that is shorter than the image, and lists it. */
int publish_write_patch(struct publishing *p, struct offer *offer, struct feed *feed,
                        const struct bytes *base, const struct bytes *result);

/* Takes patches off the list that are too many, or together no shorter than the image. */
void publish_drop_patches(const struct args *args, struct feed *feed);

#endif
