/* SPDX-License-Identifier: MIT */
/* foreign_files.h: only the files in cli/ include this. Files that other systems wrote.
 *
 *     --from FORMAT: file --bytes_open, unpacked--> bytes --tamis_import--> filter, as any image
 *     --to FORMAT:   filter --tamis_export--> file
 *
 * FORMAT is a name, or a name and parameters: parquet:column=s,group=0. */
#ifndef TAMIS_CLI_IMAGES_FOREIGN_FILES_H
#define TAMIS_CLI_IMAGES_FOREIGN_FILES_H

#include "cli/files/files.h"
#include "cli/images/images.h"
#include "tamis_formats.h"

/* Refuses a format that does not exist, with the nearest that does. `args` is "--from", or NULL. */
int format_exists(const struct args *args, const char *said, const char *text,
                  struct tamis_format_info *format);

/* The bytes of a file of another system, without the gzip or zstd around them. bytes_close is due
 * also after a failure. */
int foreign_open(struct bytes *bytes, const struct args *args, const char *path);

/* What --from says this file is, as a filter. Bytes that are not that come as TAMIS_CORRUPT; all
 * else that went wrong is reported. */
int foreign_try(struct image *image, const struct args *args, const char *path,
                tamis_status *status);

/* Whether a file is of the format that --from names, told by its bytes: of formats whose files hold
 * several filters, which have a frame around them. Of all others, false. */
bool foreign_is_that(const struct args *args, const char *path);

/* Whether the format that --from names is one of those. */
bool foreign_is_framed(const struct args *args);

/* Writes a filter as --to says, whole or not at all. */
int foreign_write(const struct args *args, const struct image *image, const char *path,
                  uint64_t *written);

/* Whether --from names a file with several filters, and none of them: then `tamis info` lists
 * them. */
bool foreign_is_list(const struct args *args);
int foreign_list(const struct args *args, const char *path, bool is_first);

#endif
