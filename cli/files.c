/* files.c: files as bytes.
 *
 * What is written takes its name when it is whole and on disk, so that whatever happens, the name
 * leads to the old file or to the new one. The library does the same for images.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- In ---- */

int stream_read(const struct args *args, int fd, const char *name, uint8_t **bytes, size_t *len) {
    size_t size = 64 * 1024;
    *len = 0;
    *bytes = malloc(size);
    while (*bytes) {
        const ssize_t got = read(fd, *bytes + *len, size - *len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(args, name, "cannot read: %s", strerror(errno));
        if (got == 0) return 0;
        *len += (size_t)got;
        if (*len < size) continue;
        uint8_t *larger = size <= SIZE_MAX / 2 ? realloc(*bytes, size * 2) : NULL;
        if (!larger) break;
        *bytes = larger;
        size *= 2;
    }
    return fail_memory(args);
}

bool file_is_as_it_was(int fd, const struct stat *then) {
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_size == then->st_size &&
           now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == then->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == then->st_ctim.tv_nsec;
}

/* A file tells how much to expect, and there must be so much and no more: what changes while it is
 * read would be a mixture of two files. Nothing is believed before all of it is here, and nothing is
 * read again. */
static int read_file(struct bytes *bytes, const struct args *args, int fd,
                     const struct stat *then) {
    const off_t size = then->st_size;
    bytes->at = (uint64_t)size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    if (!bytes->at)
        return fail(args, bytes->path, "no memory for its %s", human_bytes((uint64_t)size).text);
    while (bytes->size <= (size_t)size) {
        const size_t most = (size_t)1 << 30, left = (size_t)size + 1 - bytes->size;
        const ssize_t got = read(fd, bytes->at + bytes->size, left < most ? left : most);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(args, bytes->path, "cannot read: %s", strerror(errno));
        if (got == 0) break;
        bytes->size += (size_t)got;
    }
    const bool is_same = bytes->size == (size_t)size && file_is_as_it_was(fd, then);
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

/* What takes long should not fail at its end for a folder that was never there. */
static int folder_may_write(const struct args *args, const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder) return fail_memory(args);
    const int code = access(folder, W_OK | X_OK) == 0
                         ? 0
                         : fail(args, path, "cannot create a file beside it: %s", strerror(errno));
    free(folder);
    return code;
}

int file_may_write(const struct args *args, const char *path, const char *binary) {
    const bool is_forced = given(args, OPT_FORCE);
    if (is_dash(path)) {
        if (is_forced || !binary || !isatty(STDOUT_FILENO)) return 0;
        return fail(args, NULL, "%s is no text for a terminal; name a file, or use --force",
                    binary);
    }
    struct stat status;
    if (lstat(path, &status) < 0) return folder_may_write(args, path);
    if (S_ISDIR(status.st_mode)) return fail(args, path, "cannot write: %s", strerror(EISDIR));
    /* A new file takes the name of what was there. For a device that would be a disaster. */
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
        return fail(args, path, "not a regular file; use - for standard output");
    if (is_forced) return S_ISLNK(status.st_mode) ? 0 : folder_may_write(args, path);
    return fail(args, path, "the file exists; use --force to replace it");
}

static int fail_write(const struct new_file *file, const char *what) {
    return fail(file->args, file->path, "%s: %s", what, strerror(errno));
}

/* Through a symbolic link the file it leads to is replaced, not the link. */
static int find_target(struct new_file *file) {
    char *real = realpath(file->path, NULL);
    const int len = snprintf(file->target, sizeof file->target, "%s", real ? real : file->path);
    free(real);
    if ((size_t)len < sizeof file->target) return 0;
    errno = ENAMETOOLONG;
    return fail_write(file, "cannot write");
}

/* A name that nobody has. */
static int create_temp(struct new_file *file, mode_t mode) {
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES && file->fd < 0; i++) {
        const int len = snprintf(file->temp, sizeof file->temp, "%s.%ld-%d.new", file->target,
                                 (long)getpid(), i);
        errno = ENAMETOOLONG;
        if ((size_t)len < sizeof file->temp)
            file->fd = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (file->fd < 0 && errno != EEXIST) break;
    }
    return file->fd < 0 ? fail_write(file, "cannot create a file beside it") : 0;
}

int file_begin(struct new_file *file, const struct args *args, const char *path, mode_t mode) {
    *file = (struct new_file){.args = args, .path = path, .fd = -1};
    if (is_dash(path)) return 0;
    struct stat status;
    file->code = find_target(file);
    const bool is_there = !file->code && stat(file->target, &status) == 0;
    if (file->code) return file->code;
    catch_signals();
    file->code = create_temp(file, mode);
    if (!file->code && is_there && mode == MODE_USUAL &&
        fchmod(file->fd, status.st_mode & 0777) < 0)
        file->code = fail_write(file, "cannot set its mode");
    return file->code ? file_end(file, false) : 0;
}

static bool put_stdout(struct new_file *file, const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, stdout) < size)
        file->code = EXIT_TROUBLE; /* finish_output says why */
    return !file->code;
}

bool file_put(struct new_file *file, const void *bytes, size_t size) {
    if (file->code) return false;
    if (is_dash(file->path)) return put_stdout(file, bytes, size);
    const uint8_t *at = bytes;
    const size_t most = (size_t)1 << 26; /* a signal is seen between two of them */
    while (size && !is_stopped()) {
        const ssize_t put = write(file->fd, at, size < most ? size : most);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC;
        if (put <= 0) {
            file->code = fail_write(file, "cannot write");
            return false;
        }
        at += put;
        size -= (size_t)put;
    }
    if (is_stopped()) file->code = EXIT_TROUBLE;
    return !file->code;
}

/* The rename itself lasts only once its folder is on disk. */
static int sync_folder(const char *target) {
    char folder[PATH_MAX];
    const char *slash = strrchr(target, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target) + 1 : 1,
             slash ? target : ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    const int result = fsync(fd);
    close(fd);
    return result;
}

static int take_name(struct new_file *file) {
    if (fsync(file->fd) < 0) return fail_write(file, "cannot flush to disk");
    if (rename(file->temp, file->target) < 0) return fail_write(file, "cannot rename over it");
    file->temp[0] = '\0';
    if (sync_folder(file->target) < 0)
        return fail_write(file, "saved, but its folder cannot be flushed");
    return 0;
}

int file_end(struct new_file *file, bool is_good) {
    if (!is_good && !file->code) file->code = EXIT_TROUBLE;
    if (is_dash(file->path)) {
        if (!file->code && fflush(stdout) != 0) file->code = EXIT_TROUBLE;
        return file->code;
    }
    if (!file->code && is_stopped()) file->code = EXIT_TROUBLE;
    if (!file->code) file->code = take_name(file);
    if (file->fd >= 0) close(file->fd);
    if (file->fd >= 0 && file->temp[0]) unlink(file->temp);
    uncatch_signals();
    return file->code;
}

int file_write(const struct args *args, const char *path, const void *bytes, size_t len) {
    struct new_file file;
    const int code = file_begin(&file, args, path, MODE_USUAL);
    return code ? code : file_end(&file, file_put(&file, bytes, len));
}
