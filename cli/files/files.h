/* SPDX-License-Identifier: MIT */
/* files.h: only the files in cli/ include this. Files as bytes: read whole, written whole or not at
 * all; lists that grow, numbers, pipes, and the time. */
#ifndef TAMIS_CLI_FILES_FILES_H
#define TAMIS_CLI_FILES_FILES_H

#include <limits.h>
#include <string.h>
#include <sys/types.h>

#include "cli/output/words.h"
#include "tamis_edit.h"

static inline bool is_dash(const char *path) {
    return strcmp(path, "-") == 0;
}

/* Since some moment in the past, however the clock of the system is set: now.c. */
uint64_t now_ns(void);
int64_t now_ms(void);

/* Makes room for `n` items of `size` bytes in a list on the heap, at least twice what there was;
 * `list` is where its pointer is. False when memory is out; the list is then as it was. */
bool list_grow(void *list, size_t *room, size_t n, size_t size);

/* The `n` bytes of a number, the lowest first. */
static inline void put_number(uint8_t *at, size_t n, uint64_t number) {
    for (size_t i = 0; i < n; i++) at[i] = (uint8_t)(number >> 8 * i);
}
static inline uint64_t get_number(const uint8_t *at, size_t n) {
    uint64_t number = 0;
    while (n-- > 0) number = number << 8 | at[n];
    return number;
}

/* A pipe that is closed in programs that we start. False with errno, and nothing is changed. */
bool open_pipe(int ends[2]);

/* ==== In ==================================================================================== */

/* The bytes of a file in memory of our own: read once, and the same from then on. */
struct bytes {
    const char *path;
    uint8_t *at;
    size_t size;
};

/* `-` for standard input. bytes_close is due also after a failure. */
int bytes_open(struct bytes *bytes, const struct args *args, const char *path);
void bytes_close(struct bytes *bytes);

/* Whether it is the same file, with the size and the times that fstat told then. */
struct stat;
bool file_is_as_it_was(int fd, const struct stat *then);

/* What is gzip or zstd becomes what is inside, in memory: at most as much as --memory, or a quarter
 * of the machine's. In keys/unpack.c. */
int bytes_unpack(struct bytes *bytes, const struct args *args);

/* As many bytes as there are, up to `room`; fewer only at the end. -1 with errno. */
ssize_t read_full(int fd, void *bytes, size_t room);

/* The same with the start of a file; -1, reported. */
ssize_t file_start(const struct args *args, const char *path, void *bytes, size_t room);

/* Whether a regular file begins with these bytes; false of all else, without a word. */
bool file_starts_with(const char *path, const uint8_t magic[8]);

/* Whether a file, but no pipe, starts as text does. */
bool file_starts_as_text(const char *path);

/* Reads a stream whole. The buffer grows with what arrived, never with what a header claims; free
 * it also after a failure. */
int stream_read(const struct args *args, int fd, const char *name, uint8_t **bytes, size_t *len);

/* ==== Out =================================================================================== */

/* A file is read and changed, or made where there is none, or it is just written, over what is
 * there only with --force. */
enum hold_for { HOLD_TO_CHANGE, HOLD_TO_CHANGE_OR_MAKE, HOLD_TO_WRITE };

/* Nobody else changes the file until the edit is closed. Waits for others as --wait says. */
int file_hold(tamis_edit **edit, const struct args *args, const char *path, enum hold_for what,
              enum tamis_readers readers);

/* Says, before any work is done, whether a file may be written to `path`. `binary`, such as "an
 * image", is refused on a terminal; NULL: it is text. */
int file_may_write(const struct args *args, const char *path, const char *binary);

/* Creates a directory, unless it exists; a new one is then on disk. */
int dir_make(const struct args *args, const char *path);

/* What is in the directory now, and the directory itself, survive a power loss. */
int dir_flush(const struct args *args, const char *path);

/* Writes it, whole or not at all; `-` for standard output. */
int file_write(const struct args *args, const char *path, const void *bytes, size_t len);

/* The same for what is held already. */
int file_write_held(const struct args *args, const char *path, tamis_edit *edit, const void *bytes,
                    size_t len);

/* The same piece by piece: written beside `path`, it takes the name when it is whole. A signal that
 * arrives then asks for a stop, and the next put sees it. */
struct new_file {
    const struct args *args;
    const char *path;
    tamis_edit *edit;
    int code; /* of the first failure */
};

int file_begin(struct new_file *file, const struct args *args, const char *path,
               enum tamis_readers readers);
bool file_put(struct new_file *file, const void *bytes, size_t size);

/* The file takes its name when everything went well, otherwise it is gone. Returns the code. */
int file_end(struct new_file *file, bool is_good);

#endif
