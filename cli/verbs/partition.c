/* SPDX-License-Identifier: MIT */
/* partition.c: `tamis partition`, which shard has which key: the map side of a shuffle. */
#include "cli/images/shards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Lines: SHARD TAB LINE ---- */

enum { SOME = 1024 };

/* On any thread. */
static void find_and_print(void *with, struct batch *batch) {
    const struct router *router = with;
    uint32_t shard[SOME];
    for (size_t i = 0; i < batch->n; i++) {
        if (i % SOME == 0)
            router_find(router, batch->hash + i, batch->n - i < SOME ? batch->n - i : SOME, shard);
        text_count(&batch->out, shard[i % SOME]);
        text_byte(&batch->out, '\t');
        print_line(batch, i);
    }
}

static int nothing_more(void *with, struct batch *batch) {
    (void)with, (void)batch;
    return 0;
}

/* ---- Packed hashes: a file for each shard ---- */

/* Each shard has a little room; when it is full, its file gets longer. No file stays open, so that
 * there may be more of them than a process may have open.
 *
 * Files are 7.hashes.part, and become 7.hashes when all are on disk. Until they have, the directory
 * has a mark, which is locked as long as its writer lives: the next run takes over what one that
 * was interrupted left, and nothing else. */
struct spread {
    const struct args *args;
    const struct router *router;
    const char *dir_path;
    int mark;       /* -1: the directory is not ours */
    bool keeps_dir; /* it was there, and empty */
    uint8_t *room;  /* `each` hashes for each shard ... */
    uint32_t *held; /* ... and how many there are */
    uint64_t each, hashes;
};

static const char mark_name[] = ".unfinished", whole_end[] = ".hashes", part_end[] = ".hashes.part";

/* ---- The directory and its mark ---- */

static int path_in(const struct spread *spread, const char *name, char path[PATH_MAX]) {
    const int len = snprintf(path, PATH_MAX, "%s/%s", spread->dir_path, name);
    return len < PATH_MAX ? 0 : fail(spread->args, spread->dir_path, "the name is too long");
}

static bool is_ours(const char *name) {
    const char *end = name + strspn(name, "0123456789");
    return end > name && (strcmp(end, whole_end) == 0 || strcmp(end, part_end) == 0);
}

/* Whether the directory has such a name; one that cannot be listed is not empty. */
static bool has_name(const struct spread *spread,
                     bool is_such(const struct spread *, const char *)) {
    DIR *dir = opendir(spread->dir_path);
    bool is_there = !dir;
    for (const struct dirent *entry; !is_there && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        is_there = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && is_such(spread, name);
    }
    if (dir) closedir(dir);
    return is_there;
}

static bool is_any(const struct spread *spread, const char *name) {
    (void)spread, (void)name;
    return true;
}

/* Removes what is ours; whether it is still there. */
static bool stays(const struct spread *spread, const char *name) {
    char path[PATH_MAX];
    return is_ours(name) && (path_in(spread, name, path) || unlink(path) < 0);
}

static int tidy(const struct spread *spread) {
    if (!has_name(spread, stays)) return 0;
    return fail(spread->args, spread->dir_path, "cannot remove what an earlier run left: %s",
                strerror(errno));
}

static int refuse_dir(const struct spread *spread) {
    return fail(spread->args, spread->dir_path, "cannot create a directory: %s", strerror(EEXIST));
}

/* Makes the mark, or finds that of a run that was interrupted. The name of a mark that its writer
 * has removed since we opened it leads nowhere: that run has ended well. */
static int take_mark(struct spread *spread, int flags) {
    char path[PATH_MAX];
    struct stat status;
    if (path_in(spread, mark_name, path)) return EXIT_TROUBLE;
    spread->mark = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0666);
    if (spread->mark < 0 && (errno == ENOENT || errno == ENOTDIR)) return refuse_dir(spread);
    if (spread->mark < 0) return fail(spread->args, path, "cannot open: %s", strerror(errno));
    const bool is_held = flock(spread->mark, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (!is_held && fstat(spread->mark, &status) == 0 && status.st_nlink > 0) return 0;
    close(spread->mark);
    spread->mark = -1;
    return is_held ? fail(spread->args, spread->dir_path, "another process is writing there")
                   : refuse_dir(spread);
}

