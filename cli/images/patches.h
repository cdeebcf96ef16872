/* SPDX-License-Identifier: MIT */
/* patches.h: only the files in cli/ include this. Patches: one, or many that follow each other. */
#ifndef TAMIS_CLI_IMAGES_PATCHES_H
#define TAMIS_CLI_IMAGES_PATCHES_H

#include "cli/cli.h"
#include "cli/feeds/feed_index.h"
#include "tamis_parts.h"

/* Standard output is for the data or for the JSON, not for both. */
int check_outputs(const struct args *args, const char *output);

/* Whether the bytes are an image: through the gate, as everything from outside. The filter looks at
 * the bytes, which must stay. */
int view_bytes(const struct args *args, const struct bytes *bytes, tamis **filter);

/* The members that diff and apply have, in an open object. */
void json_patch(struct json *json, const struct tamis_patch_info *info, bool is_signed);
void json_sum(struct json *json, const char *name, uint64_t sum);

struct version version_of(const void *image, size_t size);

/* ==== One patch ============================================================================== */

struct patch {
    char *path; /* on the heap */
    struct bytes bytes;
    struct version base, result;
    struct tamis_patch_info info;
    bool is_signed;
};

/* Whether a file starts as a patch does; false also when it cannot be read. */
bool patch_is_at(const char *path);

/* The patch without what follows it. */
size_t patch_size(const struct patch *patch);

/* What it makes of the image `base`, which it is for; bytes_close is due in any case. With --verify
 * both must be those that were signed. */
int patch_apply(const struct args *args, const struct patch *patch, const struct bytes *base,
                struct bytes *result);

/* ==== Many =================================================================================== */

/* In the order in which they follow each other, once they are chained. */
struct patches {
    struct patch *at;
    size_t n, room;
    size_t steps;             /* the first of them: from the start on */
    size_t past;              /* after those: they lead to what the start or a step has already */
    const struct patch *fork; /* one for the image where a step starts, to another; or NULL */
};

/* Reads and checks them, with --verify also who signed them; a directory stands for all patches in
 * it. patches_close is due in any case. */
int patches_open(struct patches *patches, const struct args *args, const char *const *path,
                 size_t n);
void patches_close(struct patches *patches);

/* Brings them into their order, from one version of an image on. What is neither a step nor past
 * comes last. */
void patches_chain(struct patches *patches, struct version start);

/* Where a chain of them would start: at what none of them makes. */
struct version patches_start(const struct patches *patches);

#endif
