/* SPDX-License-Identifier: MIT */
/* patches.h: only diff.c, apply.c, announce.c and patches.c include this. What the
 * first two say about a patch. */
#ifndef TAMIS_CLI_IMAGES_PATCHES_H
#define TAMIS_CLI_IMAGES_PATCHES_H

#include "cli/cli.h"
#include "tamis_parts.h"

/* Standard output is for the data or for the JSON, not for both. */
int check_outputs(const struct args *args, const char *output);

/* Whether the bytes are an image: through the gate, as everything from outside. The filter looks at
 * the bytes, which must stay. */
int view_bytes(const struct args *args, const struct bytes *bytes, tamis **filter);

/* The members that both have, in an open object. */
void json_patch(struct json *json, const struct tamis_patch_info *info, bool is_signed);

#endif
