/* SPDX-License-Identifier: MIT */
/* follow_files.c: lines of files that grow.
 *
 * Notices only wake. What happened shows by comparing what has the name with what is open: nothing
 * there, another file, a file that is shorter than what was read, or more bytes. So a notice that
 * is lost or comes twice does no harm. A file that is cut and grows beyond what was read before it
 * is looked at again cannot be told from one that grew. */
#include "cli/keys/follow_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/files/notices.h"
#include "cli/keys/block.h"
#include "cli/keys/scan.h"

/* A longer line is skipped: what is in memory of ours cannot be let go in pieces. */
enum { FIRST_ROOM = 64 * 1024, MAX_LINE = LONG_KEY };

struct followed {
    const struct source *source;
    int fd;           /* -1: it is not there yet */
    bool is_stream;   /* a pipe or a terminal: it has an end and cannot be replaced */
    bool is_known;    /* to be text */
    bool is_over;     /* nothing more comes */
    bool is_replaced; /* another file has its name: what is left of this one comes first */
    bool is_missed;   /* it was reported that it is not there */
    bool drops_line;  /* the rest of a line that is too long */
    off_t position;   /* bytes read */
    char *bytes;      /* read and not handed on, */
    size_t len, room;
    size_t given;   /* but for so many, which a block has now */
    uint64_t lines; /* handed on */
};

static const char *name_of(const struct followed *file) {
    return input_name(file->source->name);
}

/* ---- Opening ---- */

/* Where the line starts in which the file ends; its end is still to come. */
static off_t last_line_start(int fd, off_t size, char line_end) {
    char piece[4096];
    off_t at = size;
    while (at > 0 && size - at < MAX_LINE) {
        const off_t from = at > (off_t)sizeof piece ? at - (off_t)sizeof piece : 0;
        const ssize_t got = pread(fd, piece, (size_t)(at - from), from);
        if (got != at - from) return size;
        for (ssize_t i = got; i > 0; i--)
            if (piece[i - 1] == line_end) return from + i;
        at = from;
    }
    return at == 0 ? 0 : size;
}

/* What is already there is old; its lines count where they are numbered. */
static void skip_old(const struct follow *follow, struct followed *file, off_t size) {
    const char line_end = follow->keys->cutting.line_end;
    char piece[16 * 1024];
    ssize_t got = 0;
    file->position = last_line_start(file->fd, size, line_end);
    if (!follow->keys->numbers_lines && !given(follow->args, OPT_JSON)) return;
    for (off_t at = 0; at < file->position; at += got) {
        const off_t left = file->position - at;
        got = pread(file->fd, piece, left < (off_t)sizeof piece ? (size_t)left : sizeof piece, at);
        if (got <= 0) return;
        file->lines += count_lines(piece, (size_t)got, line_end);
    }
}

/* Nothing more is read of a file; the others go on. */
static void give_up(struct follow *follow, struct followed *file, const char *why) {
    fail(follow->args, name_of(file), "%s", why);
    follow->had_trouble = file->is_over = true;
}

/* Starts with what is open now: at its start, or where it ends. */
static void begin(struct follow *follow, struct followed *file, bool is_old) {
    struct stat status;
    file->position = 0;
    file->lines = 0;
    file->is_known = file->is_replaced = file->drops_line = false;
    if (fstat(file->fd, &status) < 0 || S_ISDIR(status.st_mode)) {
        give_up(follow, file, "is a directory, not a file of lines");
        return;
    }
    file->is_stream = !S_ISREG(status.st_mode) || is_dash(file->source->name);
    if (file->is_stream)
        file->is_known = true;
    else if (is_old)
        skip_old(follow, file, status.st_size);
}

/* Whether it is there now. */
static bool appears(struct follow *follow, struct followed *file) {
    const char *name = file->source->name;
    file->fd = is_dash(name) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                             : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0) {
        if (!file->is_missed)
            remark(follow->args, name_of(file), "%s; waiting for it",
                   errno == ENOENT ? "does not exist yet" : strerror(errno));
        file->is_missed = true;
        return false;
    }
    if (!is_dash(name)) notices_about(follow->notices, name);
    if (file->is_missed) remark(follow->args, name_of(file), "is there now");
    file->is_missed = false;
    return true;
}

/* ---- Reading ---- */

/* Whether its first bytes are text, as soon as they show it. */
static bool is_text(struct follow *follow, struct followed *file) {
    uint8_t start[16];
    bool is_open;
    if (file->is_known) return true;
    const ssize_t got = pread(file->fd, start, sizeof start, 0);
    if (got <= 0) return false;
    const struct contents contents = contents_of(start, (size_t)got, &is_open);
    if (is_open && !contents.name) return false;
    if (contents.name) {
        const struct human why =
            human_words("this is %s, and only plain text can be followed", contents.name);
        give_up(follow, file, why.text);
        return false;
    }
    if (file->position == 0) file->position = (off_t)contents.skip;
    return file->is_known = true;
}

