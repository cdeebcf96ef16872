/* SPDX-License-Identifier: MIT */
/* channel.c: greeting, frames, patience.
 *
 *       0  magic    8     10  which end        1     12  zero             4
 *       8  version  2     11  1: it has a key  1     16  random number   32
 *
 * Each end sends these 48 bytes first. With a key the header of its sealed frames follows, 24
 * bytes. The first frame is about the form of keys; a side that can seal it has the key.
 *
 * Nothing here waits without an end: a frame must be whole within --timeout. An end that reads a
 * large file meanwhile sends empty frames. Whatever arrives is bounded: a frame by FRAME_BYTES, all
 * of them by --limit, empty ones by a day. */
#include "cli/net/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    AT_VERSION = 8,
    AT_END = 10,
    AT_KEYED = 11,
    AT_ZERO = 12,
    AT_NONCE = 16,
    HELLO_BYTES = AT_NONCE + NONCE_BYTES,
    VERSION = 1,
    LENGTH_BYTES = 4,
    SEALED_BYTES = FRAME_BYTES + CIPHER_MORE_BYTES,
    INPUT_ROOM = LENGTH_BYTES + SEALED_BYTES,
    QUEUE_ROOM = 4 * INPUT_ROOM,
    /* A pipe that can be written to takes so much at once, whatever its flags are. */
    MAX_WRITTEN = 4096,
    MAX_IDLE_FRAMES = 24 * 60 * 60
};

static const uint8_t magic[8] = {0xd6, 't', 'a', 'l', 'k', 0x0d, 0x1a, 0x0a};
#define LAST_FRAME ((uint32_t)1 << 31)

int wire_fail(const struct wire *wire, const char *format, ...) {
    va_list list;
    if (wire->is_quiet) return EXIT_TROUBLE;
    report_start(wire->args, wire->peer);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    report_end();
    return EXIT_TROUBLE;
}

int draw_random(const struct args *args, void *bytes, size_t len) {
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const bool is_drawn = fd >= 0 && read(fd, bytes, len) == (ssize_t)len;
    const int cause = errno;
    if (fd >= 0) close(fd);
    return is_drawn ? 0 : fail(args, "/dev/urandom", "cannot read: %s", strerror(cause));
}

/* ---- Bytes in and out ---- */

static void be_patient(struct wire *wire) {
    wire->deadline_ms = now_ms() + wire->timeout_ms;
}

static int fail_end(struct wire *wire) {
    bool is_good = true;
    const struct human end = wire_child_end(wire, &is_good);
    if (!wire->has_greeted)
        return wire_fail(wire, "the session ended before it began%s%s",
                         is_good ? "" : "; the command ", is_good ? "" : end.text);
    return wire_fail(wire, "the session ended early after %s%s%s", human_bytes(wire->received).text,
                     is_good ? "" : "; the command ", is_good ? "" : end.text);
}

static ssize_t put_some(int fd, const uint8_t *bytes, size_t len) {
    const size_t max = len < MAX_WRITTEN ? len : MAX_WRITTEN;
    const ssize_t put = send(fd, bytes, max, MSG_DONTWAIT | MSG_NOSIGNAL);
    return put < 0 && errno == ENOTSOCK ? write(fd, bytes, max) : put;
}

static bool is_passing(int cause) {
    return cause == EINTR || cause == EAGAIN || cause == EWOULDBLOCK;
}

static int write_some(struct wire *wire) {
    const ssize_t put = put_some(wire->out, wire->queue + wire->gone, wire->queued - wire->gone);
    if (put < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        /* What it said before it left is still to be read, and may tell why. */
        wire->is_deaf = true;
        wire->gone = wire->queued = 0;
        return 0;
    }
    if (put < 0 && !is_passing(errno)) return wire_fail(wire, "cannot send: %s", strerror(errno));
    if (put <= 0) return 0;
    wire->gone += (size_t)put;
    wire->sent += (uint64_t)put;
    if (wire->gone == wire->queued) wire->gone = wire->queued = 0;
    return 0;
}

