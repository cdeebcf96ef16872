/* SPDX-License-Identifier: MIT */
/* A file system in memory that loses power. One connection at a time: there are no locks. */
#include "tests/sqlite/forgetful.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 32, SECTOR = 512 };

/* A write that is not on the disk yet; or a new size, where there are no bytes. */
typedef struct change {
    struct change *next;
    sqlite3_int64 at;
    size_t size;
    uint8_t *bytes;
} change;

typedef struct contents {
    uint8_t *bytes;
    size_t size, room;
} contents;

typedef struct disk_file {
    char name[256];
    bool exists, is_durable, is_temporary; /* durable: its name is on the disk */
    contents now, synced;
    change *first, **last;
} disk_file;

static disk_file disk[FILES];
static long left = -1;
static bool has_lost;

/* ---- Contents ------------------------------------------------------------------------------- */

static void resize(contents *c, size_t size) {
    if (size > c->room) {
        c->room = 2 * size;
        c->bytes = realloc(c->bytes, c->room);
        if (!c->bytes) abort();
    }
    if (size > c->size) memset(c->bytes + c->size, 0, size - c->size);
    c->size = size;
}

static void put(contents *c, size_t at, const void *bytes, size_t size) {
    if (at + size > c->size) resize(c, at + size);
    memcpy(c->bytes + at, bytes, size);
}

static void set(contents *to, const contents *from) {
    resize(to, from->size);
    if (from->size) memcpy(to->bytes, from->bytes, from->size);
}

static void forget_changes(disk_file *f) {
    for (change *c = f->first, *next; c; c = next) {
        next = c->next;
        free(c->bytes);
        free(c);
    }
    f->first = NULL;
    f->last = &f->first;
}

static void note(disk_file *f, sqlite3_int64 at, const void *bytes, size_t size) {
    change *c = calloc(1, sizeof *c);
    if (!c || (bytes && !(c->bytes = malloc(size)))) abort();
    c->at = at;
    c->size = size;
    if (bytes) memcpy(c->bytes, bytes, size);
    *f->last = c;
    f->last = &c->next;
}

/* ---- Power ---------------------------------------------------------------------------------- */

static bool is_dark(void) {
    if (has_lost) return true;
    if (left > 0) left--;
    return has_lost = left == 0;
}

void forgetful_lose_after(long operations) {
    left = operations;
    has_lost = false;
}

bool forgetful_has_lost(void) {
    return has_lost;
}

