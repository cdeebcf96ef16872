/* SPDX-License-Identifier: MIT */
/* shards.c: which part of a filter a hash belongs to, and hashes in files. */
#include "cli/images/shards.h"
#include "tamis_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char note_read[] = "shard.read", note_skipped[] = "shard.skipped";

int shard_parse(const struct args *args, const char *text, uint64_t *shard, uint64_t *shards) {
    char first[32];
    const char *slash = strchr(text, '/');
    const size_t len = slash ? (size_t)(slash - text) : 0;
    if (len > 0 && len < sizeof first) {
        snprintf(first, sizeof first, "%.*s", (int)len, text);
        if (tamis_parse_count(first, shard) && tamis_parse_count(slash + 1, shards)) {
            if (*shard < *shards) return 0;
            return fail(args, "--shard", "%s: shards are counted from 0: 0/N to N-1/N", text);
        }
    }
    return fail(args, "--shard", "'%s' should be I/N: 3/24 is shard 3 of 24, counted from 0", text);
}

char *shard_spec(const struct args *args, const char *spec, uint64_t shard, uint64_t shards) {
    if (!spec_fixes_capacity(spec)) {
        fail(args, NULL,
             "a shard cannot count the keys of the whole: give the total capacity, e.g. "
             "--capacity 100M");
        return NULL;
    }
    const size_t size = tamis_shard_spec(spec, shard, shards, NULL, 0) + 1;
    char *text = size > 1 ? malloc(size) : NULL;
    if (text)
        tamis_shard_spec(spec, shard, shards, text, size);
    else if (size > 1)
        fail_memory(args);
    else
        fail_why(args, NULL, TAMIS_INVALID);
    return text;
}

int shard_has_secret(const struct args *args, const tamis *filter) {
    const struct tamis_info info = info_of(filter);
    if (strcmp(info.key_place, "none") == 0 || args->has_secret) return 0;
    return fail(args, NULL, "a keyed hash needs a secret that all shards have: --secret-file FILE");
}

int shard_digits(uint64_t shards) {
    return snprintf(NULL, 0, "%llu", (unsigned long long)shards - 1);
}

/* ---- Routing ---- */

/* Cut k times as finely, the whole has cuts wherever it has them now: floor(k i T / k n) is
 * floor(i T / n). So the shard of n is the finer one divided by k, and that takes little memory. */
static uint64_t times_finer(const struct tamis_plan *plan, uint64_t shards) {
    const uint64_t enough_bytes = 1 << 16;
    const uint64_t finer = plan->payload_bytes / enough_bytes + 1;
    const uint64_t max = UINT32_MAX / shards;
    return finer < max ? finer : max;
}

int router_open(struct router *router, const struct args *args, const char *spec, uint64_t shards) {
    const struct tamis_options options = image_options(args);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    *router = (struct router){.shards = shards};
    char *whole = shard_spec(args, spec, 0, shards), *fine = NULL;
    int code = whole ? 0 : EXIT_TROUBLE;
    if (!code && tamis_plan_spec(whole, &plan)) code = fail_why(args, NULL, TAMIS_INVALID);
    if (!code) {
        router->finer = times_finer(&plan, shards);
        fine = shard_spec(args, spec, 0, shards * router->finer);
        code = fine ? 0 : EXIT_TROUBLE;
    }
    if (!code) code = check_status(args, NULL, tamis_create_with(&router->filter, fine, &options));
    free(whole);
    free(fine);
    return code ? code : shard_has_secret(args, router->filter);
}

void router_find(const struct router *router, const uint64_t *hashes, size_t n, uint32_t *shards) {
    tamis_shards_of(router->filter, hashes, n, shards);
    for (size_t i = 0; i < n; i++) shards[i] /= (uint32_t)router->finer;
}

void router_close(struct router *router) {
    tamis_free(router->filter);
}

/* ---- Hashes in files ---- */

enum { CHUNK = 1 << 14 }; /* hashes at a time */

int packed_alone(const struct args *args) {
    const char *about_lines =
        FIRST_GIVEN(args, OPT_NULL, OPT_FIELD, OPT_DELIMITER, OPT_CSV, OPT_JSONL, OPT_WHITESPACE,
                    OPT_HEADER, OPT_COMMENT, OPT_SKIP_EMPTY, OPT_KEEP_EMPTY, OPT_DECOMPRESS);
    if (!about_lines) return 0;
    return fail(args, NULL, "--packed and --%s cannot be combined: hashes have no lines",
                about_lines);
}

static int run_file(const struct args *args, const char *name, int fd, take_hashes *take,
                    void *with) {
    static uint8_t bytes[CHUNK * 8];
    static uint64_t hashes[CHUNK];
    int code = 0;
    for (ssize_t len = sizeof bytes; !code && len == sizeof bytes;) {
        len = read_full(fd, bytes, sizeof bytes);
        if (len < 0) return fail(args, name, "cannot read: %s", strerror(errno));
        const size_t n = (size_t)len / 8;
        for (size_t i = 0; i < n; i++) hashes[i] = get_number(bytes + 8 * i, 8);
        if (n) code = take(with, hashes, n);
        if (!code && len % 8) code = fail(args, name, "ends in the middle of an 8-byte hash");
    }
    return code;
}

int packed_run(const struct args *args, size_t skip, take_hashes *take, void *with) {
    const size_t named = args->operand_count - skip;
    int code = 0;
    for (size_t i = 0; i < (named ? named : 1) && !code; i++) {
        const char *name = named ? args->operand[skip + i] : "-";
        const int fd = is_dash(name) ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0) return fail(args, name, "cannot open: %s", strerror(errno));
        code = run_file(args, input_name(name), fd, take, with);
        if (fd != STDIN_FILENO) close(fd);
    }
    return code;
}
