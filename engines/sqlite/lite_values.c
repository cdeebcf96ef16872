/* SPDX-License-Identifier: MIT */
/* Arguments to filters, filters to results; errors. */
#include "engines/sqlite/lite.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* ---- Errors --------------------------------------------------------------------------------- */

void lite_message(char *message, const sql_why *why) {
    const char *end = why->sentence + strlen(why->sentence);
    const bool is_ended = end > why->sentence && end[-1] == '.';
    snprintf(message, LITE_MESSAGE, "tamis: %s%s%s", why->sentence,
             !*why->hint ? ""
             : is_ended  ? " "
                         : ". ",
             why->hint);
}

void lite_library_message(char *message) {
    snprintf(message, LITE_MESSAGE, "tamis: %s", tamis_why());
}

static void fail_with(sqlite3_context *ctx, tamis_status rc, const char *message) {
    if (rc == TAMIS_NOMEM) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    sqlite3_result_error(ctx, message, -1);
    if (rc == TAMIS_CANCELLED) sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
}

void lite_fail(sqlite3_context *ctx, tamis_status rc, const sql_why *why) {
    char message[LITE_MESSAGE];
    lite_message(message, why);
    fail_with(ctx, rc, message);
}

void lite_fail_name(sqlite3_context *ctx, tamis_status rc, sql_why *why) {
    if (rc == TAMIS_NOT_FOUND || rc == TAMIS_UNSUPPORTED)
        snprintf(why->hint, sizeof why->hint,
                 "tamis_open(image, name) gives one; files are those of TAMIS_DIRECTORY, in the "
                 "environment of the program.");
    lite_fail(ctx, rc, why);
}

void lite_refuse(sqlite3_context *ctx, const char *sentence) {
    char message[LITE_MESSAGE];
    snprintf(message, sizeof message, "tamis: %s", sentence);
    fail_with(ctx, TAMIS_INVALID, message);
}

static void refuse_size(sqlite3_context *ctx, uint64_t size, int limit) {
    char sentence[LITE_MESSAGE / 2];
    snprintf(sentence, sizeof sentence,
             "the filter has %llu bytes, and values of this connection end at %d: build it with "
             "the command, and ask it by name: tamis_open(file)",
             (unsigned long long)size, limit);
    lite_refuse(ctx, sentence);
}

bool lite_check(sqlite3_context *ctx, tamis_status rc) {
    char message[LITE_MESSAGE];
    if (!rc) return true;
    lite_library_message(message);
    if (rc == TAMIS_TOO_LARGE) {
        const size_t len = strlen(message);
        snprintf(message + len, sizeof message - len,
                 ": values of this connection end there; build it with the command, and ask it by "
                 "name: tamis_open(file)");
    }
    fail_with(ctx, rc, message);
    return false;
}

/* ---- Filters -------------------------------------------------------------------------------- */

lite *lite_of(sqlite3_context *ctx) {
    return sqlite3_user_data(ctx);
}

void lite_filter_free(void *filter) {
    lite_filter *gone = filter;
    if (!gone) return;
    sql_opened_drop(gone->opened);
    tamis_free(gone->own);
    sqlite3_free(gone);
}

/* Where SQLite keeps it, it is constant: it drops what was said about other arguments. */
static lite_filter *keep(sqlite3_context *ctx, int index, lite_filter made) {
    lite_filter *kept = lite_new(sizeof *kept);
    if (!kept) {
        sql_opened_drop(made.opened);
        tamis_free(made.own);
        sqlite3_result_error_nomem(ctx);
        return NULL;
    }
    *kept = made;
    sqlite3_set_auxdata(ctx, index, kept, lite_filter_free);
    return sqlite3_get_auxdata(ctx, index); /* NULL when it ran out of memory, and freed it */
}

/* The forms of a filter in the cache are kept beside it. */
static lite_filter *of_cache(lite *l, const tamis *f, uint64_t serial) {
    lite_filter *slot = &l->cached[serial % SQL_CACHE_ENTRIES];
    if (slot->serial != serial) *slot = (lite_filter){.serial = serial};
    slot->f = f;
    return slot;
}

/* The first call cannot know whether its argument is constant, and opens the image by its header.
 * When it left a mark that a second call finds, that one opens it for the statement. */