static bool has_input(int fd) {
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return poll(&wanted, 1, 0) > 0;
}

/* More bytes, if there are any now: how many. */
static ssize_t read_some(struct follow *follow, struct followed *file) {
    ssize_t got;
    if (file->is_stream && !has_input(file->fd)) return 0;
    if (!is_text(follow, file)) return 0;
    do {
        void *to = file->bytes + file->len;
        const size_t room = file->room - file->len;
        got =
            file->is_stream ? read(file->fd, to, room) : pread(file->fd, to, room, file->position);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno != EAGAIN) give_up(follow, file, strerror(errno));
    if (got == 0 && file->is_stream) file->is_over = true;
    if (got <= 0) return 0;
    file->position += got;
    return got;
}

/* Room for more of a line. One that is too long goes, up to its end. */
static bool make_room(struct follow *follow, struct followed *file) {
    if (file->len < file->room) return true;
    if (file->room >= MAX_LINE) {
        if (!file->drops_line)
            warn(follow->args, name_of(file), "a line of more than %s is skipped",
                 human_bytes(MAX_LINE).text);
        file->drops_line = true;
        file->len = 0;
        return true;
    }
    const size_t room = file->room ? 2 * file->room : FIRST_ROOM;
    char *larger = realloc(file->bytes, room + SCAN_BYTES);
    if (!larger) {
        give_up(follow, file, strerror(ENOMEM));
        return false;
    }
    memset(larger + room, 0, SCAN_BYTES);
    file->bytes = larger;
    file->room = room;
    return true;
}

/* The rest of a line that is too long leaves the `got` bytes that came; true while it goes on. */
static bool drop_line(struct followed *file, char line_end) {
    if (!file->drops_line) return false;
    const char *end = memchr(file->bytes, line_end, file->len);
    const size_t dropped = end ? (size_t)(end - file->bytes) + 1 : file->len;
    memmove(file->bytes, file->bytes + dropped, file->len - dropped);
    file->len -= dropped;
    file->lines += end != NULL;
    file->drops_line = !end;
    return file->drops_line;
}

/* ---- Handing on ---- */

static bool give(struct follow *follow, struct followed *file, struct block *block, size_t len) {
    if (len == 0) return false;
    struct batch *batch = &block->batch;
    block->bytes = file->bytes;
    block->len = len;
    batch->keys = follow->keys;
    batch->from = file->source;
    batch->start = block->bytes;
    batch->first_line = file->lines + 1;
    file->lines += count_lines(file->bytes, len, follow->keys->cutting.line_end);
    file->given = len;
    return true;
}

static void take_back(struct followed *file) {
    if (file->given == 0) return; /* a file that has not been read yet has no bytes */
    memmove(file->bytes, file->bytes + file->given, file->len - file->given);
    file->len -= file->given;
    file->given = 0;
}

/* How many of the bytes are whole lines; all ends are among the newest of them. */
static size_t whole_lines(const struct followed *file, size_t newest, char line_end) {
    for (size_t i = file->len; i > file->len - newest; i--)
        if (file->bytes[i - 1] == line_end) return i;
    return 0;
}

/* ---- What became of it ---- */

enum turn { STAYS, IS_CUT, HAS_SUCCESSOR };

static enum turn turn_of(struct follow *follow, struct followed *file) {
    struct stat named, mine;
    if (fstat(file->fd, &mine) < 0) return STAYS;
    if (stat(file->source->name, &named) < 0) {
        if (!file->is_missed) remark(follow->args, name_of(file), "is gone; waiting for another");
        file->is_missed = true;
    } else if (named.st_dev != mine.st_dev || named.st_ino != mine.st_ino) {
        return HAS_SUCCESSOR;
    } else {
        file->is_missed = false;
    }
    return mine.st_size < file->position ? IS_CUT : STAYS;
}

/* Nothing is left of what was there. True: there is more to read, of this file or of its
 * successor. */
static bool start_again(struct follow *follow, struct followed *file, enum turn turn) {
    if (turn == HAS_SUCCESSOR) {
        close(file->fd);
        file->is_missed = false;
        if (!appears(follow, file)) return false;
    }
    remark(follow->args, name_of(file), "%s",
           turn == HAS_SUCCESSOR ? "was replaced; reading the new file"
                                 : "was truncated; reading from its start");
    begin(follow, file, false);
    return true;
}

/* The file has no more bytes for now: its last line may be whole without an end. */
static bool take_turn(struct follow *follow, struct followed *file, struct block *block,
                      bool *goes_on) {
    const enum turn turn = turn_of(follow, file);
    *goes_on = turn != STAYS;
    if (turn == STAYS) return false;
    if (turn == HAS_SUCCESSOR && !file->is_replaced) {
        file->is_replaced = true; /* What came meanwhile comes first. */
        return false;
    }
    if (give(follow, file, block, file->len)) return true;
    *goes_on = start_again(follow, file, turn);
    return false;
}

