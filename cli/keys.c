/* keys.c: files to keys.
 *
 * Bytes are read in large pieces and cut at line ends where they lie; a key is a pointer into the
 * buffer, nothing is copied. Whatever part of a line is left at the end of a piece moves to the
 * front, and the buffer doubles when a line is longer than it. A key may hold any byte.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_SIZE = 256 * 1024 };

int keys_open(struct keys *keys, const struct args *args, size_t skip) {
    keys->args = args;
    keys->line_end = given(args, OPT_NULL) ? '\0' : '\n';
    keys->has_crlf = given(args, OPT_CRLF);
    keys->file = NULL;
    keys->first_line = 0;
    keys->n = 0;
    keys->fd = -1;
    keys->next_source = 0;
    keys->size = FIRST_SIZE;

    const size_t named = args->operand_count > skip ? args->operand_count - skip : 0;
    keys->source_count = named ? named : 1;
    keys->source = calloc(keys->source_count, sizeof *keys->source);
    keys->buffer = malloc(keys->size);
    if (!keys->source || !keys->buffer) return fail_memory(args);

    for (size_t i = 0; i < keys->source_count; i++) {
        const char *name = named ? args->operand[skip + i] : "-";
        const bool is_stdin = strcmp(name, "-") == 0;
        keys->source[i] = (struct source){.name = name, .fd = is_stdin ? STDIN_FILENO : -1};
    }
    return 0;
}

static void close_current(struct keys *keys) {
    /* What was open before its turn came stays open: it may be read again. */
    if (keys->fd >= 0 && keys->source[keys->next_source - 1].fd < 0) close(keys->fd);
    keys->fd = -1;
}

void keys_close(struct keys *keys) {
    close_current(keys);
    for (size_t i = 0; keys->source && i < keys->source_count; i++)
        if (keys->source[i].fd > STDERR_FILENO) close(keys->source[i].fd);
    free(keys->source);
    free(keys->buffer);
}

static int open_next(struct keys *keys) {
    const struct source *source = &keys->source[keys->next_source++];
    keys->file = source->name;
    keys->first_line = 1;
    keys->at_end = false;
    keys->start = keys->scanned = keys->end = 0;
    keys->fd = source->fd >= 0 ? source->fd : open(source->name, O_RDONLY | O_CLOEXEC);
    return keys->fd >= 0 ? 0 : fail(keys->args, source->name, "cannot open: %s", strerror(errno));
}

static void take_key(struct keys *keys, size_t len) {
    const char *line = keys->buffer + keys->start;
    const bool drops_cr = keys->has_crlf && len > 0 && line[len - 1] == '\r';
    keys->key[keys->n] = (struct tamis_key){.bytes = line, .len = drops_cr ? len - 1 : len};
    keys->line_len[keys->n] = len;
    keys->n++;
}

/* Cuts what is in the buffer into keys, as many as a batch takes. */
static void cut(struct keys *keys) {
    while (keys->n < KEYS_PER_BATCH) {
        const char *from = keys->buffer + keys->scanned;
        const char *stop = memchr(from, keys->line_end, keys->end - keys->scanned);
        if (!stop) {
            keys->scanned = keys->end; /* A long line is not searched twice. */
            return;
        }
        const size_t at = (size_t)(stop - keys->buffer);
        take_key(keys, at - keys->start);
        keys->start = keys->scanned = at + 1;
    }
}

