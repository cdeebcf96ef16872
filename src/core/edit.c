/* SPDX-License-Identifier: MIT */
/* Changes a file that others may change too: holds it from before the read until after the write.
 * file/place.c has the lock, file/replace.c the new file. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/saving.h"
#include "file/disk.h"

struct tamis_edit {
    struct tamis_allocator allocator;
    tamis_block self, name, bytes;
    struct tamis_options options; /* for filters that are read; without the secret */
    bool has_secret;
    enum tamis_readers readers;
    uint8_t secret[TAMIS_SECRET_BYTES];
    tamis_place place;
    tamis_new_file file; /* what was put so far */
    bool is_begun;
};

/* ---- Opening and closing -------------------------------------------------------------------- */

static void keep_options(tamis_edit *e, const struct tamis_options *options) {
    e->options = *options;
    e->options.struct_size = sizeof e->options;
    e->options.allocator = options->allocator ? &e->allocator : NULL;
    e->options.secret = NULL;
    e->has_secret = options->secret != NULL;
    if (e->has_secret) memcpy(e->secret, options->secret, sizeof e->secret);
}

static tamis_status make(tamis_edit **edit, const char *path, const struct tamis_options *options) {
    const struct tamis_allocator allocator = tamis__allocator(options);
    tamis_block block, name;
    tamis_edit *e = tamis__get(&allocator, sizeof *e, &block);
    if (!e) return TAMIS_NOMEM;
    e->self = block;
    e->allocator = allocator;
    e->place.fd = -1;
    keep_options(e, options);
    *edit = e;
    char *copy = tamis__get(&allocator, strlen(path) + 1, &name);
    if (!copy) return TAMIS_NOMEM;
    e->name = name;
    e->place.path = strcpy(copy, path);
    return TAMIS_OK;
}

tamis_status tamis_edit_open(tamis_edit **edit, const char *path,
                             const struct tamis_edit_options *options) {
    const int saved = errno;
    struct tamis_edit_options o;
    struct tamis_options filter;
    tamis_edit *e = NULL;
    *edit = NULL;
    tamis_status rc = tamis__read_struct(options, &o, sizeof o, "edit_options");
    if (!rc) rc = tamis__read_options(o.filter, &filter);
    if (!rc && o.readers > TAMIS_READERS_OWNER_ALWAYS)
        rc = tamis__fail(TAMIS_INVALID, "options.readers is %u: from 0 to %u", (unsigned)o.readers,
                         (unsigned)TAMIS_READERS_OWNER_ALWAYS);
    if (!rc) rc = make(&e, path, &filter);
    if (!rc) {
        e->readers = o.readers;
        rc = tamis__place_take(&e->place, e->place.path, o.wait_ms, o.may_be_new);
    }
    if (rc)
        tamis_edit_close(e);
    else
        *edit = e;
    errno = saved;
    return rc;
}

bool tamis_edit_is_new(const tamis_edit *e) {
    return !e->place.is_there;
}

bool tamis_edit_is_locked(const tamis_edit *e) {
    return e->place.is_locked;
}

/* What was read may hold a secret. */
static void forget_bytes(tamis_edit *e) {
    if (e->bytes.base) tamis__wipe(e->bytes.base, e->bytes.size);
    tamis__block_free(&e->allocator, &e->bytes);
}

void tamis_edit_close(tamis_edit *e) {
    const int saved = errno;
    if (!e) return;
    if (e->is_begun) tamis__file_abandon(&e->file);
    tamis__place_leave(&e->place);
    forget_bytes(e);
    tamis__block_free(&e->allocator, &e->name);
    tamis__wipe(e->secret, sizeof e->secret);
    const struct tamis_allocator allocator = e->allocator;
    tamis_block self = e->self;
    tamis__block_free(&allocator, &self);
    errno = saved;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Rewinds the file that is held, whatever the name leads to now. */
static tamis_status go_to_start(tamis_edit *e) {
    if (!e->place.is_there)
        errno = ENOENT;
    else if (e->place.fd < 0)
        errno = EACCES;
    else if (lseek(e->place.fd, 0, SEEK_SET) == 0)
        return TAMIS_OK;
    return tamis__io_error(e->place.path, "cannot read");
}

tamis_status tamis_edit_read(tamis_edit *e, tamis **filter) {
    const int saved = errno;
    struct tamis_options options = e->options;
    if (e->has_secret) options.secret = e->secret;
    *filter = NULL;
    tamis_status rc = go_to_start(e);
    if (!rc)
        rc = tamis__read_from(filter, e->place.fd, (uint64_t)e->place.seen.st_size, e->place.path,
                              &options);
    errno = saved;
    return rc;
}

tamis_status tamis_edit_bytes(tamis_edit *e, const void **bytes, size_t *size) {
    const int saved = errno;
    const uint64_t length = (uint64_t)e->place.seen.st_size;
    *bytes = NULL;
    *size = 0;
    tamis_status rc = go_to_start(e);
    forget_bytes(e);
    void *copy = rc ? NULL : tamis__get(&e->allocator, length, &e->bytes);
    if (!rc && !copy) rc = tamis__fail_in(TAMIS_NOMEM, e->place.path);
    if (!rc) rc = tamis__disk_read(e->place.fd, e->place.path, copy, length);
    if (!rc) rc = tamis__disk_is_read(e->place.fd, e->place.path);
    if (!rc) *bytes = copy, *size = (size_t)length;
    errno = saved;
    return rc;
}

/* ---- Writing -------------------------------------------------------------------------------- */

tamis_goal tamis__edit_goal(tamis_edit *e) {
    return (tamis_goal){e->place.path, &e->place};
}

tamis_status tamis_edit_save(tamis_edit *e, const tamis *filter) {
    return tamis__save(filter, tamis__edit_goal(e));
}

tamis_status tamis_edit_join(tamis_edit *e, tamis_next_shard *next, void *ctx) {
    return tamis__join_at(tamis__edit_goal(e), next, ctx);
}

tamis_status tamis_edit_put(tamis_edit *e, const void *bytes, size_t size) {
    const int saved = errno;
    tamis_status rc = TAMIS_OK;
    if (!e->is_begun) rc = tamis__file_begin(&e->file, tamis__edit_goal(e), e->readers);
    if (!rc) e->is_begun = true;
    if (!rc) rc = tamis__file_append(&e->file, bytes, size);
    errno = saved;
    return rc;
}

tamis_status tamis_edit_commit(tamis_edit *e) {
    const int saved = errno;
    tamis_status rc = tamis_edit_put(e, NULL, 0); /* an empty file is valid */
    if (!rc) {
        e->is_begun = false;
        rc = tamis__file_commit(&e->file);
    }
    errno = saved;
    return rc;
}
