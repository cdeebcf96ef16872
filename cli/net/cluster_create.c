/* SPDX-License-Identifier: MIT */
/* cluster_create.c: `tamis cluster create`, all shards of a filter or none. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS
#include "tamis_parts.h"

#include <stdlib.h>

/* A shard is moved, copied and saved in one piece: this is a good size for that. */
static const uint64_t usual_shard = (uint64_t)32 << 20;

/* So many for each primary at least: they lie evenly, and there is something to give to a node that
 * joins later. */
enum { SHARDS_EACH = 8 };

/* ==== The spec ============================================================================== */

/* With a keyed hash unless it names one. */
static int whole_spec(const struct args *args, const char *spec, char text[SPEC_ROOM]) {
    if (spec_has(spec, "key"))
        return fail(args, NULL, "key= is not allowed for clusters: the shards store the secret");
    const size_t len = spec_has(spec, "hash")
                           ? (size_t)snprintf(text, SPEC_ROOM, "%s", spec)
                           : tamis_spec_set(spec, "hash", "sip13", text, SPEC_ROOM);
    if (len == 0) return fail_why(args, NULL, TAMIS_INVALID);
    return len < SPEC_ROOM ? 0 : fail(args, NULL, "the spec is too long");
}

int shards_wanted(struct net *net, const char *spec, uint64_t *n) {
    const struct args *args = net->args;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    struct node *node[MAX_NODES];
    const uint64_t primaries = list_primaries(net, node);
    if (check_status(args, NULL, tamis_plan_spec(spec, &plan))) return EXIT_TROUBLE;
    const uint64_t blocks = plan.word[0] ? plan.word[0] : 1;
    const uint64_t by_size = (plan.payload_bytes + usual_shard - 1) / usual_shard;
    const uint64_t by_nodes = SHARDS_EACH * primaries < blocks ? SHARDS_EACH * primaries : 1;
    *n = by_size > by_nodes ? by_size : by_nodes;
    if (*n > SLOTS) *n = SLOTS;
    if (!given(args, OPT_SHARDS)) return 0;
    *n = args->setting[OPT_SHARDS].number;
    if (*n >= 1 && *n <= SLOTS) return 0;
    return fail(args, "--shards", "out of range (allowed: 1 to %d, one for each slot)", SLOTS);
}

static int make_model(struct shards *shards, uint64_t n, const char *spec) {
    const struct args *args = shards->args;
    char text[SPEC_ROOM];
    const size_t len = tamis_shard_spec(spec, 0, n, text, sizeof text);
    if (len == 0) return fail_why(args, NULL, TAMIS_INVALID);
    if (len >= sizeof text) return fail(args, NULL, "the spec is too long");
    int code = shards_model(shards, text, n, args->has_secret ? args->secret : NULL);
    if (!code) code = set_notes(args, shards->model);
    return code ? code : form_record(args, shards->model, NULL);
}

/* ==== Making ================================================================================ */

/* Words of the command for one shard: its key, spec, secret and notes. */
enum { MAX_NOTES = 64, MAX_WORDS = 5 + 3 * MAX_NOTES };

int shard_create_call(const struct shards *shards, struct call *call, uint64_t shard) {
    const struct shard_key key = shard_key(shards, shard);
    const char *word[MAX_WORDS];
    size_t len[MAX_WORDS];
    uint8_t secret[SECRET_BYTES];
    char spec[SPEC_ROOM], hashed[SPEC_ROOM];
    int n = 0;
    if (spec_of_shard(shards, shard, spec)) return EXIT_TROUBLE;
    /* A server gives a keyed hash to what names none, and specs leave out what is usual here. */
    const bool has_hash = spec_has(spec, "hash");
    if (!has_hash) tamis_spec_set(spec, "hash", "xxh3", hashed, sizeof hashed);
    word[n++] = "TAMIS.CREATE";
    word[n++] = key.text;
    word[n++] = has_hash ? spec : hashed;
    const bool has_secret = tamis_secret(shards->model, secret);
    if (has_secret) {
        word[n++] = "SECRET";
        word[n++] = (const char *)secret;
    }
    for (size_t i = 0; i < MAX_NOTES; i++) {
        const char *name, *value;
        if (!tamis_note_at(shards->model, i, &name, &value)) break;
        word[n++] = "NOTE";
        word[n++] = name;
        word[n++] = value;
    }
    for (int i = 0; i < n; i++) len[i] = has_secret && i == 4 ? SECRET_BYTES : strlen(word[i]);
    return call_make(call, NULL, n, word, len) ? 0 : fail_memory(shards->args);
}

