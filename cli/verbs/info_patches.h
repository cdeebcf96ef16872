/* SPDX-License-Identifier: MIT */
/* info_patches.h: only info.c and info_patches.c include this. What `tamis info` says about
 * patches. */
#ifndef TAMIS_CLI_VERBS_INFO_PATCHES_H
#define TAMIS_CLI_VERBS_INFO_PATCHES_H

#include "cli/cli.h"

/* Whether the path leads to a patch or to a directory. */
bool info_is_patches(const char *path);

/* Describes a patch, or the patches of a directory as a chain. */
int info_patches(const struct args *args, const char *path, bool is_first);

/* Whether all patches among the operands follow each other. For two or more of them. */
int info_chain(const struct args *args);

#endif