/* Whole lines of this file to the block; false when it has none now. */
static bool take_lines(struct follow *follow, struct followed *file, struct block *block) {
    const char line_end = follow->keys->cutting.line_end;
    take_back(file);
    if (file->is_over) return false;
    if (file->fd < 0) {
        if (!appears(follow, file)) return false;
        begin(follow, file, false);
    }
    bool goes_on = true;
    while (goes_on && !file->is_over && make_room(follow, file)) {
        const size_t got = (size_t)read_some(follow, file);
        file->len += got;
        if (got > 0 && !drop_line(file, line_end)) {
            const size_t newest = got < file->len ? got : file->len;
            if (give(follow, file, block, whole_lines(file, newest, line_end))) return true;
        }
        if (got == 0 && file->is_stream) break;
        if (got == 0 && take_turn(follow, file, block, &goes_on)) return true;
    }
    return file->is_over && give(follow, file, block, file->len);
}

/* ---- Waiting ---- */

enum { STOPS, NOTICES, READER, OTHERS };

/* What was printed is there for its readers, who may also go away before there is more. */
static bool wait_for_more(struct follow *follow) {
    struct pollfd *list = follow->poll;
    nfds_t n = OTHERS;
    if (!flush_output()) return false; /* finish_output says why */
    list[STOPS] = (struct pollfd){.fd = stop_fd(), .events = POLLIN};
    list[NOTICES] = (struct pollfd){.fd = follow->notices, .events = POLLIN};
    list[READER] = (struct pollfd){.fd = STDOUT_FILENO};
    for (size_t i = 0; i < follow->count; i++)
        if (follow->file[i].is_stream && !follow->file[i].is_over)
            list[n++] = (struct pollfd){.fd = follow->file[i].fd, .events = POLLIN};
    (void)poll(list, n, follow->poll_ms);
    notices_clear(follow->notices);
    return !is_stopped() && !(list[READER].revents & (POLLERR | POLLHUP | POLLNVAL));
}

static bool is_all_over(const struct follow *follow) {
    for (size_t i = 0; i < follow->count; i++)
        if (!follow->file[i].is_over) return false;
    return true;
}

static bool fill(void *with, struct block *block) {
    struct follow *follow = with;
    while (!is_stopped()) {
        if (follow->look) follow->look(follow->look_with);
        for (size_t i = 0; i < follow->count; i++) {
            struct followed *file = &follow->file[follow->next];
            follow->next = (follow->next + 1) % follow->count;
            if (take_lines(follow, file, block)) return true;
        }
        if (is_all_over(follow) || !wait_for_more(follow)) return false;
    }
    return false;
}

/* ---- The whole ---- */

int follow_open(struct follow *follow, struct keys *keys, bool from_start) {
    enum { USUAL_MS = 1000 };
    const struct args *args = keys->args;
    const char *text = args->setting[OPT_POLL].text;
    const uint64_t poll_ns = text ? parse_duration(text) : 0;
    const size_t n = keys->source_count;
    *follow = (struct follow){.args = args, .keys = keys, .notices = -1, .count = n};
    /* Where a record of CSV starts, and what the header of an older file named, is not known in the
     * middle of one. */
    if (keys->cutting.fields.has_header || keys->cutting.fields.shape == SHAPE_CSV)
        return fail(args, keys->cutting.fields.shape == SHAPE_CSV ? "--csv" : "--field",
                    "files with a header or quoted line breaks cannot be followed; for CSV "
                    "without quotes, use -d , and the number of the field");
    if (text && (poll_ns == 0 || poll_ns > UINT64_C(86400) * 1000000000))
        return fail(args, "--poll", "\"%s\" is not a duration from 1ms to 1d (500ms, 2s, 1m)",
                    text);
    follow->poll_ms = text ? (int)(poll_ns / 1000000) : USUAL_MS;
    follow->file = calloc(n, sizeof *follow->file);
    follow->poll = calloc(n + OTHERS, sizeof *follow->poll);
    if (!follow->file || !follow->poll) return fail_memory(args);
    if (stop_fd() < 0) return fail(args, NULL, "cannot create a pipe");
    follow->notices = notices_open();
    keys->fill = fill;
    keys->fill_with = follow;
    keys->threads = 1; /* Blocks are taken as they come, never kept for others to fill up. */
    for (size_t i = 0; i < n; i++) {
        struct followed *file = &follow->file[i];
        *file = (struct followed){.source = &keys->source[i], .fd = -1};
        follow_also(follow, file->source->name);
        if (appears(follow, file)) begin(follow, file, !from_start);
    }
    return 0;
}

void follow_also(struct follow *follow, const char *path) {
    if (!is_dash(path)) notices_about(follow->notices, path);
}

void follow_close(struct follow *follow) {
    for (size_t i = 0; follow->file && i < follow->count; i++) {
        if (follow->file[i].fd >= 0) close(follow->file[i].fd);
        free(follow->file[i].bytes);
    }
    free(follow->file);
    free(follow->poll);
    if (follow->notices >= 0) close(follow->notices);
}
