/* SPDX-License-Identifier: MIT */
/* build_shard.c: `tamis build --shard`, one shard of a filter that many machines build.
 *
 * The keys that belong to it go in, the others are counted. The counts are notes of the image
 * itself, so that repeating the work, or doing it twice at the same time, replaces
 * both at once. */
#include "cli/images/shards.h"
#include "tamis_engine.h"
#include "tamis_parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_AT_ONCE = 1 << 14 };

struct making {
    const struct args *args;
    tamis *filter;
    uint64_t shard, shards;
    uint64_t read, kept;
};

static int take(void *with, const uint64_t *hashes, size_t n) {
    struct making *making = with;
    uint64_t mine[MAX_AT_ONCE];
    uint32_t shards[MAX_AT_ONCE];
    for (size_t from = 0, m; from < n; from += m) {
        size_t kept = 0;
        m = n - from < MAX_AT_ONCE ? n - from : MAX_AT_ONCE;
        tamis_shards_of(making->filter, hashes + from, m, shards);
        for (size_t i = 0; i < m; i++)
            if (shards[i] == making->shard) mine[kept++] = hashes[from + i];
        const tamis_status status = tamis_add_hashes(making->filter, mine, kept);
        if (status) return fail_why(making->args, NULL, status);
        making->read += m;
        making->kept += kept;
    }
    return 0;
}

static bool is_mine(const struct making *making, uint64_t hash) {
    return tamis_shard_of(making->filter, hash) == making->shard;
}

static int take_batch(void *with, struct batch *batch) {
    struct making *making = with;
    for (size_t i = 0; given(making->args, OPT_STRICT) && i < batch->n; i++)
        if (!is_mine(making, batch->hash[i]))
            return fail_line(batch, i, "the key belongs to shard %" PRIu64 " of %" PRIu64,
                             tamis_shard_of(making->filter, batch->hash[i]), making->shards);
    return take(with, batch->hash, batch->n);
}

static int take_packed(void *with, const uint64_t *hashes, size_t n) {
    struct making *making = with;
    for (size_t i = 0; given(making->args, OPT_STRICT) && i < n; i++)
        if (!is_mine(making, hashes[i]))
            return fail(making->args, NULL,
                        "hash %" PRIu64 " of them belongs to shard %" PRIu64 " of %" PRIu64,
                        making->read + i + 1, tamis_shard_of(making->filter, hashes[i]),
                        making->shards);
    return take(with, hashes, n);
}

static int read_keys(struct making *making) {
    if (given(making->args, OPT_PACKED)) return packed_run(making->args, 1, take_packed, making);
    const struct handler handler = {.take = take_batch, .with = making};
    struct keys keys;
    int code = keys_open(&keys, making->args, 1);
    keys_hash_by(&keys, making->filter);
    /* A mark is of another shard than the keys that it is for. */
    if (!given(making->args, OPT_STRICT)) keys.several.use = ADDS_SEVERAL;
    keys.threads = threads_wanted(making->args);
    if (!code) code = keys_run(&keys, &handler);
    keys_close(&keys);
    return code;
}

static int note_count(const struct making *making, const char *name, uint64_t count) {
    return check_status(making->args, NULL,
                        tamis_set_note(making->filter, name, human_digits(count).text));
}

static void tell(const struct making *making, const char *path) {
    const uint64_t skipped = making->read - making->kept;
    if (given(making->args, OPT_QUIET)) return;
    fprintf(stderr, "%s: shard %" PRIu64 " of %" PRIu64 ", %s of %s", output_name(path),
            making->shard, making->shards, human_number(making->kept, "key").text,
            human_count(making->read).text);
    if (skipped) fprintf(stderr, ", %s of other shards skipped", human_count(skipped).text);
    fprintf(stderr, ", %s\n", human_bytes(tamis_image_size(making->filter)).text);
}

static int check_options(const struct args *args) {
    const char *other = FIRST_GIVEN(args, OPT_VALUES, OPT_LABEL, OPT_EXCLUDE, OPT_VERIFY, OPT_JSON);
    if (other) return fail(args, NULL, "--shard and --%s cannot be combined", other);
    return given(args, OPT_PACKED) ? packed_alone(args) : 0;
}

int build_shard(const struct args *args, const char *spec) {
    const struct tamis_options options = image_options(args);
    const char *path = args->operand[0];
    struct making making = {.args = args};
    char *own = NULL;
    int code = check_options(args);
    if (!code)
        code = shard_parse(args, args->setting[OPT_SHARD].text, &making.shard, &making.shards);
    if (!code) code = image_may_write(args, path);
    if (!code) own = shard_spec(args, spec, making.shard, making.shards);
    if (!code && !own) code = EXIT_TROUBLE;
    if (!code) code = check_status(args, NULL, tamis_create_with(&making.filter, own, &options));
    if (!code) code = shard_has_secret(args, making.filter);
    if (!code) code = set_notes(args, making.filter);
    if (!code) code = form_record(args, making.filter, NULL);
    if (!code) code = read_keys(&making);
    if (!code) code = note_count(&making, note_read, making.read);
    if (!code) code = note_count(&making, note_skipped, making.read - making.kept);
    if (!code) code = image_write(args, making.filter, path);
    if (!code) tell(&making, path);
    tamis_free(making.filter);
    free(own);
    return code;
}