static int read_some(struct wire *wire) {
    const ssize_t got = read(wire->in, wire->input + wire->got, INPUT_ROOM - wire->got);
    if (got < 0 && errno != ECONNRESET)
        return is_passing(errno) ? 0 : wire_fail(wire, "cannot receive: %s", strerror(errno));
    wire->is_at_end = got <= 0;
    if (got <= 0) return 0;
    wire->got += (size_t)got;
    wire->received += (uint64_t)got;
    if (wire->received <= wire->max_received) return 0;
    return wire_fail(wire, "sent more than the limit of %s; raise it with --limit",
                     human_bytes(wire->max_received).text);
}

/* Waits until something can be read or written, does it, and no longer than the deadline; `wait`
 * false: does what can be done at once. */
static int pump(struct wire *wire, bool wait) {
    const bool can_read = !wire->is_at_end && wire->got < INPUT_ROOM;
    const bool can_write = wire->gone < wire->queued;
    struct pollfd fds[2] = {{.fd = can_read ? wire->in : -1, .events = POLLIN},
                            {.fd = can_write ? wire->out : -1, .events = POLLOUT}};
    const int64_t left = wire->deadline_ms - now_ms();
    const int ready = poll(fds, 2, !wait ? 0 : left > 0 ? (int)left : 0);
    if (ready < 0 && errno != EINTR) return wire_fail(wire, "cannot wait: %s", strerror(errno));
    if (ready == 0 && wait && left <= 0)
        return wire_fail(wire, "no %s for %s %s", can_write ? "bytes accepted" : "answer",
                         human_count((uint64_t)wire->timeout_ms / 1000).text,
                         wire->timeout_ms == 1000 ? "second" : "seconds");
    if (ready <= 0) return 0;
    /* What came is read first: it may say why nothing more is taken. */
    int code = fds[0].revents ? read_some(wire) : 0;
    if (!code && fds[1].revents) code = write_some(wire);
    return code;
}

static void queue_bytes(struct wire *wire, const void *bytes, size_t len) {
    if (len > 0) memcpy(wire->queue + wire->queued, bytes, len);
    wire->queued += len;
}

/* Makes room for one more frame. */
static int make_room(struct wire *wire) {
    int code = 0;
    be_patient(wire);
    while (!code && QUEUE_ROOM - wire->queued < INPUT_ROOM) {
        if (wire->gone > 0) {
            memmove(wire->queue, wire->queue + wire->gone, wire->queued - wire->gone);
            wire->queued -= wire->gone;
            wire->gone = 0;
            continue;
        }
        const uint64_t before = wire->sent;
        code = pump(wire, true);
        if (wire->sent > before) be_patient(wire);
    }
    return code;
}

int wire_flush(struct wire *wire) {
    int code = 0;
    be_patient(wire);
    while (!code && wire->gone < wire->queued) {
        const uint64_t before = wire->sent;
        code = pump(wire, true);
        if (wire->sent > before) be_patient(wire);
    }
    return code;
}

/* Waits for `len` bytes; false `is_there` when the other side ended before the first of them. */
static int need_bytes(struct wire *wire, size_t len, bool *is_there) {
    int code = 0;
    while (!code && wire->got < len && !wire->is_at_end) code = pump(wire, true);
    *is_there = wire->got >= len;
    if (code || *is_there || wire->got == 0) return code;
    return fail_end(wire);
}

static void drop_input(struct wire *wire, size_t len) {
    memmove(wire->input, wire->input + len, wire->got - len);
    wire->got -= len;
}

/* ---- Frames ---- */

int wire_send(struct wire *wire, const void *bytes, size_t len, bool is_last) {
    int code = make_room(wire);
    if (code) return code;
    const uint32_t more = wire->cipher ? CIPHER_MORE_BYTES : 0;
    const uint32_t word = ((uint32_t)len + more) | (is_last ? LAST_FRAME : 0);
    put_number(wire->queue + wire->queued, LENGTH_BYTES, word);
    wire->queued += LENGTH_BYTES;
    if (wire->cipher) {
        cipher_seal(wire->cipher, bytes, len, is_last, wire->queue + wire->queued);
        wire->queued += len + more;
    } else {
        queue_bytes(wire, bytes, len);
    }
    wire->alive_ms = now_ms();
    return pump(wire, false);
}

