/* SPDX-License-Identifier: MIT */
/* Filters that have a name. */
#include "engines/sql/sql_names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static tamis_status refuse(sql_why *why, tamis_status rc, const char *hint, const char *what) {
    snprintf(why->sentence, sizeof why->sentence, "%s", what);
    snprintf(why->hint, sizeof why->hint, "%s", hint);
    return rc;
}

/* The library's own sentence. */
static tamis_status pass_on(sql_why *why, tamis_status rc) {
    return rc ? refuse(why, rc, "", tamis_why()) : TAMIS_OK;
}

/* ---- Files of one directory ----------------------------------------------------------------- */

/* Names may be long, and have bytes that no sentence should. */
static const char *shown(const char *name) {
    return strlen(name) > SQL_MAX_NAME ? "a long name" : name;
}

tamis_status sql_path_in(const char *directory, const char *name, char path[SQL_MAX_PATH + 1],
                         sql_why *why) {
    char what[sizeof why->sentence];
    if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > SQL_MAX_NAME) {
        snprintf(what, sizeof what,
                 "\"%s\" is not a file name: one without a slash or a leading dot, of 1 to %d "
                 "bytes",
                 shown(name), SQL_MAX_NAME);
        return refuse(why, TAMIS_INVALID, "", what);
    }
    const int len = snprintf(path, SQL_MAX_PATH + 1, "%s/%s", directory, name);
    if (len < 0 || len > SQL_MAX_PATH) {
        snprintf(what, sizeof what, "the path of \"%s\" is too long: at most %d bytes", name,
                 SQL_MAX_PATH);
        return refuse(why, TAMIS_INVALID, "", what);
    }
    return TAMIS_OK;
}

tamis_status sql_stamp_of(const char *path, sql_stamp *stamp, sql_why *why) {
    char what[sizeof why->sentence];
    struct stat file;
    const bool is_there = lstat(path, &file) == 0;
    if (is_there && S_ISREG(file.st_mode)) {
        *stamp = (sql_stamp){.device = (uint64_t)file.st_dev,
                             .inode = (uint64_t)file.st_ino,
                             .size = (uint64_t)file.st_size,
                             .seconds = file.st_mtim.tv_sec,
                             .nanoseconds = file.st_mtim.tv_nsec};
        return TAMIS_OK;
    }
    const int error = errno;
    const char *name = strlen(path) > SQL_MAX_NAME ? strrchr(path, '/') + 1 : path;
    if (is_there)
        snprintf(what, sizeof what, "\"%s\" is not a regular file", name);
    else
        snprintf(what, sizeof what, "cannot open \"%s\": %s", name, strerror(error));
    (void)refuse(why, TAMIS_INVALID, "", what);
    errno = error;
    return is_there ? TAMIS_INVALID : TAMIS_IO;
}

