/* SPDX-License-Identifier: MIT */
/* tamis_edit.h: files that several programs change.
 *
 * An edit holds a file, from before it is read until it is closed, against all others that ask (the
 * command "tamis" does for every change):
 *
 *     struct tamis_edit_options options = TAMIS_EDIT_OPTIONS_INIT;
 *     options.wait_ms = 60000;
 *     rc = tamis_edit_open(&edit, "seen.tamis", &options);
 *     if (!rc) rc = tamis_edit_read(edit, &filter);
 *     if (!rc) rc = tamis_add(filter, key, len);
 *     if (!rc) rc = tamis_edit_save(edit, filter);
 *     tamis_free(filter);
 *     tamis_edit_close(edit);
 *
 * The lock (flock) is released when the process ends, however that happens. Readers need none: they
 * see the old file or the new one. As a guard against programs that do not lock, saving checks that
 * the name still leads to the file that was read, unchanged, and fails with TAMIS_CHANGED
 * otherwise. */
#ifndef TAMIS_EDIT_H
#define TAMIS_EDIT_H

#include "tamis_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_edit tamis_edit;

/* Who may read a new file. One that replaces another keeps its permissions. */
enum tamis_readers {
    TAMIS_READERS_USUAL,       /* as the umask says */
    TAMIS_READERS_OWNER,       /* its owner only */
    TAMIS_READERS_OWNER_ALWAYS /* its owner only, also when it replaces another */
};

/* Everything optional: start from TAMIS_EDIT_OPTIONS_INIT. */
#define TAMIS_EDIT_OPTIONS_INIT TAMIS_INIT(struct tamis_edit_options)

struct tamis_edit_options {
    size_t struct_size;
    const struct tamis_options *filter; /* for the filter that is read; or NULL */
    uint64_t wait_ms; /* for a file that another process holds, in milliseconds; 0: do not wait */
    bool may_be_new;  /* the file need not exist: saving creates it. TAMIS_CHANGED if another
                         program creates it first */
    enum tamis_readers readers; /* of what tamis_edit_put writes; images with a secret inside are
                                   always their owner's */
};

/* Holds the file at `path`, or the target of a symbolic link there. TAMIS_BUSY when another process
 * holds it; tamis_why names that process where the system does. On failure *edit is NULL. Threads:
 * any; two edits of one file exclude each other within a process too. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_open(tamis_edit **edit, const char *path,
                                                        const struct tamis_edit_options *options);

/* True while there is no file. Threads: one. */
TAMIS_API bool tamis_edit_is_new(const tamis_edit *edit);

/* False on file systems without locks, and while there is no file: then only the check of the name
 * protects against other writers. Threads: one. */
TAMIS_API bool tamis_edit_is_locked(const tamis_edit *edit);

/* Reads the filter, ready to change; free it with tamis_free. Threads: one. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_read(tamis_edit *edit, tamis **filter);

/* Reads the bytes of the file into memory of the edit, valid until the next call on it.
 * Threads: one. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_bytes(tamis_edit *edit, const void **bytes,
                                                         size_t *size);

/* Saves a filter as tamis_save does, or what a builder makes as tamis_builder_finish_to does. The
 * new file is locked before it takes the name, so a long-running program can save any number of
 * times. Threads: one. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_save(tamis_edit *edit, const tamis *filter);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_build(tamis_edit *edit, tamis_builder *builder);

/* Saves the whole filter that its shards make, as tamis_shard_join_to does. Threads: one. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_join(tamis_edit *edit, tamis_next_shard *next,
                                                        void *ctx);

/* Writes any bytes, piece by piece; the commit replaces the file with them. Closing the edit
 * discards what was not committed. Threads: one. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_put(tamis_edit *edit, const void *bytes,
                                                       size_t size);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_edit_commit(tamis_edit *edit);

/* Releases the file. NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_edit_close(tamis_edit *edit);

#ifdef __cplusplus
}
#endif

#endif
