/* SPDX-License-Identifier: MIT */
/* shard_set.h: only the files in cli/ include this. One filter over a cluster: its shards, and keys
 * on their way to them. */
#ifndef TAMIS_CLI_NET_SHARD_SET_H
#define TAMIS_CLI_NET_SHARD_SET_H

#include "cli/cli.h"

/* What the verb calls; each returns an exit status. In cluster_*.c, and without_hiredis in
 * verbs/cluster.c says what is missing. */
int cluster_create(const struct args *args);
int cluster_add(const struct args *args);
int cluster_check(const struct args *args);
int cluster_load(const struct args *args);
int cluster_dump(const struct args *args);
int cluster_info(const struct args *args);
int cluster_repair(const struct args *args);

/* Answers were "maybe" because a shard did not give any. */
enum { EXIT_MAYBE = 3 };

#ifdef TAMIS_WITH_HIREDIS
#include "cli/net/cluster.h"

enum { NAME_ROOM = 193, KEY_ROOM = NAME_ROOM + 15, SPEC_ROOM = 1024 };

/* ==== Shards: shard_set.c ===================================================================== */

struct shards {
    const struct args *args;
    struct net *net;
    const char *name;
    uint64_t n;
    char (*tag)[TAG_ROOM]; /* of every slot */
    tamis *model;          /* an empty shard 0, here: it hashes keys and finds their shards */
    char spec[SPEC_ROOM];  /* of shard 0 */
};

/* Connects, and takes the name alone. shards_close is due also after a failure, or for zeros. */
int shards_name(struct shards *shards, const struct args *args, struct net *net);

/* The same with what the cluster has under that name; it is reported when that is nothing. */
int shards_open(struct shards *shards, const struct args *args, struct net *net);
void shards_close(struct shards *shards);

/* TAMIS.INFO and TAMIS.SECRET of shard 0; of any other when that is silent, or is gone and one
 * looks further. The calls are to be freed. */
int shards_ask(struct shards *shards, bool looks_further, struct call call[2]);

struct shard_key {
    char text[KEY_ROOM];
};
struct shard_key shard_key(const struct shards *shards, uint64_t shard);

/* Shard 0 of this many, for those who make or publish a filter. */
int shards_model(struct shards *shards, const char *spec, uint64_t n, const uint8_t *secret);

/* The spec of another shard of the same filter. Reports a failure. */
int spec_of_shard(const struct shards *shards, uint64_t shard, char spec[SPEC_ROOM]);

/* "shard 3 of 24 (users:{abc})" */
struct shard_title {
    char text[KEY_ROOM + 64];
};
struct shard_title shard_title(const struct shards *shards, uint64_t shard);

/* ---- What a server reports about a shard ---- */

/* The value after a name in an answer of TAMIS.INFO, NULL when there is none. */
const redisReply *info_value(const redisReply *info, const char *name);
uint64_t info_count(const redisReply *info, const char *name);
double info_real(const redisReply *info, const char *name);
const char *info_text(const redisReply *info, const char *name); /* "" for none */

/* One command about one shard. The call is to be freed. */
int shard_call(const struct shards *shards, struct call *call, uint64_t shard, const char *command);

/* All shards at once: call[i] is about shard i. False when memory is out. */
bool shards_call(const struct shards *shards, struct call *call, const char *command);

bool is_absent(const struct call *call);

/* Every primary's replicas have everything that we wrote; warns when they did not say so. */
void shards_confirm(const struct shards *shards);

/* Returns how many there are. */
size_t list_primaries(struct net *net, struct node *node[MAX_NODES]);

/* Refuses a cluster that lacks the module, or would throw shards away when memory is out. */
int primaries_are_fit(struct net *net);

/* ==== Images of shards: shard_images.c ====================================================== */

/* On any thread; a failure leaves its sentence in `why`. */
enum { WHY_ROOM = 512 };

/* Writes the reason and returns false. */
PRINTF_LIKE(2, 3)
bool say_why(char *why, const char *format, ...);

/* Runs a call and frees it; what went wrong is said about `what`. */
bool call_alone(const struct shards *shards, struct call *call, const char *what, char *why);

/* Publishes a shard under this key in chunks; what is there already goes on answering until the new
 * one is whole. */
bool shard_publish(const struct shards *shards, const char *key, const tamis *filter, char *why);

/* Fetches a shard as it was at one moment. */
bool shard_fetch(const struct shards *shards, uint64_t shard, tamis **filter, char *why);

/* The first bytes of a shard's image, which tell it from any other; false in *is_there when there
 * is no shard. */
enum { HEADER_BYTES = 192 };
bool shard_header(const struct shards *shards, uint64_t shard, uint8_t header[HEADER_BYTES],
                  bool *is_there, char *why);

/* Runs `work` for every shard, on some threads, shards of different nodes side by side. Reports the
 * first failure, which ends it. */