/* An empty directory is as good as a new one, and may be all that a run left. What is in another
 * would be taken for hashes of this run. The mark is on disk before any file. */
static int take_dir(struct spread *spread) {
    const bool is_new = mkdir(spread->dir_path, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return fail(spread->args, spread->dir_path, "cannot create a directory: %s",
                    strerror(errno));
    const bool is_empty = is_new || !has_name(spread, is_any);
    spread->keeps_dir = is_empty && !is_new;
    int code = take_mark(spread, is_empty ? O_CREAT : 0);
    if (!code) code = tidy(spread);
    return code ? code : dir_flush(spread->args, spread->dir_path);
}

/* Behind the last file that got its name; or after a failure, when nothing of the run may stay. */
static int drop_mark(const struct spread *spread, bool is_good) {
    char path[PATH_MAX];
    int code = is_good ? dir_flush(spread->args, spread->dir_path) : tidy(spread);
    if (!code) code = path_in(spread, mark_name, path);
    if (!code && unlink(path) < 0)
        code = fail(spread->args, path, "cannot remove: %s", strerror(errno));
    if (!code && is_good) code = dir_flush(spread->args, spread->dir_path);
    if (!code && !is_good && !spread->keeps_dir) rmdir(spread->dir_path);
    close(spread->mark);
    return code;
}

/* ---- Their files ---- */

static int path_of(const struct spread *spread, uint64_t shard, const char *end,
                   char path[PATH_MAX]) {
    char name[64];
    snprintf(name, sizeof name, "%0*" PRIu64 "%s", shard_digits(spread->router->shards), shard,
             end);
    return path_in(spread, name, path);
}

/* What was said to be done must not be short of keys after a power loss: the last time it is
 * flushed. */
static int append_to(const struct spread *spread, uint64_t shard, bool is_last) {
    char path[PATH_MAX];
    const size_t size = (size_t)spread->held[shard] * 8;
    if (path_of(spread, shard, part_end, path)) return EXIT_TROUBLE;
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return fail(spread->args, path, "cannot open: %s", strerror(errno));
    bool is_good = write_all(fd, spread->room + shard * spread->each * 8, size);
    is_good = is_good && (!is_last || fsync(fd) == 0);
    const int why = errno;
    is_good = close(fd) == 0 && is_good;
    spread->held[shard] = 0;
    return is_good ? 0 : fail(spread->args, path, "cannot write: %s", strerror(why));
}

static int name_file(const struct spread *spread, uint64_t shard) {
    char part[PATH_MAX], whole[PATH_MAX];
    if (path_of(spread, shard, part_end, part) || path_of(spread, shard, whole_end, whole))
        return EXIT_TROUBLE;
    if (rename(part, whole) == 0) return 0;
    return fail(spread->args, whole, "cannot rename to it: %s", strerror(errno));
}

static int spread_hash(struct spread *spread, uint64_t hash, uint32_t shard) {
    uint8_t *at = spread->room + (shard * spread->each + spread->held[shard]) * 8;
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(hash >> 8 * i);
    return ++spread->held[shard] == spread->each ? append_to(spread, shard, false) : 0;
}

static int spread_batch(void *with, struct batch *batch) {
    struct spread *spread = with;
    uint32_t shard[SOME];
    int code = 0;
    for (size_t i = 0; i < batch->n && !code; i++) {
        if (i % SOME == 0)
            router_find(spread->router, batch->hash + i, batch->n - i < SOME ? batch->n - i : SOME,
                        shard);
        code = spread_hash(spread, batch->hash[i], shard[i % SOME]);
    }
    spread->hashes += batch->n;
    return code;
}

/* Every shard has its file, also one without keys: what is missing is missing by mistake. */
static int spread_end(struct spread *spread) {
    int code = 0;
    for (uint64_t i = 0; i < spread->router->shards && !code; i++)
        code = append_to(spread, i, true);
    for (uint64_t i = 0; i < spread->router->shards && !code; i++) code = name_file(spread, i);
    return code;
}

static int spread_open(struct spread *spread) {
    const uint64_t usual_bytes = 64 << 20, min = 16, max = 8192;
    const uint64_t shards = spread->router->shards, share = usual_bytes / 8 / shards;
    spread->each = share < min ? min : share > max ? max : share;
    spread->room = malloc((size_t)(shards * spread->each * 8));
    spread->held = calloc((size_t)shards, sizeof *spread->held);
    if (!spread->room || !spread->held) return fail_memory(spread->args);
    return take_dir(spread);
}

static int partition_packed(const struct args *args, const struct router *router,
                            struct keys *keys) {
    struct spread spread = {.args = args, .router = router, .mark = -1};
    const struct handler handler = {.take = spread_batch, .with = &spread};
    spread.dir_path = args->setting[OPT_OUTPUT].text;
    keys->several.use = ADDS_SEVERAL;
    keys->several.is_empty = true; /* a shard answers maybe about keys of others */
    int code = spread_open(&spread);
    if (!code) code = keys_run(keys, &handler);
    if (!code) code = spread_end(&spread);
    if (spread.mark >= 0 && drop_mark(&spread, !code)) code = EXIT_TROUBLE;
    if (!code && !given(args, OPT_QUIET))
        fprintf(stderr, "%s: %s hashes for %s shards\n", spread.dir_path,
                human_count(spread.hashes).text, human_count(router->shards).text);
    free(spread.room);
    free(spread.held);
    return code;
}

/* ---- The verb ---- */

static int check_options(const struct args *args) {
    if (given(args, OPT_PACKED) == given(args, OPT_OUTPUT)) return 0;
    return fail(args, NULL,
                given(args, OPT_PACKED) ? "--packed writes a file for each shard: give --output DIR"
                                        : "--output needs --packed; lines go to standard output");
}

static int run(const struct args *args) {
    struct router router = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 0);
    if (!code) code = check_options(args);
    char *spec = code ? NULL : spec_given(args, NULL);
    spec_share_rate(args, &spec); /* as "build --shard" does, which has the same shards then */
    if (!code && !spec) code = EXIT_TROUBLE;
    if (!code) code = router_open(&router, args, spec, args->setting[OPT_SHARDS].number);
    keys_hash_by(&keys, router.filter);
    const struct handler lines = {
        .ask = find_and_print, .take = nothing_more, .with = (void *)&router};
    if (!code && given(args, OPT_PACKED))
        code = partition_packed(args, &router, &keys);
    else if (!code)
        code = keys_run(&keys, &lines);
    router_close(&router);
    keys_close(&keys);
    free(spec);
    return code;
}