/* Refuses what no frame can be. */
static int check_length(const struct wire *wire, uint32_t word) {
    const uint32_t len = word & ~LAST_FRAME;
    const uint32_t min = wire->cipher ? CIPHER_MORE_BYTES : 0;
    if (len >= min && len - min <= FRAME_BYTES) return 0;
    return wire_fail(wire,
                     "a frame of %" PRIu32 " bytes is invalid (allowed: %" PRIu32 " to %" PRIu32
                     "); the peer uses another protocol",
                     len, min, min + FRAME_BYTES);
}

/* The frame at the start of the input, which is whole there. */
static int open_frame(struct wire *wire, uint32_t word, const uint8_t **bytes, size_t *len) {
    const uint8_t *at = wire->input + LENGTH_BYTES;
    *bytes = at;
    *len = word & ~LAST_FRAME;
    wire->had_last = word & LAST_FRAME;
    if (!wire->cipher) return 0;
    if (!cipher_unseal(wire->cipher, at, *len, wire->had_last, wire->plain))
        return wire->has_greeted
                   ? wire_fail(wire, "a frame is not authentic: it was changed in transit, or "
                                     "replayed")
                   : wire_fail(wire, "the peer has another key; --key must be the same");
    *bytes = wire->plain;
    *len -= CIPHER_MORE_BYTES;
    return 0;
}

/* Whether a whole frame has come; one whose length is impossible counts, to be refused. */
static bool has_frame(const struct wire *wire) {
    if (wire->got < LENGTH_BYTES) return false;
    const uint32_t len = (uint32_t)get_number(wire->input, LENGTH_BYTES) & ~LAST_FRAME;
    return len > SEALED_BYTES || wire->got >= LENGTH_BYTES + len;
}

static int take_frame(struct wire *wire, const uint8_t **bytes, size_t *len) {
    const uint32_t word = (uint32_t)get_number(wire->input, LENGTH_BYTES);
    int code = check_length(wire, word);
    if (!code) code = open_frame(wire, word, bytes, len);
    wire->taken = LENGTH_BYTES + (word & ~LAST_FRAME);
    if (code || *len > 0) return code;
    return ++wire->idle_frames <= MAX_IDLE_FRAMES
               ? 0
               : wire_fail(wire, "sent nothing but keep-alives for a day");
}

int wire_receive(struct wire *wire, const uint8_t **bytes, size_t *len, bool *is_there) {
    int code = 0;
    *len = 0;
    be_patient(wire);
    while (!code) {
        if (wire->taken > 0) drop_input(wire, wire->taken);
        wire->taken = 0;
        if (has_frame(wire)) {
            code = wire->had_last ? wire_fail(wire, "sent data after its last frame")
                                  : take_frame(wire, bytes, len);
            be_patient(wire);
            if (!code && *len == 0 && !wire->had_last) continue;
            if (is_there) *is_there = true;
            return code;
        }
        if (is_there) {
            const size_t before = wire->got;
            code = pump(wire, false);
            if (wire->got > before) continue;
            *is_there = false;
            return code || !wire->is_at_end ? code : fail_end(wire);
        }
        code = wire->is_at_end ? fail_end(wire) : pump(wire, true);
    }
    return code;
}

int wire_alive(void *with) {
    enum { EVERY_MS = 1000 };
    struct wire *wire = with;
    const int64_t now = now_ms();
    if (now - wire->alive_ms < EVERY_MS) return 0;
    /* What the other side has not taken yet says the same. */
    if (wire->queued > wire->gone) {
        wire->alive_ms = now;
        return pump(wire, false);
    }
    return wire_send(wire, NULL, 0, false);
}

/* ---- Greeting ---- */

