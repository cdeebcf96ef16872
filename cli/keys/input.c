/* input.c: files and standard input as bytes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/keys/block.h"

struct input {
    int fd;
    bool is_file; /* reading it never waits for anybody */
    uint64_t position;
};

static bool is_stdin(const struct source *source) {
    return strcmp(source->name, "-") == 0;
}

struct input *input_open(const struct source *source, char *why, size_t size) {
    const int fd = is_stdin(source) ? STDIN_FILENO : open(source->name, O_RDONLY | O_CLOEXEC);
    struct input *input = fd >= 0 ? malloc(sizeof *input) : NULL;
    if (!input) {
        snprintf(why, size, "cannot open: %s", strerror(fd >= 0 ? ENOMEM : errno));
        if (fd > STDIN_FILENO) close(fd);
        return NULL;
    }
    struct stat status;
    *input = (struct input){.fd = fd};
    input->is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    return input;
}

void input_close(struct input *input) {
    if (!input) return;
    if (input->fd > STDIN_FILENO) close(input->fd);
    free(input);
}

ssize_t input_read(struct input *input, void *bytes, size_t room, char *why, size_t size) {
    ssize_t got;
    do got = read(input->fd, bytes, room);
    while (got < 0 && errno == EINTR);
    if (got > 0) input->position += (uint64_t)got;
    if (got < 0) snprintf(why, size, "cannot read: %s", strerror(errno));
    return got;
}

uint64_t input_position(const struct input *input) {
    return input ? input->position : 0;
}

bool input_size(const struct source *source, uint64_t *size) {
    struct stat status;
    const int found = is_stdin(source) ? fstat(STDIN_FILENO, &status) : stat(source->name, &status);
    if (found < 0 || !S_ISREG(status.st_mode) || source->start < 0) return false;
    *size = status.st_size > source->start ? (uint64_t)(status.st_size - source->start) : 0;
    return true;
}

bool input_waits(const struct input *input) {
    struct pollfd wanted = {.fd = input->fd, .events = POLLIN};
    return !input->is_file && poll(&wanted, 1, 0) == 0;
}

bool input_can_again(const struct source *source) {
    struct stat status;
    if (!is_stdin(source)) return stat(source->name, &status) == 0 && S_ISREG(status.st_mode);
    return source->start >= 0 && fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
           lseek(STDIN_FILENO, source->start, SEEK_SET) == source->start;
}