/* clang-format off */

const struct verb verb_partition = {
    .name = "partition",
    .also = "route shuffle",
    .summary = "print each key's shard",
    .run = run,
    .operands = OPERANDS({"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_SHARDS, .is_required = true},
                 {.option = OPT_SPEC, .help = "specification of the whole filter: "
                                              "split:capacity=100M,fpr=1%"},
                 {.option = OPT_KIND}, {.option = OPT_CAPACITY}, {.option = OPT_FPR},
                 {.option = OPT_SIZE}, {.option = OPT_HASH}, {.option = OPT_SEED},
                 {.option = OPT_SECRET_FILE},
                 {.option = OPT_PACKED, .help = "write hashes instead, one file per shard"},
                 {.option = OPT_OUTPUT, .help = "new directory for these files"},
                 KEY_OPTIONS, THREADS_OPTION),
    .examples =
        EXAMPLES({"Print each line after the number of its shard and a tab",
                  "tamis partition keys.txt --spec split:capacity=1G --shards 24"},
                 {"Write 8 bytes per key, into one file for each of 24 machines",
                  "tamis partition keys.txt --spec split:capacity=1G --shards 24 --packed -o out"},
                 {"Read such a file on one of them",
                  "tamis build 3.tamis out/03.hashes --packed -s split:capacity=1G --shard 3/24"}),
    .about = "Prints every line after the number of its key's shard, from 0, and a tab. An engine "
             "that shuffles, such as Spark or Hadoop, uses it to send the line to the task that "
             "builds this shard (tamis build --shard I/N, with the same spec; --field 2- drops "
             "the number again). It takes almost no memory, however large the filter is.\n\n"
             "With --packed, the hashes of the keys, 8 little-endian bytes each, go to one file "
             "per shard in a new directory: 0.hashes, 1.hashes, ... with as many digits as the "
             "last one needs. Shards without keys get an empty file. Files are named "
             "0.hashes.part, ... until all are on disk; the next run takes over what an "
             "interrupted one left in the directory.",
};