static int check_hello(const struct wire *wire, const uint8_t *hello) {
    const unsigned version = (unsigned)get_number(hello + AT_VERSION, 2);
    static const uint8_t zero[AT_NONCE - AT_ZERO];
    const bool is_keyed = hello[AT_KEYED] & 1;
    if (memcmp(hello, magic, sizeof magic) != 0)
        return wire_fail(wire, "the peer is not \"tamis reconcile\"");
    if (version != VERSION)
        return wire_fail(wire, "the peer uses protocol version %u, this tamis version %d", version,
                         VERSION);
    if (hello[AT_END] == (uint8_t)wire->end)
        return wire_fail(
            wire, "both sides %s; one must %s", wire->end == WIRE_ASKS ? "ask" : "answer",
            wire->end == WIRE_ASKS ? "use --listen, or --stdio" : "use --connect, or --over");
    if ((hello[AT_END] != WIRE_ASKS && hello[AT_END] != WIRE_ANSWERS) || hello[AT_KEYED] > 1 ||
        memcmp(hello + AT_ZERO, zero, sizeof zero) != 0)
        return wire_fail(wire, "its greeting is unknown to this version of tamis");
    if (is_keyed && !wire->cipher) return wire_fail(wire, "the peer requires a key; see --key");
    if (!is_keyed && wire->cipher)
        return wire_fail(wire, "the peer has no key, but --key is given here");
    return 0;
}

/* What both agree on without a key: nobody else can prepare keys that collide, unless they
 * listen in. */
static void mix_secret(struct wire *wire, const uint8_t *a, const uint8_t *b) {
    for (size_t i = 0; i < TALK_SECRET_BYTES; i++) wire->secret[i] = (uint8_t)(a[i] ^ b[i]);
}

static int start_cipher(struct wire *wire, const uint8_t *ours, const uint8_t *theirs) {
    uint8_t header[CIPHER_HEADER_BYTES];
    bool is_there = false;
    const bool asks = wire->end == WIRE_ASKS;
    if (memcmp(ours, theirs, NONCE_BYTES) == 0)
        return wire_fail(wire, "it echoes what it receives");
    if (!wire->cipher) {
        mix_secret(wire, ours, theirs);
        return 0;
    }
    cipher_start(wire->cipher, wire->end, asks ? ours : theirs, asks ? theirs : ours, header,
                 wire->secret);
    queue_bytes(wire, header, sizeof header);
    int code = need_bytes(wire, sizeof header, &is_there);
    if (!code && !is_there) code = fail_end(wire);
    if (!code && !cipher_take_header(wire->cipher, wire->input))
        code = wire_fail(wire, "its encrypted frames start incorrectly");
    if (!code) drop_input(wire, sizeof header);
    return code;
}

/* Whoever is refused should know by our greeting why; whether he takes it is his matter. */
static void flush_if_taken(struct wire *wire) {
    while (wire->gone < wire->queued) {
        const ssize_t put =
            put_some(wire->out, wire->queue + wire->gone, wire->queued - wire->gone);
        if (put <= 0) return;
        wire->gone += (size_t)put;
        wire->sent += (uint64_t)put;
    }
    wire->gone = wire->queued = 0;
}

static int greet(struct wire *wire) {
    uint8_t hello[HELLO_BYTES] = {0}, theirs[NONCE_BYTES];
    bool is_there = false;
    memcpy(hello, magic, sizeof magic);
    hello[AT_VERSION] = VERSION;
    hello[AT_END] = (uint8_t)wire->end;
    hello[AT_KEYED] = wire->cipher != NULL;
    int code = draw_random(wire->args, hello + AT_NONCE, NONCE_BYTES);
    if (code) return code;
    queue_bytes(wire, hello, sizeof hello);
    be_patient(wire); /* for all of it, so that bytes one by one are no way to keep us */
    code = need_bytes(wire, sizeof magic, &is_there);
    /* Servers of other sorts say a few words and wait. */
    if (!code && is_there && memcmp(wire->input, magic, sizeof magic) == 0)
        code = need_bytes(wire, HELLO_BYTES, &is_there);
    if (!code && !is_there) code = fail_end(wire);
    if (code) return code;
    flush_if_taken(wire);
    code = check_hello(wire, wire->input);
    if (code) return code;
    memcpy(theirs, wire->input + AT_NONCE, NONCE_BYTES);
    drop_input(wire, HELLO_BYTES);
    return start_cipher(wire, hello + AT_NONCE, theirs);
}

