/* SPDX-License-Identifier: MIT */
/* channel.h: only the files in cli/ include this. A wire to another host: frames that arrive whole,
 * in order and within a time, or a sentence that says why not.
 *
 *     --listen, --connect, --over, --stdio
 *         ──channel_open.c──▶ two descriptors
 *         ──channel.c──▶ greeting, frames, timeouts
 *         ──channel_seal.c──▶ encrypted and authenticated, where there is a key */
#ifndef TAMIS_CLI_NET_CHANNEL_H
#define TAMIS_CLI_NET_CHANNEL_H

#include <sys/types.h>

#include "cli/files/files.h"

/* A frame: 4 bytes, little-endian, whose low 31 bits are the length of what follows; the highest
 * bit says that it is the last one. An empty frame only says that the sender is still there. */
enum { FRAME_BYTES = 64 * 1024, NONCE_BYTES = 32, TALK_KEY_BYTES = 32, TALK_SECRET_BYTES = 16 };

/* Who began: both ends must know which they are, or a mirror could talk to anybody. */
enum wire_end { WIRE_ASKS = 'a', WIRE_ANSWERS = 'b' };

struct cipher;

struct wire {
    const struct args *args;
    char peer[160]; /* how it is called in sentences */
    int in, out;
    pid_t child; /* of --over, or 0 */
    enum wire_end end;
    int64_t timeout_ms;
    int64_t deadline_ms; /* for the frame that is waited for, or for those that are sent */
    int64_t alive_ms;    /* when we last said that we are */
    uint64_t sent, received, max_received, idle_frames;
    uint8_t *queue; /* what is to be sent: from `gone` on */
    size_t queued, gone;
    uint8_t *input; /* what came: one frame and the start of the next */
    size_t got, taken;
    bool is_at_end;      /* the other side sends no more */
    bool is_deaf;        /* ... and reads no more */
    bool had_last;       /* its last frame came */
    bool has_greeted;    /* it is one of us */
    bool is_quiet;       /* one thing went wrong already, and is told */
    bool has_no_sigpipe; /* until wire_close */
    void (*usual_sigpipe)(int);
    uint8_t *plain; /* of a sealed frame */
    struct cipher *cipher;
    uint8_t secret[TALK_SECRET_BYTES]; /* that both ends hash keys with */
};

/* Whether one of the options names another host. */
bool wire_is_wanted(const struct args *args);

/* Connects as the options say. wire_close is due also after a failure. */
int wire_open(struct wire *wire, const struct args *args);
void wire_close(struct wire *wire);

/* Both ends say who they are and agree on secrets. `form` is about keys and must be the same on
 * both ends; each says whether it wants lines. Nothing else is sent before the other side has shown
 * that it has the key. */
int wire_greet(struct wire *wire, uint64_t form, bool wants_lines, bool *other_wants_lines);

/* Queues a frame, and waits only while a lot is queued. */
int wire_send(struct wire *wire, const void *bytes, size_t len, bool is_last);

/* The next frame, empty ones left out, until the next call; waits for it. `is_there` NULL: it must
 * come. Otherwise does not wait, and says whether there was one. */
int wire_receive(struct wire *wire, const uint8_t **bytes, size_t *len, bool *is_there);

/* Everything that is queued goes out. */
int wire_flush(struct wire *wire);

/* Called while other work takes long: sends the peer of a wire a keep-alive every second. */
int wire_alive(void *wire);

/* Both have sent their last frame; of --over the command must end well too. */
int wire_finish(struct wire *wire);

/* "tamis: reconcile: PEER: sentence", EXIT_TROUBLE. */
PRINTF_LIKE(2, 3)
int wire_fail(const struct wire *wire, const char *format, ...);

/* From the system, or reported. */
int draw_random(const struct args *args, void *bytes, size_t len);

/* ==== Where it leads: channel_open.c ========================================================== */

int wire_connect(struct wire *wire);

/* What became of the command of --over: "it ended with exit status 127", or "". Waits for it until
 * the deadline. */
struct human wire_child_end(struct wire *wire, bool *is_good);

/* ==== Sealing: channel_seal.c ================================================================= */

/* What is sent before the first frame, by each end. */
enum { CIPHER_HEADER_BYTES = 24, CIPHER_MORE_BYTES = 17 };

/* Reads the key. Without libsodium a sentence. */
int cipher_open(struct cipher **cipher, const struct args *args, const char *path);
void cipher_close(struct cipher *cipher);

/* Keys of this conversation, one for each direction, and the secret of its hash. */
void cipher_start(struct cipher *cipher, enum wire_end end, const uint8_t asker[NONCE_BYTES],
                  const uint8_t answerer[NONCE_BYTES], uint8_t header[CIPHER_HEADER_BYTES],
                  uint8_t secret[TALK_SECRET_BYTES]);
bool cipher_take_header(struct cipher *cipher, const uint8_t header[CIPHER_HEADER_BYTES]);

/* The result of sealing is CIPHER_MORE_BYTES longer; opening is false for what is not from the
 * other end, not the next frame, or not as it was sent. */
void cipher_seal(struct cipher *cipher, const void *bytes, size_t len, bool is_last,
                 uint8_t *sealed);
bool cipher_unseal(struct cipher *cipher, const uint8_t *sealed, size_t len, bool is_last,
                   uint8_t *bytes);

#endif
