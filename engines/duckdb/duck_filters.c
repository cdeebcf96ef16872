/* SPDX-License-Identifier: MIT */
/* Filters by name, and by image.
 *
 * DuckDB copies a constant BLOB for each chunk of 2048 rows, and to check and load it again each
 * time would take as long as it is large. So images that were opened stay, known by their length
 * and header, which has the checksum of the rest. All threads share them: engines/sql/sql_cache.h
 * is the same for one thread. */
#include "engines/duckdb/duck.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engines/sql/sql_cache.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Images --------------------------------------------------------------------------------- */

struct duck_image {
    tamis *filter;
    atomic_size_t holders;
    uint64_t used; /* when; 0: never */
    size_t size;
    uint8_t header[SQL_HEADER];
};

enum { IMAGES = 16 };
/* Beside the last one, so that large ones do not add up. */
static const uint64_t MAX_IMAGE_BYTES = UINT64_C(256) << 20;
static struct duck_image *images[IMAGES];
static uint64_t uses;

static void drop_image(struct duck_image *image) {
    if (!image || atomic_fetch_sub_explicit(&image->holders, 1, memory_order_acq_rel) > 1) return;
    tamis_free(image->filter);
    free(image);
}

static struct duck_image *hold_image(struct duck_image *image) {
    atomic_fetch_add_explicit(&image->holders, 1, memory_order_relaxed);
    image->used = ++uses;
    return image;
}

/* With the lock. */
static struct duck_image *find_image(const void *bytes, size_t size) {
    for (size_t i = 0; i < IMAGES; i++)
        if (images[i] && images[i]->size == size &&
            memcmp(images[i]->header, bytes, SQL_HEADER) == 0)
            return hold_image(images[i]);
    return NULL;
}

/* With the lock: an empty place, after older ones have made room for `size` bytes. */
static struct duck_image **place_for(size_t size) {
    for (;;) {
        struct duck_image **oldest = NULL, **empty = NULL;
        uint64_t bytes = size;
        for (size_t i = 0; i < IMAGES; i++) {
            if (!images[i]) {
                empty = &images[i];
                continue;
            }
            bytes += images[i]->size;
            if (!oldest || images[i]->used < (*oldest)->used) oldest = &images[i];
        }
        if (empty && (!oldest || bytes <= MAX_IMAGE_BYTES)) return empty;
        drop_image(*oldest);
        *oldest = NULL;
    }
}

static struct duck_image *load_image(const void *bytes, size_t size, sql_why *why) {
    struct duck_image *image = calloc(1, sizeof *image);
    if (!image) {
        duck_no_memory(why);
    } else if (!duck_check(tamis_load(&image->filter, bytes, size), why)) {
        free(image);
        image = NULL;
    } else {
        atomic_init(&image->holders, 1);
        image->size = size;
        memcpy(image->header, bytes, SQL_HEADER);
    }
    return image;
}

/* Images are loaded without the lock, since that may take long; of two threads that loaded the same
 * the first one's stays. */