static uint64_t draw(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Sector by sector: the disk had each of them, or not. */
static void maybe_put(contents *c, const change *made, uint64_t *seed) {
    const uint64_t fate = draw(seed) % 4;
    if (!made->bytes) {
        if (fate < 2) resize(c, made->size);
        return;
    }
    for (size_t at = 0; fate > 0 && at < made->size; at += SECTOR) {
        const size_t len = made->size - at < SECTOR ? made->size - at : SECTOR;
        if (fate > 1 || draw(seed) % 2) put(c, (size_t)made->at + at, made->bytes + at, len);
    }
}

void forgetful_return(uint64_t seed) {
    for (int i = 0; i < FILES; i++) {
        disk_file *f = &disk[i];
        if (!*f->name) continue;
        for (const change *c = f->first; c; c = c->next) maybe_put(&f->synced, c, &seed);
        if (f->exists != f->is_durable) f->exists = draw(&seed) % 2;
        f->is_durable = f->exists;
        if (!f->exists) resize(&f->synced, 0);
        set(&f->now, &f->synced);
        forget_changes(f);
    }
    left = -1;
    has_lost = false;
}

void forgetful_clear(void) {
    for (int i = 0; i < FILES; i++) {
        forget_changes(&disk[i]);
        free(disk[i].now.bytes);
        free(disk[i].synced.bytes);
        disk[i] = (disk_file){.exists = false};
    }
    forgetful_lose_after(-1);
}

/* ---- Files ---------------------------------------------------------------------------------- */

typedef struct open_file {
    sqlite3_file base;
    disk_file *file;
} open_file;

static disk_file *file_of(sqlite3_file *file) {
    return ((open_file *)file)->file;
}

static int close_file(sqlite3_file *file) {
    disk_file *f = file_of(file);
    if (!f->is_temporary) return SQLITE_OK;
    forget_changes(f);
    f->exists = false;
    f->name[0] = '\0';
    return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at) {
    const contents *c = &file_of(file)->now;
    const size_t from = (size_t)at, wanted = (size_t)size;
    const size_t got = from >= c->size ? 0 : c->size - from < wanted ? c->size - from : wanted;
    if (has_lost) return SQLITE_IOERR_READ;
    if (got) memcpy(bytes, c->bytes + from, got);
    memset((uint8_t *)bytes + got, 0, wanted - got);
    return got == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at) {
    disk_file *f = file_of(file);
    if (has_lost) return SQLITE_IOERR_WRITE;
    note(f, at, bytes, (size_t)size); /* the one during which power is lost may be torn */
    if (is_dark()) return SQLITE_IOERR_WRITE;
    put(&f->now, (size_t)at, bytes, (size_t)size);
    return SQLITE_OK;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
    disk_file *f = file_of(file);
    if (has_lost) return SQLITE_IOERR_TRUNCATE;
    note(f, 0, NULL, (size_t)size);
    if (is_dark()) return SQLITE_IOERR_TRUNCATE;
    resize(&f->now, (size_t)size);
    return SQLITE_OK;
}

/* SQLite syncs the directory with a new journal or log, and so the names of all files. */
static bool is_beside(const char *name) {
    return strstr(name, "-journal") || strstr(name, "-wal");
}

static void sync_names(void) {
    for (int i = 0; i < FILES; i++) disk[i].is_durable = disk[i].exists;
}

static int sync_file(sqlite3_file *file, int flags) {
    disk_file *f = file_of(file);
    (void)flags;
    if (is_dark()) return SQLITE_IOERR_FSYNC;
    set(&f->synced, &f->now);
    forget_changes(f);
    if (!f->is_durable && is_beside(f->name)) sync_names();
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    *size = (sqlite3_int64)file_of(file)->now.size;
    return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}

static int is_locked(sqlite3_file *file, int *is) {
    (void)file;
    *is = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int op, void *arg) {
    (void)file, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file) {
    (void)file;
    return SECTOR;
}

static int traits(sqlite3_file *file) {
    (void)file;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = is_locked,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = traits,
};

/* ---- Names ---------------------------------------------------------------------------------- */

static disk_file *named(const char *name) {
    for (int i = 0; i < FILES; i++)
        if (strcmp(disk[i].name, name) == 0) return &disk[i];
    return NULL;
}

static disk_file *new_file(const char *name) {
    disk_file *f = named(name);
    if (!f) f = named("");
    if (!f) abort();
    if (!*f->name) f->is_durable = false;
    snprintf(f->name, sizeof f->name, "%s", name);
    if (!f->last) f->last = &f->first;
    return f;
}

static int open_path(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    static unsigned temporaries;
    char own[32];
    if (has_lost) return SQLITE_CANTOPEN;
    snprintf(own, sizeof own, "temporary %u", ++temporaries);
    disk_file *f = new_file(name ? name : own);
    f->is_temporary = !name;
    if (!f->exists && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    if (!f->exists) {
        forget_changes(f);
        resize(&f->now, 0);
        resize(&f->synced, 0);
    }
    f->exists = true;
    ((open_file *)file)->file = f;
    file->pMethods = &methods;
    if (out) *out = flags;
    return SQLITE_OK;
}

static int delete_path(sqlite3_vfs *vfs, const char *name, int is_synced) {
    disk_file *f = named(name);
    (void)vfs;
    if (!f || !f->exists) return SQLITE_IOERR_DELETE_NOENT;
    if (is_dark()) return SQLITE_IOERR_DELETE;
    f->exists = false;
    if (!is_synced) return SQLITE_OK;
    f->is_durable = false;
    forget_changes(f);
    resize(&f->synced, 0);
    return SQLITE_OK;
}

static int look_at(sqlite3_vfs *vfs, const char *name, int flags, int *is) {
    const disk_file *f = named(name);
    (void)vfs, (void)flags;
    *is = f && f->exists;
    return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *name, int room, char *path) {
    (void)vfs;
    snprintf(path, (size_t)room, "%s", name);
    return SQLITE_OK;
}

void forgetful_register(void) {
    static sqlite3_vfs vfs;
    vfs = *sqlite3_vfs_find(NULL); /* time, sleep and chance are the usual ones */
    vfs.iVersion = 1;
    vfs.zName = "forgetful";
    vfs.szOsFile = sizeof(open_file);
    vfs.mxPathname = 255;
    vfs.pNext = NULL;
    vfs.xOpen = open_path;
    vfs.xDelete = delete_path;
    vfs.xAccess = look_at;
    vfs.xFullPathname = full_path;
    sqlite3_vfs_register(&vfs, 1);
}
