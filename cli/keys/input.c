/* SPDX-License-Identifier: MIT */
/* input.c: files and standard input as bytes.
 *
 * What a file is shows in its first bytes. They are read with all others, straight to where they
 * are wanted: only when they turn out to be compressed are they moved to a buffer of their own. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/keys/block.h"

enum { RAW_BYTES = BLOCK_BYTES };

struct input {
    const struct source *source;
    int fd;
    bool is_file; /* reading it never waits for anybody */
    uint64_t position;
    bool (*await)(void *with, int fd); /* or NULL */
    void *await_with;
    bool is_known; /* what it is has been seen, or does not matter */
    bool has_nuls; /* they end its lines, and so say nothing about what it is */
    struct contents contents;

    /* Of compressed input. */
    struct unpacker unpacker;
    uint8_t *raw;
    size_t raw_at, raw_len; /* what of it was not unpacked yet */
    bool is_whole;          /* the data may end here */
    bool was_room_filled;   /* so there may be more without reading */
};

/* Who reads a file twice relies on it to say the same. */
static bool is_still_the_same(const struct input *input) {
    return !input->is_file || input->source->passes < 2 ||
           file_is_as_it_was(input->fd, &input->source->then);
}

static const char has_changed[] = "the file changed after the first read";

struct input *input_open(struct source *source, const struct keys *keys, char *why, size_t size) {
    const int fd = source->fd > 0          ? fcntl(source->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                   : is_dash(source->name) ? STDIN_FILENO
                                           : open(source->name, O_RDONLY | O_CLOEXEC);
    struct input *input = fd >= 0 ? malloc(sizeof *input) : NULL;
    if (!input) {
        if (fd >= 0 || errno != EINTR) /* stopped: that needs no words */
            snprintf(why, size, "cannot open: %s", strerror(fd >= 0 ? ENOMEM : errno));
        if (fd > STDIN_FILENO) close(fd);
        return NULL;
    }
    struct stat status;
    *input = (struct input){.source = source,
                            .fd = fd,
                            .is_known = !keys->decompresses,
                            .has_nuls = keys->cutting.line_end == '\0'};
    input->is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (input->is_file && source->passes++ == 0) source->then = status;
    if (is_still_the_same(input)) return input;
    snprintf(why, size, "%s", has_changed);
    input_close(input);
    return NULL;
}

void input_ask_before(struct input *input, bool (*await)(void *with, int fd), void *with) {
    input->await = await;
    input->await_with = with;
}

void input_close(struct input *input) {
    if (!input) return;
    unpacker_end(&input->unpacker);
    if (input->fd > STDIN_FILENO) close(input->fd);
    free(input->raw);
    free(input);
}

static ssize_t read_raw(struct input *input, void *bytes, size_t room, char *why, size_t size) {
    ssize_t got;
    if (input->await && !input->is_file && !input->await(input->await_with, input->fd)) return -1;
    do got = read(input->fd, bytes, room);
    while (got < 0 && errno == EINTR);
    if (got > 0) input->position += (uint64_t)got;
    if (got < 0) snprintf(why, size, "cannot read: %s", strerror(errno));
    if (got != 0 || is_still_the_same(input)) return got;
    snprintf(why, size, "%s", has_changed);
    return -1;
}

/* ---- What it is ---- */

/* Two short keys that end in NUL look like UTF-16 without its mark. */
static struct contents look_at(const struct input *input, const uint8_t *bytes, size_t len,
                               bool *is_open) {
    const struct contents contents = contents_of(bytes, len, is_open);
    const bool is_guess = contents.packing && contents.packing->is_text && bytes[0] < 0x80;
    return is_guess && input->has_nuls ? (struct contents){0} : contents;
}

/* What cannot be read as lines, in a sentence. */
static bool is_readable(const struct input *input, char *why, size_t size) {
    static const char as_it_is[] = "to read its bytes as they are, use --decompress never";
    const struct contents *contents = &input->contents;
    if (!contents->name || (contents->packing && contents->packing->start)) return true;
    if (contents->packing)
        snprintf(why, size, "this is %s, and this tamis was built without %s; %s", contents->name,
                 contents->packing->name, as_it_is);
    else
        snprintf(why, size, "this is %s, not a list of keys; %s", contents->name, as_it_is);
    return false;
}

/* Reads the first bytes and learns what they are. */
static ssize_t read_first(struct input *input, uint8_t *bytes, size_t room, char *why,
                          size_t size) {
    ssize_t len = 0, more;
    bool is_open = true;
    while (is_open && (size_t)len < room) {
        more = read_raw(input, bytes + len, room - (size_t)len, why, size);
        if (more < 0) return -1;
        if (more == 0) break;
        len += more;
        input->contents = look_at(input, bytes, (size_t)len, &is_open);
    }
    input->is_known = true;
    if (!is_readable(input, why, size)) return -1;
    len -= (ssize_t)input->contents.skip;
    if (input->contents.skip > 0) memmove(bytes, bytes + input->contents.skip, (size_t)len);
    return len;
}

/* ---- Compressed ---- */

static bool start_unpacking(struct input *input, const uint8_t *bytes, size_t len, char *why,
                            size_t size) {
    input->raw = len <= RAW_BYTES ? malloc(RAW_BYTES) : NULL;
    if (!input->raw || !unpacker_start(&input->unpacker, input->contents.packing)) {
        snprintf(why, size, "cannot read: %s", strerror(ENOMEM));
        return false;
    }
    memcpy(input->raw, bytes, len);
    input->raw_len = len;
    return true;
}

/* Unpacks what is there: how many bytes came of it, -1 with a sentence. */
static ssize_t unpack_some(struct input *input, void *bytes, size_t room, char *why, size_t size) {
    struct unpacking unpacking = {.from = input->raw + input->raw_at,
                                  .from_len = input->raw_len - input->raw_at,
                                  .to = bytes,
                                  .room = room};
    while (unpacking.room > 0 && (unpacking.from_len > 0 || input->was_room_filled)) {
        const struct unpacking before = unpacking;
        const enum unpacked unpacked = unpacker_step(&input->unpacker, &unpacking, why, size);
        if (unpacked == UNPACK_FAILED) return -1;
        const bool has_moved = unpacking.room < before.room || unpacking.from_len < before.from_len;
        if (has_moved) input->is_whole = unpacked == UNPACKED_WHOLE;
        input->was_room_filled = unpacking.room == 0;
        if (!has_moved) break;
    }
    input->raw_at = input->raw_len - unpacking.from_len;
    return (ssize_t)(room - unpacking.room);
}

static ssize_t read_unpacked(struct input *input, void *bytes, size_t room, char *why,
                             size_t size) {
    for (;;) {
        const ssize_t got = unpack_some(input, bytes, room, why, size);
        if (got != 0) return got;
        /* What is left over, if anything, is the start of something that needs more bytes. */
        const size_t left = input->raw_len - input->raw_at;
        memmove(input->raw, input->raw + input->raw_at, left);
        const ssize_t raw = read_raw(input, input->raw + left, RAW_BYTES - left, why, size);
        if (raw < 0) return -1;
        if (raw == 0 && input->is_whole && left == 0) return 0;
        if (raw == 0) {
            snprintf(why, size, "the %s data is truncated", input->contents.packing->name);
            return -1;
        }
        input->raw_at = 0;
        input->raw_len = left + (size_t)raw;
    }
}

ssize_t input_read(struct input *input, void *bytes, size_t room, char *why, size_t size) {
    if (!input->is_known) {
        const ssize_t got = read_first(input, bytes, room, why, size);
        const bool is_mark_alone = got == 0 && input->contents.skip > 0; /* more may come */
        if (is_mark_alone) return read_raw(input, bytes, room, why, size);
        if (got <= 0 || !input->contents.packing) return got;
        if (!start_unpacking(input, bytes, (size_t)got, why, size)) return -1;
    }
    return input->unpacker.state ? read_unpacked(input, bytes, room, why, size)
                                 : read_raw(input, bytes, room, why, size);
}

const char *keys_packings(void) {
    static const struct packing *const all[] = {&gzip_packing, &zstd_packing, &xz_packing,
                                                &bzip2_packing};
    static char list[64];
    size_t len = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->start)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", len > 0 ? ", " : "",
                                    all[i]->name);
    return len > 0 ? list : "plain";
}

/* ---- Waiting, and once more ---- */

bool input_is_packed(const struct input *input) {
    return input->unpacker.state != NULL;
}

uint64_t input_position(const struct input *input) {
    return input ? input->position : 0;
}

bool input_size(const struct source *source, uint64_t *size) {
    struct stat status;
    const int found =
        is_dash(source->name) ? fstat(STDIN_FILENO, &status) : stat(source->name, &status);
    if (found < 0 || !S_ISREG(status.st_mode) || source->start < 0) return false;
    *size = status.st_size > source->start ? (uint64_t)(status.st_size - source->start) : 0;
    return true;
}

bool input_waits(const struct input *input) {
    struct pollfd wanted = {.fd = input->fd, .events = POLLIN};
    if (input->was_room_filled || input->raw_at < input->raw_len) return false;
    return !input->is_file && poll(&wanted, 1, 0) == 0;
}

bool input_can_again(const struct source *source) {
    struct stat status;
    if (source->fd > 0) return lseek(source->fd, 0, SEEK_SET) == 0;
    if (!is_dash(source->name)) return stat(source->name, &status) == 0 && S_ISREG(status.st_mode);
    return source->start >= 0 && fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
           lseek(STDIN_FILENO, source->start, SEEK_SET) == source->start;
}
