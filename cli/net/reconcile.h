/* SPDX-License-Identifier: MIT */
/* reconcile.h: only the files of `tamis reconcile` include this.
 *
 *     reconcile.c         which of the forms it is, what is told, the entry of the verb
 *     reconcile_set.c     a file as a sorted list of hashes, and its lines by their hashes
 *     reconcile_session.c    two sets by a conversation: here, by a stream in a file, over a wire
 *     reconcile_image.c   two sets by sketches
 */
#ifndef TAMIS_CLI_NET_RECONCILE_H
#define TAMIS_CLI_NET_RECONCILE_H

#include "cli/cli.h"
#include "cli/net/channel.h"
#include "tamis_jobs.h"

/* ==== Sets: reconcile_set.c ================================================================= */

struct hashes {
    uint64_t *at;
    size_t n, room;
};

bool hashes_add(struct hashes *hashes, uint64_t hash); /* false: no memory */
void hashes_free(struct hashes *hashes);

/* Where it is, or n, in what sort_distinct has sorted. */
size_t hashes_find(const struct hashes *hashes, uint64_t hash);

/* A file of keys. What is in memory is 8 bytes for each different key, never lines. */
struct set {
    const struct args *args;
    const char *name;
    struct keys keys;
    bool is_open;
    struct spill copy;   /* of what cannot be read twice */
    const tamis *hasher; /* freed by its creator */
    struct hashes hashes;
    uint64_t lines;
    struct pause pause;
};

int set_open(struct set *set, const struct args *args, const char *name);
int set_read(struct set *set, const tamis *hasher);
void set_close(struct set *set);

/* The lines whose key has one of these hashes, which are sorted, in the order of the file: the
 * first line of each key. A hash without a line is trouble: the file has changed. */
struct line_taker {
    int (*take)(void *with, uint64_t hash, const struct tamis_key *line,
                const struct tamis_key *key);
    void *with;
    bool may_lack; /* hashes without a line are none of our business: `lacking` counts them */
    uint64_t lacking;
};
int set_lines(struct set *set, const struct hashes *wanted, struct line_taker *taker);

/* What makes hashes under a secret of 16 bytes; free it with tamis_free. */
int make_hasher(const struct args *args, const uint8_t secret[TALK_SECRET_BYTES], tamis **hasher);

/* One number for how keys are made of fields: the same here and there, or nothing fits. */
uint64_t form_mark(const struct set *set);

/* ==== What is printed: reconcile.c ========================================================== */

enum side { FIRST = 0, SECOND = 1 };

/* Where the list goes: whole, or not at all where it is a file. */
struct list {
    const struct args *args;
    struct new_file file;
    struct text text;
    char line_end;
    bool is_begun;
    bool is_bare; /* no marks, and no side is left out */
};

int list_begin(struct list *list, const struct args *args);
int list_end(struct list *list, int code);
bool list_wants(const struct list *list, enum side side);
int list_line(struct list *list, enum side side, const struct tamis_key *line);
int list_hash(struct list *list, enum side side, uint64_t hash);

/* The lines of a set, or the hashes alone. */
int list_set(struct list *list, enum side side, struct set *set, const struct hashes *wanted);
int list_hashes(struct list *list, enum side side, const struct hashes *wanted);

/* Both sides, unless they are partial and that is not wanted: the lines of a set, or, where that is
 * NULL, hashes. In reconcile_session.c. */
struct outcome;
int list_both(const struct args *args, const struct outcome *outcome, struct set *const set[2],
              const char *advice);

/* ==== How it went =========================================================================== */

struct outcome {
    const char *name[2];
    uint64_t keys[2];
    bool has_keys[2]; /* it is known how many there are */
    struct hashes only[2];
    bool is_partial;
    bool has_session, has_wire;
    struct tamis_session_info session;
    uint64_t session_bytes; /* of both directions */
    uint64_t sent, received;
    struct tamis_estimate size; /* of the difference, where it is too large */
};

void outcome_free(struct outcome *outcome);

/* ==== Ways ================================================================================== */

int reconcile_here(const struct args *args, struct outcome *outcome);
int reconcile_there(const struct args *args, struct outcome *outcome);
int reconcile_tell(const struct args *args);
int reconcile_stream(const struct args *args, struct outcome *outcome);

/* Whether a file is a stream of --write-stream. */
bool is_stream_file(const char *path);

/* Whether A or B is an image. */
bool has_image_operand(const struct args *args);
int reconcile_images(const struct args *args, struct outcome *outcome);
int reconcile_hashes(const struct args *args);

/* What --hashes needs of a stream: its hash. */
int stream_hasher(const struct args *args, const char *path, tamis **hasher, uint64_t *form);

/* Ends with the list, unless it is partial and that is not wanted. */
int refuse_partial(const struct args *args, const struct outcome *outcome, const char *advice);

#endif