/* After a connection broke, the first try may have succeeded, and the second finds its work
 * done. */
static bool was_made_before(const struct shards *shards, const struct call *call, uint64_t shard) {
    struct call asked;
    uint8_t secret[SECRET_BYTES];
    if (call->request.tries == 0 || !tamis_secret(shards->model, secret)) return false;
    if (shard_call(shards, &asked, shard, "TAMIS.SECRET")) return false;
    const bool is_ours = has_our_secret(shards, asked.request.reply);
    call_free(&asked);
    return is_ours;
}

static void take_back(const struct shards *shards, const bool *is_made) {
    for (uint64_t i = 0; i < shards->n; i++) {
        struct call call;
        if (!is_made[i] || shard_call(shards, &call, i, "DEL")) continue;
        if (call_trouble(&call))
            warn(shards->args, NULL, "%s could not be removed again: %s",
                 shard_title(shards, i).text, call_trouble(&call));
        call_free(&call);
    }
}

/* Looks at the answers; one failure is enough to take all back. */
static int judge(const struct shards *shards, struct call *call, bool *is_made) {
    int code = 0;
    for (uint64_t i = 0; i < shards->n; i++) {
        const char *trouble = call_trouble(&call[i]);
        is_made[i] = !trouble || was_made_before(shards, &call[i], i);
        if (!is_made[i] && !code)
            code = fail(shards->args, shards->name, "%s: %s", shard_title(shards, i).text, trouble);
    }
    if (code) take_back(shards, is_made);
    return code;
}

static int make_all(const struct shards *shards) {
    const size_t n = (size_t)shards->n;
    struct call *call = calloc(n, sizeof *call);
    bool *is_made = calloc(n, sizeof *is_made);
    int code = call && is_made ? 0 : fail_memory(shards->args);
    size_t made = 0;
    while (!code && made < n) {
        code = shard_create_call(shards, &call[made], made);
        if (!code) made++;
    }
    if (!code) {
        calls_run(shards->net, call, n);
        code = judge(shards, call, is_made);
    }
    for (size_t i = 0; i < made; i++) call_free(&call[i]);
    free(call);
    free(is_made);
    return code;
}

/* Nothing of that name may be there: neither a filter nor what is left of one. */
static int is_new(const struct shards *shards) {
    struct call *call = calloc((size_t)shards->n, sizeof *call);
    int code = call && shards_call(shards, call, "EXISTS") ? 0 : fail_memory(shards->args);
    for (uint64_t i = 0; call && i < shards->n; i++) {
        const redisReply *reply = call[i].request.reply;
        const char *trouble = call_trouble(&call[i]);
        if (!code && trouble)
            code = fail(shards->args, shards->name, "%s: %s", shard_title(shards, i).text, trouble);
        if (!code && reply->type == REDIS_REPLY_INTEGER && reply->integer != 0)
            code =
                fail(shards->args, shards->name, "already exists: %s", shard_key(shards, i).text);
        call_free(&call[i]);
    }
    free(call);
    return code;
}

static void tell(const struct shards *shards) {
    if (given(shards->args, OPT_QUIET)) return;
    struct node *node[MAX_NODES];
    const size_t primaries = list_primaries(shards->net, node);
    const struct tamis_info info = info_of(shards->model);
    fprintf(stderr, "%s: %s of %s on %s; %s keys at %s\n", shards->name,
            human_number(shards->n, "shard").text, human_bytes(info.payload_bytes).text,
            human_number(primaries, "node").text, human_count(info.capacity).text,
            human_rate(info.fpr_asked ? info.fpr_asked : info.fpr_expected).text);
}

int cluster_create(const struct args *args) {
    struct net net;
    struct shards shards;
    char spec[SPEC_ROOM];
    uint64_t n = 0;
    int code = shards_name(&shards, args, &net);
    if (!code) code = whole_spec(args, args->operand[2], spec);
    if (!code) code = shards_wanted(&net, spec, &n);
    if (!code) code = make_model(&shards, n, spec);
    if (!code) code = primaries_are_fit(&net);
    if (!code) code = is_new(&shards);
    if (!code) code = make_all(&shards);
    if (!code) shards_confirm(&shards);
    if (!code) tell(&shards);
    shards_close(&shards);
    return code;
}
#endif