bool sql_is_same_stamp(const sql_stamp *a, const sql_stamp *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void *take(void *ctx, size_t size) {
    (void)ctx;
    return calloc(1, size);
}

static void give(void *ctx, void *memory, size_t size) {
    (void)ctx, (void)size;
    free(memory);
}

static const struct tamis_allocator usual = {.alloc = take, .free = give, .is_zeroed = true};

static void *new (const struct tamis_allocator *memory, size_t size) {
    void *made = memory->alloc(memory->ctx, size);
    if (made && !memory->is_zeroed) memset(made, 0, size);
    return made;
}

/* ---- Filters that several hold -------------------------------------------------------------- */

struct sql_opened {
    tamis *filter;
    const struct tamis_allocator *memory;
    atomic_size_t holders;
};

const tamis *sql_opened_filter(const sql_opened *opened) {
    return opened->filter;
}

sql_opened *sql_opened_hold(sql_opened *opened) {
    atomic_fetch_add_explicit(&opened->holders, 1, memory_order_relaxed);
    return opened;
}

void sql_opened_drop(sql_opened *opened) {
    if (!opened || atomic_fetch_sub_explicit(&opened->holders, 1, memory_order_acq_rel) > 1) return;
    const struct tamis_allocator *memory = opened->memory;
    tamis_free(opened->filter);
    memory->free(memory->ctx, opened, sizeof *opened);
}

/* The filter is the list's, or gone. */
static sql_opened *held(const struct tamis_allocator *memory, tamis *filter) {
    sql_opened *opened = new (memory, sizeof *opened);
    if (!opened) {
        tamis_free(filter);
        return NULL;
    }
    opened->filter = filter;
    opened->memory = memory;
    atomic_init(&opened->holders, 1);
    return opened;
}

/* ---- Names ---------------------------------------------------------------------------------- */

typedef struct entry {
    struct entry *next;
    char name[SQL_MAX_NAME + 1];
    char path[SQL_MAX_PATH + 1]; /* "" for a filter that is no file */
    sql_stamp stamp;
    sql_opened *opened;
} entry;

struct sql_names {
    const struct tamis_allocator *memory;
    struct tamis_options options;
    char directory[SQL_MAX_PATH + 1];
    entry *first;
};

static tamis_status refuse_memory(sql_why *why) {
    return refuse(why, TAMIS_NOMEM, "", tamis_status_text(TAMIS_NOMEM));
}

tamis_status sql_names_create(sql_names **made, const char *directory,
                              const struct tamis_options *options) {
    const struct tamis_allocator *memory =
        options && options->allocator ? options->allocator : &usual;
    *made = NULL;
    if (directory && strlen(directory) > SQL_MAX_PATH) return TAMIS_INVALID;
    sql_names *names = new (memory, sizeof *names);
    if (!names) return TAMIS_NOMEM;
    names->memory = memory;
    names->options = options ? *options : (struct tamis_options)TAMIS_OPTIONS_INIT;
    snprintf(names->directory, sizeof names->directory, "%s", directory ? directory : "");
    *made = names;
    return TAMIS_OK;
}

static entry **place_of(sql_names *names, const char *name) {
    entry **at = &names->first;
    while (*at && strcmp((*at)->name, name) != 0) at = &(*at)->next;
    return at;
}

static void remove_at(sql_names *names, entry **at) {
    entry *gone = *at;
    *at = gone->next;
    sql_opened_drop(gone->opened);
    names->memory->free(names->memory->ctx, gone, sizeof *gone);
}

void sql_names_free(sql_names *names) {
    if (!names) return;
    while (names->first) remove_at(names, &names->first);
    names->memory->free(names->memory->ctx, names, sizeof *names);
}

bool sql_names_drop(sql_names *names, const char *name) {
    entry **at = place_of(names, name);
    const bool is_there = *at;
    if (is_there) remove_at(names, at);
    return is_there;
}

/* A name with its filter, in place of another. */
static tamis_status put(sql_names *names, const char *name, tamis *filter, entry **made,
                        sql_why *why) {
    sql_opened *opened = held(names->memory, filter);
    entry *e = *place_of(names, name);
    if (opened && !e && (e = new (names->memory, sizeof *e))) {
        snprintf(e->name, sizeof e->name, "%s", name);
        e->next = names->first;
        names->first = e;
    }
    if (!opened || !e) {
        sql_opened_drop(opened);
        return refuse_memory(why);
    }
    sql_opened_drop(e->opened);
    e->opened = opened;
    *e->path = '\0';
    *made = e;
    return TAMIS_OK;
}

static tamis_status check_name(const char *name, sql_why *why) {
    char what[sizeof why->sentence];
    if (*name && strlen(name) <= SQL_MAX_NAME) return TAMIS_OK;
    snprintf(what, sizeof what, "a name of a filter has 1 to %d bytes, and this one %zu",
             SQL_MAX_NAME, strlen(name));
    return refuse(why, TAMIS_INVALID, "", what);
}

tamis_status sql_names_put(sql_names *names, const char *name, tamis *filter, sql_why *why) {
    entry *made;
    const tamis_status rc = check_name(name, why);
    if (!rc) return put(names, name, filter, &made, why);
    tamis_free(filter);
    return rc;
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* The stamp is that of before: a file that is replaced in between is opened again next time. */
static tamis_status open_file(sql_names *names, const char *path, const char *name, sql_why *why) {
    sql_stamp stamp;
    entry *made;
    tamis *f;
    tamis_status rc = sql_stamp_of(path, &stamp, why);
    if (!rc) rc = pass_on(why, tamis_map_with(&f, path, &names->options));
    if (!rc) rc = put(names, name, f, &made, why);
    if (rc) return rc;
    snprintf(made->path, sizeof made->path, "%s", path);
    made->stamp = stamp;
    return TAMIS_OK;
}

tamis_status sql_names_open(sql_names *names, const char *file, const char *name, sql_why *why) {
    char path[SQL_MAX_PATH + 1];
    if (!*names->directory)
        return refuse(why, TAMIS_UNSUPPORTED, "", "there is no directory of filters");
    tamis_status rc = sql_path_in(names->directory, file, path, why);
    if (!rc) rc = check_name(name ? name : file, why);
    return rc ? rc : open_file(names, path, name ? name : file, why);
}

static tamis_status refuse_unknown(const sql_names *names, const char *name, sql_why *why) {
    char what[sizeof why->sentence];
    snprintf(what, sizeof what, "no filter has the name \"%s\"%s", shown(name),
             *names->directory ? "" : ", and there is no directory of filters");
    return refuse(why, TAMIS_NOT_FOUND, "", what);
}

/* Looks whether the file is still the one that is open. */
static tamis_status refresh(sql_names *names, entry *e, sql_why *why) {
    char path[SQL_MAX_PATH + 1], name[SQL_MAX_NAME + 1];
    sql_stamp stamp;
    const tamis_status rc = sql_stamp_of(e->path, &stamp, why);
    if (rc || sql_is_same_stamp(&stamp, &e->stamp)) return rc;
    memcpy(path, e->path, sizeof path);
    memcpy(name, e->name, sizeof name);
    return open_file(names, path, name, why);
}

tamis_status sql_names_find(sql_names *names, const char *name, sql_opened **found, sql_why *why) {
    entry **at = place_of(names, name);
    tamis_status rc = TAMIS_OK;
    *found = NULL;
    if (!*at && !*names->directory) return refuse_unknown(names, name, why);
    if (!*at)
        rc = sql_names_open(names, name, NULL, why);
    else if (*(*at)->path)
        rc = refresh(names, *at, why);
    if (rc) return rc;
    *found = sql_opened_hold((*place_of(names, name))->opened);
    return TAMIS_OK;
}