static struct duck_image *image_of(const void *bytes, size_t size, sql_why *why) {
    struct duck_image *found = NULL, *loaded;
    if (size >= SQL_HEADER) {
        pthread_mutex_lock(&lock);
        found = find_image(bytes, size);
        pthread_mutex_unlock(&lock);
    }
    if (found || !(loaded = load_image(bytes, size, why))) return found;
    pthread_mutex_lock(&lock);
    found = find_image(bytes, size);
    if (found)
        drop_image(loaded);
    else
        *place_for(size) = found = hold_image(loaded);
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static sql_names *names;
static char *home; /* the directory as the system calls it; NULL: there is none */

bool duck_open_names(const char *directory) {
    bool is_open = true;
    pthread_mutex_lock(&lock);
    if (!names) {
        const bool has_home = directory && *directory;
        home = has_home ? realpath(directory, NULL) : NULL;
        is_open = (home || !has_home) && sql_names_create(&names, home, NULL) == TAMIS_OK;
    }
    pthread_mutex_unlock(&lock);
    return is_open;
}

bool duck_name_filter(const char *name, tamis *f, sql_why *why) {
    pthread_mutex_lock(&lock);
    const tamis_status rc = sql_names_put(names, name, f, why);
    pthread_mutex_unlock(&lock);
    return rc == TAMIS_OK;
}

static bool has_no_files(sql_why *why) {
    return duck_fail(why,
                     "there is no directory of filters: set TAMIS_DIRECTORY in the environment "
                     "before LOAD, or read the file by DuckDB, as in SELECT "
                     "tamis_open(content, 'name') FROM read_blob('file')");
}

bool duck_name_file(const char *file, const char *name, sql_why *why) {
    if (!home) return has_no_files(why);
    pthread_mutex_lock(&lock);
    const tamis_status rc = sql_names_open(names, file, name, why);
    pthread_mutex_unlock(&lock);
    return rc == TAMIS_OK;
}

bool duck_forget_name(const char *name) {
    pthread_mutex_lock(&lock);
    const bool was_there = sql_names_drop(names, name);
    pthread_mutex_unlock(&lock);
    return was_there;
}

static sql_opened *opened_of(const duck_string *s, sql_why *why) {
    char *name = duck_text(s, "the name of a filter", why);
    sql_opened *opened = NULL;
    if (!name) return NULL;
    pthread_mutex_lock(&lock);
    (void)sql_names_find(names, name, &opened, why);
    pthread_mutex_unlock(&lock);
    free(name);
    return opened;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *directory) {
    const size_t len = strlen(directory);
    return strcmp(directory, "/") == 0 || (strncmp(path, directory, len) == 0 && path[len] == '/');
}

char *duck_path_of(const char *file, sql_why *why) {
    char joined[PATH_MAX];
    if (!home) {
        has_no_files(why);
        return NULL;
    }
    if (strlen(home) + strlen(file) + 2 > sizeof joined) {
        duck_fail(why, "the path of a file is too long: at most %d bytes", PATH_MAX - 1);
        return NULL;
    }
    *joined = '\0';
    if (*file != '/') strcat(strcpy(joined, home), "/");
    char *path = realpath(strcat(joined, file), NULL);
    if (path && is_below(path, home)) return path;
    if (path)
        duck_fail(why,
                  "\"%.200s\" is outside the directory of filters, which is TAMIS_DIRECTORY of "
                  "the environment",
                  file);
    else
        duck_fail(why, "cannot open \"%.200s\" in the directory of filters", file);
    free(path);
    return NULL;
}

/* ---- Held filters --------------------------------------------------------------------------- */

bool duck_hold(duck_held *held, const duck_string *s, bool is_name, sql_why *why) {
    *held = (duck_held){.filter = NULL};
    if (is_name) {
        held->named = opened_of(s, why);
        if (held->named) held->filter = sql_opened_filter(held->named);
    } else {
        held->image = image_of(duck_bytes(s), s->len, why);
        if (held->image) held->filter = held->image->filter;
    }
    return held->filter;
}

void duck_drop(duck_held *held) {
    sql_opened_drop(held->named);
    drop_image(held->image);
    *held = (duck_held){.filter = NULL};
}

/* ---- Runs ----------------------------------------------------------------------------------- */

bool duck_open_runs(duck_runs *runs, duck_chunk chunk, sql_why *why) {
    *runs = (duck_runs){.column = duck_open_argument(chunk, 0),
                        .count = duck.data_chunk_get_size(chunk)};
    const int type = runs->column.type;
    if (type == DUCK_VARCHAR || type == DUCK_BLOB || type == DUCK_NULL) return true;
    duck_close_column(&runs->column);
    return duck_fail(why, "the first argument is the name of a filter, which is a VARCHAR, or an "
                          "image, which is a BLOB");
}

/* Rows of a constant are the same bytes in one place; others are compared as the cache does. */
static bool is_same(const duck_string *a, const duck_string *b, bool is_name) {
    if (memcmp(a, b, sizeof *a) == 0) return true;
    if (a->len != b->len) return false;
    const size_t known = is_name || a->len < SQL_HEADER ? a->len : SQL_HEADER;
    return memcmp(duck_bytes(a), duck_bytes(b), known) == 0;
}

bool duck_next_run(duck_runs *runs, sql_why *why) {
    const duck_column *c = &runs->column;
    const duck_string *values = duck_strings(c);
    uint64_t row = runs->from = runs->to;
    duck_drop(&runs->held);
    if (row == runs->count) return false;
    const bool are_null = duck_is_null(c, row), are_names = c->type == DUCK_VARCHAR;
    while (++row < runs->count && duck_is_null(c, row) == are_null &&
           (are_null || is_same(&values[runs->from], &values[row], are_names))) {
    }
    runs->to = row;
    return are_null || duck_hold(&runs->held, &values[runs->from], are_names, why);
}

void duck_close_runs(duck_runs *runs) {
    duck_drop(&runs->held);
    duck_close_column(&runs->column);
}
