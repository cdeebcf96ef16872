/* SPDX-License-Identifier: MIT */
/* files.c: files as bytes.
 *
 * What is written takes its name when it is whole and on disk, so that whatever happens, the name
 * leads to the old file or to the new one; and what is there is locked until then. The library does
 * both (tamis_edit_open); here is what the command says about it.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool list_grow(void *list, size_t *room, size_t n, size_t size) {
    enum { FIRST_BYTES = 1024 };
    void *memory;
    const size_t first = FIRST_BYTES / size + 1, twice = *room ? 2 * *room : first;
    const size_t wanted = n > twice ? n : twice;
    if (n <= *room) return true;
    memcpy(&memory, list, sizeof memory);
    memory = wanted <= SIZE_MAX / 4 / size ? realloc(memory, wanted * size) : NULL;
    if (!memory) return false;
    memcpy(list, &memory, sizeof memory);
    *room = wanted;
    return true;
}

bool open_pipe(int ends[2]) {
    if (pipe(ends) < 0) return false;
    for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return true;
}

/* ---- In ---- */

ssize_t read_full(int fd, void *bytes, size_t room) {
    size_t len = 0;
    while (len < room) {
        const ssize_t got = read(fd, (char *)bytes + len, room - len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

ssize_t file_start(const struct args *args, const char *path, void *bytes, size_t room) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t len = fd < 0 ? -1 : read_full(fd, bytes, room);
    if (len < 0) fail(args, path, "cannot %s: %s", fd < 0 ? "open" : "read", strerror(errno));
    if (fd >= 0) close(fd);
    return len;
}

/* The first bytes of a file. Returns how many, at most `size`; 0 when there are none. */
static size_t first_bytes(const char *path, uint8_t *start, size_t size) {
    struct stat status;
    /* Of a pipe nothing may be taken, and to open one already tells its writer to begin. */
    if (is_dash(path) || stat(path, &status) < 0 || !S_ISREG(status.st_mode)) return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t n = pread(fd, start, size, 0);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

bool file_starts_with(const char *path, const uint8_t magic[8]) {
    uint8_t start[8];
    return first_bytes(path, start, sizeof start) == sizeof start &&
           memcmp(start, magic, sizeof start) == 0;
}

bool file_starts_as_text(const char *path) {
    uint8_t start[512];
    const size_t n = first_bytes(path, start, sizeof start);
    for (size_t i = 0; i < n; i++)
        if (start[i] < ' ' && start[i] != '\t' && start[i] != '\n' && start[i] != '\r')
            return false;
    return n > 0;
}

int stream_read(const struct args *args, int fd, const char *name, uint8_t **bytes, size_t *len) {
    size_t size = 64 * 1024;
    *len = 0;
    *bytes = malloc(size);
    while (*bytes) {
        if (!waits_to_read(fd)) return EXIT_TROUBLE; /* the signal says it all */
        const ssize_t got = read(fd, *bytes + *len, size - *len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(args, name, "cannot read: %s", strerror(errno));
        if (got == 0) return 0;
        *len += (size_t)got;
        if (*len < size) continue;
        if (!list_grow(bytes, &size, size + 1, 1)) break;
    }
    return fail_memory(args);
}

bool file_is_as_it_was(int fd, const struct stat *then) {
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == then->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == then->st_ctim.tv_nsec;
}

/* A file has a size, and exactly that much must be read: what changes while it is
 * read would be a mixture of two files. Nothing is believed before all of it is here, and nothing
 * is read again. */
static int read_file(struct bytes *bytes, const struct args *args, int fd,
                     const struct stat *then) {
    const off_t size = then->st_size;
    bytes->at = (uint64_t)size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    if (!bytes->at)
        return fail(args, bytes->path, "no memory for its %s", human_bytes((uint64_t)size).text);
    const ssize_t got = read_full(fd, bytes->at, (size_t)size + 1);
    if (got < 0) return fail(args, bytes->path, "cannot read: %s", strerror(errno));
    bytes->size = (size_t)got;
    const bool is_same = got == size && file_is_as_it_was(fd, then);
    return is_same ? 0 : fail(args, bytes->path, "the file changed while it was read");
}

int bytes_open(struct bytes *bytes, const struct args *args, const char *path) {
    *bytes = (struct bytes){.path = input_name(path)};
    if (is_dash(path))
        return stream_read(args, STDIN_FILENO, bytes->path, &bytes->at, &bytes->size);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(args, path, "cannot open: %s", strerror(errno));
    struct stat status;
    int code;
    if (fstat(fd, &status) < 0)
        code = fail(args, path, "cannot open: %s", strerror(errno));
    else if (S_ISREG(status.st_mode))
        code = read_file(bytes, args, fd, &status);
    else
        code = stream_read(args, fd, path, &bytes->at, &bytes->size);
    close(fd);
    return code;
}

void bytes_close(struct bytes *bytes) {
    free(bytes->at);
    *bytes = (struct bytes){0};
}

/* ---- Out ---- */

/* Long work should not fail at its end because a directory never existed. */
static int dir_may_write(const struct args *args, const char *path) {
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!dir) return fail_memory(args);
    const int code = access(dir, W_OK | X_OK) == 0
                         ? 0
                         : fail(args, path, "cannot create a file next to it: %s", strerror(errno));
    free(dir);
    return code;
}

static int fail_exists(const struct args *args, const char *path) {
    return fail(args, path, "the file exists; use --force to replace it");
}

static bool is_same_file(const struct stat *file, const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == file->st_dev &&
           status.st_ino == file->st_ino;
}

/* An input that the new file would replace, or NULL. An image that becomes the next version of
 * itself is meant; a list that becomes an image is a slip, and the list would be gone. */
static const char *own_input(const struct args *args, const char *path, const struct stat *file,
                             bool is_image) {
    const struct operand *operand = args->verb->operands;
    for (size_t i = 0; i < args->operand_count; i++) {
        const bool is_next = (is_image && strcmp(operand->name, "IMAGE") == 0) ||
                             args->operand[i] == path; /* the word that names the output */
        const bool is_input = operand->stream != WRITES_STDOUT && operand->stream != NO_STREAM;
        if ((is_input || is_list(operand)) && !is_next && is_same_file(file, args->operand[i]))
            return args->operand[i];
        if (operand[1].name) operand++;
    }
    for (size_t i = 0; i < args->repeated_count; i++) {
        const struct repeated *repeated = &args->repeated[i];
        const char *name = repeated->second ? repeated->second : repeated->text;
        if (strstr(option_named(repeated->option)->value, "FILE") && is_same_file(file, name))
            return name;
    }
    for (int id = OPT_NONE + 1; id < OPTIONS; id++) {
        const struct option *option = option_named((enum option_id)id);
        const char *name = args->setting[id].text;
        if (name && !option->repeats && strstr(option->value, "FILE") && is_same_file(file, name))
            return name;
    }
    return NULL;
}

/* The file is there, and --force is given. */
static int may_replace(const struct args *args, const char *path, bool is_image) {
    struct stat file;
    if (stat(path, &file) < 0) return 0;
    const char *input = own_input(args, path, &file, is_image);
    if (!input && is_same_file(&file, "/dev/stdin")) input = input_name("-");
    if (!input) return 0;
    if (strcmp(input, path) == 0)
        return fail(args, path, "is also an input and would be lost; name another output");
    return fail(args, path,
                "is the same file as the input %s, which would be lost; name another "
                "output",
                input);
}

int file_may_write(const struct args *args, const char *path, const char *binary) {
    const bool is_forced = given(args, OPT_FORCE);
    if (is_dash(path)) {
        if (is_forced || !binary || !isatty(STDOUT_FILENO)) return 0;
        return fail(args, NULL, "not writing %s to a terminal; name a file, or use --force",
                    binary);
    }
    struct stat status;
    if (lstat(path, &status) < 0) return dir_may_write(args, path);
    if (S_ISDIR(status.st_mode)) return fail(args, path, "cannot write: %s", strerror(EISDIR));
    /* A new file takes the name of what was there. For a device that would be a disaster. */
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
        return fail(args, path, "not a regular file; use - for standard output");
    if (!is_forced) return fail_exists(args, path);
    if (may_replace(args, path, binary && strcmp(binary, "an image") == 0)) return EXIT_TROUBLE;
    return S_ISLNK(status.st_mode) ? 0 : dir_may_write(args, path);
}

/* ---- Folders ---- */

/* The name of a new file or directory lasts only once its parent directory is on disk. */
static int flush_dir(const struct args *args, const char *dir) {
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_flushed = fd >= 0 && fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0) close(fd);
    return is_flushed ? 0 : fail(args, dir, "cannot flush the directory: %s", strerror(why));
}

int dir_make(const struct args *args, const char *path) {
    if (mkdir(path, 0777) == 0) return dir_flush(args, path);
    if (errno == EEXIST) return 0;
    return fail(args, path, "cannot create the directory: %s", strerror(errno));
}

int dir_flush(const struct args *args, const char *path) {
    char above[PATH_MAX];
    const int len = snprintf(above, sizeof above, "%s/..", path);
    if (len >= (int)sizeof above) return fail(args, path, "the name is too long");
    const int code = flush_dir(args, path);
    return code ? code : flush_dir(args, above);
}

/* ---- Holding ---- */

enum { USUAL_WAIT = 60 }; /* seconds */

/* Somebody who waits wants to know for whom, unless it takes just a moment. */
static tamis_status hold(tamis_edit **edit, const struct args *args, const char *path,
                         struct tamis_edit_options *options) {
    enum { MOMENT = 1000 };
    const uint64_t seconds =
        given(args, OPT_WAIT) ? args->setting[OPT_WAIT].number : (uint64_t)USUAL_WAIT;
    const uint64_t whole = seconds < UINT64_MAX / 1000 ? seconds * 1000 : UINT64_MAX;
    options->wait_ms = whole < MOMENT ? whole : MOMENT;
    const tamis_status status = tamis_edit_open(edit, path, options);
    if (status != TAMIS_BUSY || whole <= MOMENT) return status;
    warn(args, path, "%s; waiting up to %s s more", why_without_file(path),
         human_count(seconds - 1).text);
    options->wait_ms = whole - MOMENT;
    return tamis_edit_open(edit, path, options);
}

int file_hold(tamis_edit **edit, const struct args *args, const char *path, enum hold_for what,
              enum tamis_readers readers) {
    const struct tamis_options filter = image_options(args);
    struct tamis_edit_options options = {.struct_size = sizeof options,
                                         .filter = &filter,
                                         .may_be_new = what != HOLD_TO_CHANGE,
                                         .readers = readers};
    *edit = NULL;
    const tamis_status status = hold(edit, args, path, &options);
    if (status == TAMIS_BUSY && given(args, OPT_WAIT)) return fail_why(args, path, status);
    if (status == TAMIS_BUSY)
        return fail(args, path, "%s; use --wait SECONDS to wait longer", why_without_file(path));
    if (status) return fail_why(args, path, status);
    if (what == HOLD_TO_WRITE && !tamis_edit_is_new(*edit) && !given(args, OPT_FORCE)) {
        tamis_edit_close(*edit);
        *edit = NULL;
        return fail_exists(args, path); /* it was not there a moment ago */
    }
    if (!tamis_edit_is_new(*edit) && !tamis_edit_is_locked(*edit) && what != HOLD_TO_WRITE)
        warn(args, path,
             "this file system has no locks: two processes that change the file at once may "
             "conflict");
    return 0;
}

/* ---- Writing ---- */

static int fail_file(struct new_file *file, tamis_status status) {
    return file->code = fail_why(file->args, file->path, status);
}

int file_begin(struct new_file *file, const struct args *args, const char *path,
               enum tamis_readers readers) {
    *file = (struct new_file){.args = args, .path = path};
    if (is_dash(path)) return 0;
    file->code = file_hold(&file->edit, args, path, HOLD_TO_WRITE, readers);
    if (file->code) return file->code;
    catch_signals();
    const tamis_status status = tamis_edit_put(file->edit, NULL, 0);
    if (status) fail_file(file, status);
    return file->code ? file_end(file, false) : 0;
}

bool file_put(struct new_file *file, const void *bytes, size_t size) {
    if (file->code) return false;
    if (is_dash(file->path)) {
        if (fwrite(bytes, 1, size, stdout) < size)
            file->code = EXIT_TROUBLE; /* finish_output says why */
        return !file->code;
    }
    const uint8_t *at = bytes;
    const size_t max = (size_t)1 << 26; /* a signal is seen between two of them */
    for (size_t put; size && !file->code && !is_stopped(); at += put, size -= put) {
        put = size < max ? size : max;
        const tamis_status status = tamis_edit_put(file->edit, at, put);
        if (status) fail_file(file, status);
    }
    if (is_stopped()) file->code = EXIT_TROUBLE;
    return !file->code;
}

int file_end(struct new_file *file, bool is_good) {
    if (!is_good && !file->code) file->code = EXIT_TROUBLE;
    if (is_dash(file->path)) {
        if (!file->code && !flush_output()) file->code = EXIT_TROUBLE;
        return file->code;
    }
    if (!file->code && is_stopped()) file->code = EXIT_TROUBLE;
    const tamis_status status = file->code ? TAMIS_OK : tamis_edit_commit(file->edit);
    if (status) fail_file(file, status);
    tamis_edit_close(file->edit);
    uncatch_signals();
    return file->code;
}

int file_write(const struct args *args, const char *path, const void *bytes, size_t len) {
    struct new_file file;
    const int code = file_begin(&file, args, path, TAMIS_READERS_USUAL);
    return code ? code : file_end(&file, file_put(&file, bytes, len));
}

int file_write_held(const struct args *args, const char *path, tamis_edit *edit, const void *bytes,
                    size_t len) {
    sigset_t before;
    hold_signals(&before);
    tamis_status status = tamis_edit_put(edit, bytes, len);
    if (!status) status = tamis_edit_commit(edit);
    release_signals(&before);
    return check_status(args, path, status);
}
