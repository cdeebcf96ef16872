/* SPDX-License-Identifier: MIT */
/* flows.h: only the files in cli/ include this. The names of what was recorded.
 *
 * An image of payloads knows hashes of names only; to ask for a flow one has to name it. So the
 * command keeps the names as notes: "flows", one name on each line, in the order of their bytes, or
 * "lines", how many lines of text were recorded, whose names are their numbers. */
#ifndef TAMIS_CLI_IMAGES_FLOWS_H
#define TAMIS_CLI_IMAGES_FLOWS_H

#include "cli/images/images.h"

struct flows {
    struct tamis_key *key; /* into `text`, each followed by a NUL */
    size_t count;
    char *text;
};

void flows_free(struct flows *flows);

/* From the notes of an image: none, when it has no names. */
int flows_of_image(struct flows *flows, const struct args *args, const struct image *image);

/* From a file with one name on each line. */
int flows_from_file(struct flows *flows, const struct args *args, const char *path);

/* The note of lines; 0 without one. */
uint64_t lines_recorded(const tamis *filter);

/* The note of names, together with `count` more. Fails before anything is changed when notes have
 * no room for them, or a name cannot be kept. */
int flows_keep(const struct args *args, tamis *filter, const char *const *names, size_t count);

#endif