int wire_greet(struct wire *wire, uint64_t form, bool wants_lines, bool *other_wants_lines) {
    enum { FORM_BYTES = 8, OPENING_BYTES = FORM_BYTES + 1 };
    uint8_t ours[OPENING_BYTES];
    const uint8_t *theirs = NULL;
    size_t len = 0;
    put_number(ours, FORM_BYTES, form);
    ours[FORM_BYTES] = wants_lines;
    int code = greet(wire);
    if (!code) code = wire_send(wire, ours, sizeof ours, false);
    if (!code) code = wire_receive(wire, &theirs, &len, NULL);
    if (code) return code;
    wire->has_greeted = true;
    if (len != sizeof ours || theirs[FORM_BYTES] > 1 || wire->had_last)
        return wire_fail(wire, "its first frame does not describe its keys");
    *other_wants_lines = theirs[FORM_BYTES];
    if (memcmp(ours, theirs, FORM_BYTES) != 0)
        return wire_fail(wire, "the peer makes keys from lines differently; --keys, --hex, "
                               "--base64 and --canon must be the same");
    return 0;
}

/* ---- Beginning and end ---- */

bool wire_is_wanted(const struct args *args) {
    return given(args, OPT_LISTEN) || given(args, OPT_CONNECT) || given(args, OPT_OVER) ||
           given(args, OPT_STDIO);
}

int wire_open(struct wire *wire, const struct args *args) {
    enum { USUAL_SECONDS = 30, MAX_SECONDS = 24 * 60 * 60 };
    const uint64_t usual_limit = (uint64_t)1 << 30;
    const uint64_t seconds =
        given(args, OPT_TIMEOUT) ? args->setting[OPT_TIMEOUT].number : USUAL_SECONDS;
    *wire = (struct wire){.args = args, .in = -1, .out = -1};
    if (seconds < 1 || seconds > MAX_SECONDS)
        return fail(args, "--timeout", "%s is out of range (allowed: 1 to %s seconds)",
                    args->setting[OPT_TIMEOUT].text, human_count(MAX_SECONDS).text);
    wire->timeout_ms = (int64_t)seconds * 1000;
    wire->max_received = given(args, OPT_LIMIT) ? args->setting[OPT_LIMIT].number : usual_limit;
    wire->queue = malloc(QUEUE_ROOM);
    wire->input = malloc(INPUT_ROOM);
    wire->plain = malloc(FRAME_BYTES);
    if (!wire->queue || !wire->input || !wire->plain) return fail_memory(args);
    int code =
        given(args, OPT_KEY) ? cipher_open(&wire->cipher, args, args->setting[OPT_KEY].text) : 0;
    if (!code) code = wire_connect(wire);
    wire->alive_ms = now_ms();
    return code;
}

int wire_finish(struct wire *wire) {
    bool is_good = true;
    const int code = wire_flush(wire);
    if (code || wire->is_deaf) return code ? code : fail_end(wire);
    const struct human end = wire_child_end(wire, &is_good);
    return is_good ? 0 : wire_fail(wire, "the command %s", end.text);
}

void wire_close(struct wire *wire) {
    bool is_good;
    (void)wire_child_end(wire, &is_good);
    if (wire->has_no_sigpipe) signal(SIGPIPE, wire->usual_sigpipe);
    if (wire->in > STDERR_FILENO) close(wire->in);
    if (wire->out > STDERR_FILENO && wire->out != wire->in) close(wire->out);
    cipher_close(wire->cipher);
    wipe_secret(wire->secret, sizeof wire->secret);
    free(wire->queue);
    free(wire->input);
    free(wire->plain);
    *wire = (struct wire){.in = -1, .out = -1};
}
