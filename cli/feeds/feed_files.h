/* SPDX-License-Identifier: MIT */
/* feed_files.h: only publish.h, sync.c and feed_files.c include this. Files of feeds, and how the
 * index and what a subscriber remembers are written. */
#ifndef TAMIS_CLI_FEEDS_FEED_FILES_H
#define TAMIS_CLI_FEEDS_FEED_FILES_H

#include "cli/cli.h"
#include "cli/feeds/feed_index.h"

/* DIR/NAME; false with a complaint. */
bool feed_path(const struct args *args, const char *dir, const char *name, char path[PATH_MAX]);

/* Replaces a file, or makes it; --force is no part of it. */
int feed_write(const struct args *args, const char *path, const void *bytes, size_t size);

/* Removes DIR/NAME; fine when it is gone already. */
int feed_remove(const struct args *args, const char *dir, const char *name);

/* The index as text, without and with the signature that --sign asks for. */
void index_write(const struct feed_index *index, struct text *out);
int index_sign(const struct args *args, struct text *out);

void state_write(const struct feed_state *state, struct text *out);

/* Makes the directory where there is none, and holds a file of it against all others, which may be
 * new; `path` is then its path. */
int feed_hold(tamis_edit **edit, const struct args *args, const char *dir, const char *name,
              char path[PATH_MAX]);

#endif