static lite_filter *of_image(sqlite3_context *ctx, sqlite3_value *value, int index,
                             bool is_constant) {
    lite *l = lite_of(ctx);
    const void *image = sqlite3_value_blob(value);
    const size_t size = (size_t)sqlite3_value_bytes(value);
    const tamis *f;
    uint64_t serial;
    if (is_constant) {
        lite_filter made = {.f = NULL};
        if (!lite_check(ctx, tamis_load_with(&made.own, image, size, &l->options))) return NULL;
        made.f = made.own;
        return keep(ctx, index, made);
    }
    if (!lite_check(ctx, sql_cache_open(&l->cache, image, size, &l->options, &f, &serial)))
        return NULL;
    lite_filter *mark = lite_new(sizeof *mark);
    if (mark) sqlite3_set_auxdata(ctx, index, mark, lite_filter_free);
    return of_cache(l, f, serial);
}

static lite_filter *of_name(sqlite3_context *ctx, sqlite3_value *value, int index) {
    lite_filter made = {.f = NULL};
    sql_why why;
    const char *name = lite_text(ctx, value, "a name of a filter");
    if (!name) return NULL;
    const tamis_status rc = sql_names_find(lite_of(ctx)->names, name, &made.opened, &why);
    if (rc) {
        lite_fail_name(ctx, rc, &why);
        return NULL;
    }
    made.f = sql_opened_filter(made.opened);
    return keep(ctx, index, made);
}

lite_filter *lite_argument(sqlite3_context *ctx, sqlite3_value *value, int index) {
    lite_filter *kept = sqlite3_get_auxdata(ctx, index);
    if (kept && kept->f) return kept;
    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL: return sqlite3_value_pointer(value, "tamis");
    case SQLITE_BLOB: return of_image(ctx, value, index, kept);
    case SQLITE_TEXT: return of_name(ctx, value, index);
    default:
        lite_refuse(ctx, "a filter is an image, a name, or what tamis_open() returned, and not a "
                         "number");
        return NULL;
    }
}

tamis *lite_to_change(sqlite3_context *ctx, sqlite3_value *value) {
    const int type = sqlite3_value_type(value);
    lite *l = lite_of(ctx);
    tamis *f;
    if (type == SQLITE_NULL) {
        if (sqlite3_value_pointer(value, "tamis"))
            lite_refuse(ctx, "what tamis_open() returned is not changed: give the image");
        return NULL;
    }
    if (type != SQLITE_BLOB) {
        lite_refuse(ctx, "the image of a filter is a blob; a name is none: see tamis_image(name)");
        return NULL;
    }
    struct tamis_options options = l->options;
    const int limit = sqlite3_limit(l->db, SQLITE_LIMIT_LENGTH, -1);
    const void *image = sqlite3_value_blob(value);
    const size_t size = (size_t)sqlite3_value_bytes(value);
    options.max_bytes = (uint64_t)limit;
    return lite_check(ctx, tamis_load_with(&f, image, size, &options)) ? f : NULL;
}

const char *lite_text(sqlite3_context *ctx, sqlite3_value *value, const char *what) {
    char sentence[LITE_MESSAGE / 2];
    const int type = sqlite3_value_type(value);
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
    if (text && strlen(text) == (size_t)sqlite3_value_bytes(value)) return text;
    if (type == SQLITE_TEXT && !text) {
        sqlite3_result_error_nomem(ctx);
        return NULL;
    }
    snprintf(sentence, sizeof sentence, "%s is a text%s", what,
             text ? " without a byte 0" : ", and not another value");
    lite_refuse(ctx, sentence);
    return NULL;
}

/* ---- Results -------------------------------------------------------------------------------- */

void lite_result_image(sqlite3_context *ctx, const tamis *f) {
    const uint64_t size = tamis_image_size(f);
    const int limit = sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1);
    if (size > (uint64_t)limit) {
        refuse_size(ctx, size, limit);
        return;
    }
    void *image = sqlite3_malloc64(size);
    if (!image) {
        sqlite3_result_error_nomem(ctx);
    } else if (lite_check(ctx, tamis_serialize(f, image, (size_t)size))) {
        sqlite3_result_blob64(ctx, image, size, sqlite3_free);
    } else {
        sqlite3_free(image);
    }
}

void lite_result_filter(sqlite3_context *ctx, tamis *f) {
    lite_result_image(ctx, f);
    tamis_free(f);
}

void lite_result_count(sqlite3_context *ctx, uint64_t count) {
    sqlite3_result_int64(ctx, count < INT64_MAX ? (sqlite3_int64)count : INT64_MAX);
}
