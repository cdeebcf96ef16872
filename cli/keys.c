/* keys.c: files to keys.
 *
 * Bytes are read in large pieces and cut at line ends where they lie; a key is a pointer into the
 * buffer, nothing is copied. Whatever part of a line is left at the end of a piece moves to the
 * front, and the buffer doubles when a line is longer than it. A key may hold any byte.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_SIZE = 256 * 1024 };
enum { WIDE_SIZE = 16 * 1024 * 1024, WIDE_BATCH = 1 << 18 }; /* lines of 64 bytes fill both */

/* Memory for other sizes than now; there is nothing in it yet. */
static int make_room(struct keys *keys, size_t size, size_t most) {
    free(keys->buffer), free(keys->key), free(keys->line_len);
    keys->size = size;
    keys->most = most;
    keys->buffer = malloc(size);
    keys->key = malloc(most * sizeof *keys->key);
    keys->line_len = malloc(most * sizeof *keys->line_len);
    return keys->buffer && keys->key && keys->line_len ? 0 : fail_memory(keys->args);
}

int keys_widen(struct keys *keys) {
    return make_room(keys, WIDE_SIZE, WIDE_BATCH);
}

static bool is_stdin(const struct source *source) {
    return strcmp(source->name, "-") == 0;
}

int keys_open_sources(struct keys *keys, const struct args *args, struct source *sources,
                      size_t n) {
    keys->args = args;
    keys->line_end = given(args, OPT_NULL) ? '\0' : '\n';
    keys->has_crlf = given(args, OPT_CRLF);
    keys->from = NULL;
    keys->file = NULL;
    keys->first_line = 0;
    keys->n = 0;
    keys->fd = -1;
    keys->next_source = 0;
    keys->source = sources;
    keys->source_count = n;
    keys->buffer = NULL;
    keys->key = NULL;
    keys->line_len = NULL;
    if (!keys->source) return fail_memory(args);
    if (make_room(keys, FIRST_SIZE, KEYS_PER_BATCH)) return EXIT_TROUBLE;
    for (size_t i = 0; i < n; i++)
        sources[i].start = is_stdin(&sources[i]) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    return 0;
}

int keys_open(struct keys *keys, const struct args *args, size_t skip) {
    const size_t named = args->operand_count > skip ? args->operand_count - skip : 0;
    const size_t n = named ? named : 1;
    struct source *sources = calloc(n, sizeof *sources);
    for (size_t i = 0; sources && i < n; i++)
        sources[i].name = named ? args->operand[skip + i] : "-";
    return keys_open_sources(keys, args, sources, n);
}

static void close_current(struct keys *keys) {
    if (keys->fd > STDIN_FILENO) close(keys->fd);
    keys->fd = -1;
}

void keys_close(struct keys *keys) {
    close_current(keys);
    for (size_t i = 0; keys->source && i < keys->source_count; i++) free(keys->source[i].label);
    free(keys->source);
    free(keys->buffer), free(keys->key), free(keys->line_len);
}

static int open_next(struct keys *keys) {
    const struct source *source = &keys->source[keys->next_source++];
    keys->from = source;
    keys->file = source->name;
    keys->first_line = 1;
    keys->at_end = false;
    keys->start = keys->scanned = keys->end = 0;
    keys->fd = is_stdin(source) ? STDIN_FILENO : open(source->name, O_RDONLY | O_CLOEXEC);
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
    while (keys->n < keys->most) {
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
    if (keys->n < keys->most) fflush(stdout);
    return ferror(stdout) ? EXIT_TROUBLE : 0;
}

/* ---- Reading again ---- */

static bool can_read_again(const struct source *source) {
    struct stat status;
    if (!is_stdin(source)) return stat(source->name, &status) == 0 && S_ISREG(status.st_mode);
    return source->start >= 0 && fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
           lseek(STDIN_FILENO, source->start, SEEK_SET) == source->start;
}

void keys_again(struct keys *keys) {
    size_t kept = 0;
    close_current(keys);
    for (size_t i = 0; i < keys->source_count; i++) {
        if (can_read_again(&keys->source[i]))
            keys->source[kept++] = keys->source[i];
        else
            free(keys->source[i].label);
    }
    keys->source_count = kept;
    keys->next_source = 0;
    keys->n = 0;
}