typedef bool shard_work(void *with, uint64_t shard, char *why);
int for_each_shard(const struct shards *shards, shard_work *work, void *with);

/* Refuses an image that cannot be cut into shards. */
int image_can_be_cut(const struct args *args, const struct image *image);

/* How many shards of the usual size, and enough for every primary; or what --shards says. */
int shards_wanted(struct net *net, const char *spec, uint64_t *n);

/* The command that makes a shard without keys; the call is to be freed. */
int shard_create_call(const struct shards *shards, struct call *call, uint64_t shard);

/* ==== All shards at a glance: cluster_survey.c ================================================ */

enum shard_health { SHARD_GOOD, SHARD_ABSENT, SHARD_SILENT, SHARD_DIFFERS };

struct survey {
    struct call *info, *secret; /* of every shard */
    enum shard_health *health;
    uint64_t count[4]; /* of each health */
};

/* survey_free is due also after a failure. */
int survey_make(struct survey *survey, const struct shards *shards);
void survey_free(struct survey *survey, const struct shards *shards);

/* Whether all have the secret of shard 0, without which answers would be wrong; reported. A shard
 * that does not answer is an error only when all are needed. */
int shards_are_one(const struct shards *shards, bool all_needed);

/* "good", "absent", "silent", "differs". */
const char *health_word(enum shard_health health);

/* A line about each shard that is not good: "TITLE HEALTH: why". */
void survey_print(const struct survey *survey, const struct shards *shards);

/* Whether this answer to TAMIS.SECRET is that of our filter. */
bool has_our_secret(const struct shards *shards, const redisReply *reply);

/* ==== Keys on their way: cluster_pack.c, cluster_confirm.c ==================================== */

enum { PARCEL_HASHES = 16384, HEAD_ROOM = 288, MAX_ASKERS = 64 };

struct parcel;
struct packer;

/* Some answers of a parcel belong to one batch: hit[index[i]] is the i-th. */
struct piece {
    struct asking *asking;
    const uint32_t *index;
    uint32_t n;
};

struct parcel {
    struct request request; /* its first member; queues of requests hold parcels by it */
    struct packer *packer;
    uint32_t shard, n;
    bool is_acknowledged;
    int64_t opened;
    uint32_t pieces;
    struct piece piece[MAX_ASKERS];
    char head[HEAD_ROOM]; /* the start of the command ends where the hashes begin */
    uint64_t hash[];      /* little-endian, and two bytes for the end of the line */
};

static inline struct parcel *parcel_take(struct queue *queue) {
    return (struct parcel *)queue_take(queue);
}

/* A batch that waits for its answers. */
struct asking {
    struct batch *batch;
    size_t left;
    pthread_cond_t is_done;
};

struct shard_state {
    struct parcel *open;           /* that is being filled, or NULL */
    struct shard_state *next_open; /* in the list of those */
    bool is_listed;
    int64_t silent_till; /* it did not answer: it is not asked before */
    bool was_silent;
    uint64_t maybes;
};

struct packer {
    const struct shards *shards;
    struct net *net;
    const char *command; /* TAMIS.HADD or TAMIS.HHAS */
    bool adds;
    size_t room; /* hashes in a parcel */
    struct shard_state *shard;
    struct shard_state *open_first, *open_last;
    struct queue free;   /* parcels */
    struct parcel **all; /* for packer_close */
    size_t all_count, all_room;
    size_t in_use, max; /* parcels that are not free, and how many may be */
    bool is_flushing, has_failed;
    char trouble[512]; /* then */
    pthread_cond_t has_room;

    /* For reports. */
    uint64_t acknowledged;
    uint64_t alone; /* acknowledged by primaries without replicas, which confirm nothing */
    uint64_t parcels, replayed, maybes, unconfirmed_waits, checkpoints;
    int64_t longest; /* milliseconds that a parcel waited for its answer */
};

int packer_open(struct packer *packer, const struct shards *shards, bool adds);
void packer_close(struct packer *packer); /* after shards_close */

/* Hands the hashes of a batch over, on any thread. Questions: waits until all are answered, into
 * batch->hit; false when the packer has failed. */
void packer_add(struct packer *packer, struct batch *batch);
bool packer_ask(struct packer *packer, struct batch *batch);

/* Waits until everything is acknowledged and confirmed; false when that failed. */
bool packer_flush(struct packer *packer);

/* With the lock of the net. */
void packer_fail(struct packer *packer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void parcel_send(struct packer *packer, struct parcel *parcel);
void parcel_free(struct packer *packer, struct parcel *parcel);
void confirm_keep(struct packer *packer, struct node *node, struct parcel *parcel);
int64_t confirm_tick(struct packer *packer, int64_t now);
void confirm_lost(void *with, struct node *node);

#endif
#endif