/* Makes room behind the unfinished line and reads into it. */
static int refill(struct keys *keys) {
    if (keys->start > 0) {
        memmove(keys->buffer, keys->buffer + keys->start, keys->end - keys->start);
        keys->end -= keys->start;
        keys->scanned -= keys->start;
        keys->start = 0;
    }
    if (keys->end == keys->size) {
        char *larger = keys->size <= SIZE_MAX / 2 ? realloc(keys->buffer, keys->size * 2) : NULL;
        if (!larger)
            return fail(keys->args, input_name(keys->file), "a line is too long for the memory");
        keys->buffer = larger;
        keys->size *= 2;
    }
    ssize_t got;
    do got = read(keys->fd, keys->buffer + keys->end, keys->size - keys->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail(keys->args, input_name(keys->file), "cannot read: %s", strerror(errno));
    keys->at_end = got == 0;
    keys->end += (size_t)got;
    return 0;
}

enum keys_state keys_next(struct keys *keys) {
    keys->first_line += keys->n;
    keys->n = 0;
    for (;;) {
        if (keys->fd < 0) {
            if (keys->next_source == keys->source_count) return KEYS_DONE;
            if (open_next(keys)) return KEYS_TROUBLE;
        }
        cut(keys);
        if (keys->n == 0 && keys->at_end && keys->start < keys->end) {
            take_key(keys, keys->end - keys->start); /* the last line, without its newline */
            keys->start = keys->end;
        }
        if (keys->n > 0) return KEYS_SOME;
        if (keys->at_end) {
            close_current(keys);
            return KEYS_FILE_DONE;
        }
        if (refill(keys)) {
            close_current(keys);
            return KEYS_TROUBLE;
        }
    }
}

int keys_each(struct keys *keys, keys_taker *take, void *with) {
    int code = 0;
    while (!code) {
        switch (keys_next(keys)) {
        case KEYS_SOME: code = take(keys, with); break;
        case KEYS_FILE_DONE: break;
        case KEYS_TROUBLE: return EXIT_TROUBLE;
        case KEYS_DONE: return 0;
        }
    }
    return code;
}

/* ---- Telling about lines ---- */

int fail_line(const struct keys *keys, size_t i, const char *format, ...) {
    char sentence[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    return fail(keys->args, input_name(keys->file), "line %" PRIu64 ": %s", keys->first_line + i,
                sentence);
}

void print_file(const struct keys *keys) {
    printf("%s:", strcmp(keys->file, "-") == 0 ? "(standard input)" : keys->file);
}

void print_place(const struct keys *keys, size_t i) {
    if (given(keys->args, OPT_WITH_FILENAME)) print_file(keys);
    if (given(keys->args, OPT_LINE_NUMBER)) printf("%" PRIu64 ":", keys->first_line + i);
}

void print_line(const struct keys *keys, size_t i) {
    fwrite(keys->key[i].bytes, 1, keys->line_len[i], stdout);
    putc(keys->line_end, stdout);
}

int print_batch_end(const struct keys *keys) {
    /* A short batch means that the next read may wait. Whoever reads our output live, as behind
     * "tail -f", should not wait with it. */
    if (keys->n < KEYS_PER_BATCH) fflush(stdout);
    return ferror(stdout) ? EXIT_TROUBLE : 0;
}

/* ---- Reading twice ---- */

static int rewind_keys(struct keys *keys) {
    for (size_t i = 0; i < keys->source_count; i++) {
        const struct source *source = &keys->source[i];
        if (source->fd >= 0 && lseek(source->fd, source->start, SEEK_SET) < 0)
            return fail(keys->args, input_name(source->name), "cannot read again: %s",
                        strerror(errno));
    }
    keys->next_source = 0;
    keys->n = 0;
    return 0;
}

/* A file without a name: it is gone when the process ends, however it ends. */
static int open_unnamed(const struct args *args) {
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    static const char name[] = "/tamis-XXXXXX";
    const size_t size = strlen(folder) + sizeof name;
    char *path = malloc(size);
    if (!path) {
        fail_memory(args);
        return -1;
    }
    snprintf(path, size, "%s%s", folder, name);
    sigset_t before;
    hold_signals(&before); /* so that the name is gone again, whatever happens */
    const int fd = mkstemp(path);
    const int cause = errno;
    if (fd >= 0) unlink(path);
    release_signals(&before);
    if (fd < 0) fail(args, folder, "cannot spool keys here: %s", strerror(cause));
    free(path);
    return fd;
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        const ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

/* Copies the rest of a source that cannot be read twice into an unnamed file. */
static int spool(struct keys *keys, struct source *source) {
    const char *name = input_name(source->name);
    const int from = source->fd >= 0 ? source->fd : open(source->name, O_RDONLY | O_CLOEXEC);
    if (from < 0) return fail(keys->args, name, "cannot open: %s", strerror(errno));
    const int to = open_unnamed(keys->args);
    int code = to < 0 ? EXIT_TROUBLE : 0;
    while (!code) {
        const ssize_t got = read(from, keys->buffer, keys->size);
        if (got == 0) break;
        if (got < 0 && errno != EINTR)
            code = fail(keys->args, name, "cannot read: %s", strerror(errno));
        else if (got > 0 && !write_all(to, keys->buffer, (size_t)got))
            code = fail(keys->args, name, "cannot spool keys: %s; --capacity makes it needless",
                        strerror(errno));
    }
    if (source->fd < 0) close(from);
    source->fd = to;
    return code;
}

/* Regular files are read twice; everything else is spooled. Files that cannot be looked at are
 * left to the reading, which says why. */
static int make_rewindable(struct keys *keys) {
    for (size_t i = 0; i < keys->source_count; i++) {
        struct source *source = &keys->source[i];
        struct stat status;
        const bool is_open = source->fd >= 0;
        if ((is_open ? fstat(source->fd, &status) : stat(source->name, &status)) < 0) continue;
        if (S_ISDIR(status.st_mode)) continue;
        const bool is_regular = S_ISREG(status.st_mode);
        if (is_regular && is_open) source->start = lseek(source->fd, 0, SEEK_CUR);
        if (!is_regular && spool(keys, source)) return EXIT_TROUBLE;
    }
    return rewind_keys(keys);
}

static int count_batch(const struct keys *keys, void *with) {
    *(uint64_t *)with += keys->n;
    return 0;
}

int keys_count(struct keys *keys, uint64_t *count) {
    *count = 0;
    if (make_rewindable(keys) || keys_each(keys, count_batch, count)) return EXIT_TROUBLE;
    return rewind_keys(keys);
}
