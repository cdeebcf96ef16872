/* SPDX-License-Identifier: MIT */
/* Filters in files of other systems, and in Parquet files. Of a Parquet file only what leads to its
 * filters is read, and the filters that are asked. */
#include "engines/duckdb/duck_foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/duckdb/duck.h"
#include "tamis_formats.h"

/* ---- Files ---------------------------------------------------------------------------------- */

static bool read_at(void *ctx, uint64_t offset, void *bytes, size_t size) {
    const foreign_file *file = ctx;
    char *to = bytes;
    while (size) {
        const ssize_t got = pread(file->descriptor, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

static foreign_file *open_file(const char *name, sql_why *why) {
    struct stat status;
    foreign_file *file = calloc(1, sizeof *file);
    char *path = file ? duck_path_of(name, why) : NULL;
    if (!file) duck_no_memory(why);
    if (!path) {
        free(file);
        return NULL;
    }
    /* Without waiting, in case that it is a pipe. */
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(path);
    if (file->descriptor >= 0 && fstat(file->descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        file->bytes = (uint64_t)status.st_size;
        return file;
    }
    duck_fail(why,
              file->descriptor < 0 ? "cannot open \"%.200s\"" : "\"%.200s\" is no regular file",
              name);
    foreign_close(file);
    return NULL;
}

static void free_filter(foreign_filter *f) {
    free(f->name);
    free(f->format);
    free(f->kind);
    free(f->keys);
}

void foreign_close(foreign_file *file) {
    if (!file) return;
    if (file->descriptor >= 0) close(file->descriptor);
    for (uint64_t i = 0; i < file->count; i++) free_filter(&file->filter[i]);
    free(file->filter);
    free(file);
}

/* ---- Finding -------------------------------------------------------------------------------- */

typedef struct finding {
    foreign_file *file;
    const char *format; /* without parameters */
    bool has_no_memory;
} finding;

static char *copy_of(const char *text) {
    return text ? strdup(text) : NULL;
}

static char *format_of(const char *format, const char *choose) {
    const size_t size = strlen(format) + strlen(choose) + 2;
    char *made = malloc(size);
    if (made) snprintf(made, size, "%s%s%s", format, *choose ? ":" : "", choose);
    return made;
}

static bool take(void *ctx, const struct tamis_found *found) {
    finding *to = ctx;
    foreign_file *file = to->file;
    /* Room is doubled when the count is a power of two. */
    if ((file->count & (file->count - 1)) == 0) {
        const size_t room = file->count ? 2 * (size_t)file->count : 1;
        foreign_filter *more = realloc(file->filter, room * sizeof *more);
        to->has_no_memory = !more;
        if (!more) return false;
        file->filter = more;
    }
    foreign_filter *f = &file->filter[file->count++];
    *f = (foreign_filter){.name = copy_of(found->name),
                          .format = format_of(to->format, found->choose),
                          .kind = copy_of(found->kind),
                          .keys = copy_of(found->keys),
                          .offset = found->offset,
                          .size = found->size};
    to->has_no_memory = !f->name || !f->format || !f->kind || (found->keys && !f->keys);
    return !to->has_no_memory;
}

static bool find_all(foreign_file *file, const char *format, sql_why *why) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(format, ":"), format);
    finding to = {.file = file, .format = name};
    const tamis_status rc = tamis_format_scan_from(format, read_at, file, file->bytes, take, &to);
    if (to.has_no_memory) return duck_no_memory(why);
    return duck_check(rc, why);
}

/* Of images of our own there is one in a file. */
static const char own_format[] = "tamis";

static bool find_own(foreign_file *file, sql_why *why) {
    finding to = {.file = file, .format = own_format};
    const foreign_filter whole = {.format = NULL};
    tamis *f = foreign_filter_of(file, &whole, why);
    struct tamis_info info = TAMIS_INFO_INIT;
    if (!f) return false;
    tamis_get_info(f, &info);
    const struct tamis_found found = {.name = "image",
                                      .choose = "",
                                      .kind = info.kind,
                                      .keys = tamis_note(f, "encoding"),
                                      .size = file->bytes};
    const bool is_taken = take(&to, &found) || duck_no_memory(why);
    tamis_free(f);
    return is_taken;
}

static const char *usual_format(const char *file) {
    const char *ending = strrchr(file, '.');
    if (ending && strcmp(ending, ".parquet") == 0) return "parquet";
    return ending && strcmp(ending, ".tamis") == 0 ? own_format : NULL;
}

foreign_file *foreign_open(const char *name, const char *format, sql_why *why) {
    const char *wanted = format ? format : usual_format(name);
    if (!wanted) {
        duck_fail(why, "which format \"%.200s\" has must be said, as in format := 'guava'", name);
        return NULL;
    }
    foreign_file *file = open_file(name, why);
    if (!file) return NULL;
    if (strcmp(wanted, own_format) == 0 ? find_own(file, why) : find_all(file, wanted, why))
        return file;
    foreign_close(file);
    return NULL;
}

foreign_file *foreign_open_column(const char *name, const char *column, sql_why *why) {
    char *format = malloc(strlen(column) + sizeof "parquet:column=");
    if (!format) {
        duck_no_memory(why);
        return NULL;
    }
    strcat(strcpy(format, "parquet:column="), column);
    foreign_file *file = foreign_open(name, format, why);
    free(format);
    if (!file || file->count > 0) return file;
    duck_fail(why, "\"%.200s\" has no filters of a column \"%.64s\"", name, column);
    foreign_close(file);
    return NULL;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static tamis *own_filter_of(const foreign_file *file, sql_why *why) {
    tamis *f = NULL;
    void *bytes = file->bytes > UINT32_MAX ? NULL : malloc((size_t)file->bytes + 1);
    if (!bytes)
        duck_fail(why, "%s",
                  tamis_status_text(file->bytes > UINT32_MAX ? TAMIS_TOO_LARGE : TAMIS_NOMEM));
    else if (!read_at((void *)(uintptr_t)file, 0, bytes, (size_t)file->bytes))
        duck_fail(why, "%s", tamis_status_text(TAMIS_IO));
    else
        (void)duck_check(tamis_load(&f, bytes, (size_t)file->bytes), why);
    free(bytes);
    return f;
}

tamis *foreign_filter_of(const foreign_file *file, const foreign_filter *found, sql_why *why) {
    tamis *f;
    if (!found->format || strcmp(found->format, own_format) == 0) return own_filter_of(file, why);
    if (!duck_check(tamis_import_from(&f, found->format, read_at, (void *)(uintptr_t)file,
                                      file->bytes, &duck_making),
                    why))
        return NULL;
    if (!found->keys || duck_check(tamis_set_note(f, "encoding", found->keys), why)) return f;
    tamis_free(f);
    return NULL;
}

/* Bytes are asked by texts; numbers by numbers, or their digits. */
static bool check_type(const foreign_filter *found, int type, sql_why *why) {
    const bool is_number = (type >= DUCK_TINYINT && type <= DUCK_DOUBLE) || type == DUCK_HUGEINT ||
                           type == DUCK_UHUGEINT || type == DUCK_DECIMAL;
    if (!found->keys)
        return duck_fail(why, "the keys of %.100s have no known encoding", found->name);
    if (type == DUCK_VARCHAR || (is_number && strcmp(found->keys, "bytes") != 0)) return true;
    if (is_number)
        return duck_fail(why, "keys of %.100s are bytes, and a number is never one of them",
                         found->name);
    return duck_fail(why, "a key for a Parquet file is a number as it is stored there, or a text");
}

static bool has_key(const tamis *f, const char *encoding, const char *key, bool *has,
                    sql_why *why) {
    const size_t len = strlen(key), room = 2 * len + 16;
    void *bytes = malloc(room);
    const size_t size = bytes ? tamis_encode(encoding, key, len, bytes, room) : 0;
    const bool is_good = bytes && size != SIZE_MAX;
    if (!bytes)
        duck_no_memory(why);
    else if (!is_good)
        duck_fail(why, "%s", tamis_why());
    else
        *has = tamis_has(f, bytes, size);
    free(bytes);
    return is_good;
}

bool foreign_may_have(const foreign_file *file, const foreign_filter *found, const char *key,
                      int type, bool *may_have, sql_why *why) {
    if (!check_type(found, type, why)) return false;
    tamis *f = foreign_filter_of(file, found, why);
    bool is_good = f && has_key(f, found->keys, key, may_have, why);
    /* 0 and -0 are equal in SQL, and two keys there. */
    if (is_good && !*may_have && sql_is_real(found->keys) && strtod(key, NULL) == 0)
        is_good = has_key(f, found->keys, *key == '-' ? "0" : "-0", may_have, why);
    tamis_free(f);
    return is_good;
}
