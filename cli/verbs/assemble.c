/* SPDX-License-Identifier: MIT */
/* assemble.c: `tamis assemble`, shards to the image of the whole, and what is there of them. */
#include "cli/images/shards.h"
#include "tamis_engine.h"
#include "tamis_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The set ---- */

struct piece {
    const char *path; /* NULL: missing */
    uint64_t items, bytes, sum;
    char *read, *skipped; /* notes of who made it; NULL: not known */
};

struct set {
    const struct args *args;
    struct tamis_shard_info first; /* of the first image ... */
    struct tamis_info facts;
    char spec[512]; /* ... and of the whole */
    struct piece *piece;
    uint64_t here;     /* pieces that are not missing ... */
    uint64_t items;    /* ... and what is in them */
    struct image open; /* the one that is being written */
};

/* What two shards of one whole have in common. */
static const char *difference(const struct set *set, const struct tamis_info *facts,
                              const struct tamis_shard_info *info) {
    if (info->shards != set->first.shards) return "the number of shards";
    if (strcmp(info->layout, set->first.layout) != 0) return "the layout";
    if (info->total_blocks != set->first.total_blocks) return "the total size";
    if (facts->word[1] != set->facts.word[1]) return "how bits are chosen";
    if (facts->capacity != set->facts.capacity) return "the capacity";
    if (facts->fpr_asked < set->facts.fpr_asked || facts->fpr_asked > set->facts.fpr_asked)
        return "the rate";
    if (strcmp(facts->hash, set->facts.hash) != 0 || facts->seed != set->facts.seed)
        return "the hash or its seed";
    if (facts->key_id != set->facts.key_id || strcmp(facts->key_place, set->facts.key_place) != 0)
        return "the secret";
    return NULL;
}

/* The spec of a shard becomes that of the whole: another kind, and without the cut. */
static void write_spec(struct set *set, const tamis *filter) {
    struct tamis_spec_option option = TAMIS_SPEC_OPTION_INIT;
    char spec[512];
    tamis_spec(filter, spec, sizeof spec);
    size_t len = (size_t)snprintf(set->spec, sizeof set->spec, "%s", set->first.layout);
    char between = ':';
    for (size_t i = 0; !tamis_spec_read(spec, i, &option) && *option.name; i++) {
        const bool is_cut = strcmp(option.name, "layout") == 0 ||
                            strcmp(option.name, "shard") == 0 || strcmp(option.name, "shards") == 0;
        if (is_cut || len >= sizeof set->spec) continue;
        len += (size_t)snprintf(set->spec + len, sizeof set->spec - len, "%c%s=%s", between,
                                option.name, option.value);
        between = ',';
    }
}

static int begin(struct set *set, const tamis *filter, const struct tamis_shard_info *info) {
    set->first = *info;
    set->facts = info_of(filter);
    write_spec(set, filter);
    set->piece = calloc((size_t)info->shards, sizeof *set->piece);
    return set->piece ? 0 : fail_memory(set->args);
}

/* As `xxhsum -H3` has it. */
static int sum_up(struct set *set, struct piece *piece) {
    struct bytes bytes;
    tamis *hasher = NULL;
    int code = bytes_open(&bytes, set->args, piece->path);
    if (!code && tamis_create(&hasher, "blocked:capacity=1")) code = fail_memory(set->args);
    if (!code) piece->sum = tamis_hash(hasher, bytes.at, bytes.size);
    tamis_free(hasher);
    bytes_close(&bytes);
    return code;
}

static char *copy_note(const tamis *filter, const char *name) {
    const char *value = tamis_note(filter, name);
    return value ? strdup(value) : NULL;
}

static int take(struct set *set, const struct image *image) {
    struct tamis_shard_info info = TAMIS_SHARD_INFO_INIT;
    const struct tamis_info facts = info_of(image->filter);
    if (!tamis_shard_get_info(image->filter, &info))
        return fail(set->args, image->path, "is not a shard: its kind is %s", facts.kind);
    if (!set->piece && begin(set, image->filter, &info)) return EXIT_TROUBLE;
    const char *differs = difference(set, &facts, &info);
    if (differs)
        return fail(set->args, image->path, "belongs to another filter than %s: %s differs",
                    set->args->operand[0], differs);
    struct piece *piece = &set->piece[info.shard];
    if (piece->path)
        return fail(set->args, image->path, "is shard %" PRIu64 ", as %s is", info.shard,
                    piece->path);
    *piece = (struct piece){.path = image->path,
                            .items = facts.items,
                            .bytes = facts.stored_bytes,
                            .read = copy_note(image->filter, note_read),
                            .skipped = copy_note(image->filter, note_skipped)};
    set->here++;
    set->items += facts.items;
    return given(set->args, OPT_JSON) ? sum_up(set, piece) : 0;
}

/* Every image is looked at, so that all that is wrong is told at once. */
static int take_all(struct set *set) {
    int worst = 0;
    for (size_t i = 0; i < set->args->operand_count; i++) {
        struct image image;
        int code = image_open(&image, set->args, set->args->operand[i], TO_ASK);
        if (!code) code = take(set, &image);
        if (code) worst = code;
        image_close(&image);
    }
    return worst;
}

/* ---- What is missing ---- */

/* "3, 7-9 and 12 more": runs of numbers, as many as fit. */
static void list_missing(const struct set *set, char *text, size_t size) {
    const size_t enough = size - 64;
    size_t len = 0;
    uint64_t listed = 0;
    const uint64_t missing = set->first.shards - set->here;
    for (uint64_t i = 0; i < set->first.shards && len < enough; i++) {
        if (set->piece[i].path) continue;
        const uint64_t from = i;
        while (i + 1 < set->first.shards && !set->piece[i + 1].path) i++;
        len += (size_t)snprintf(text + len, size - len, "%s%" PRIu64, len ? ", " : "", from);
        if (i > from) len += (size_t)snprintf(text + len, size - len, "-%" PRIu64, i);
        listed += i - from + 1;
    }
    if (listed < missing)
        snprintf(text + len, size - len, " and %" PRIu64 " more", missing - listed);
}

static int fail_incomplete(const struct set *set) {
    char missing[400];
    list_missing(set, missing, sizeof missing);
    const uint64_t count = set->first.shards - set->here;
    return fail(set->args, NULL, "%s of %s shards %s missing: %s", human_count(count).text,
                human_count(set->first.shards).text, count == 1 ? "is" : "are", missing);
}

/* ---- Writing ---- */

static const tamis *next_shard(void *ctx, uint64_t shard) {
    struct set *set = ctx;
    image_close(&set->open);
    if (is_stopped() || image_open(&set->open, set->args, set->piece[shard].path, TO_ASK))
        return NULL;
    progress_show("assembling", shard, set->first.shards);
    return set->open.filter;
}

static int write_whole(struct set *set) {
    const char *path = set->args->setting[OPT_OUTPUT].text;
    tamis_edit *edit;
    const int code = file_hold(&edit, set->args, path, HOLD_TO_WRITE, TAMIS_READERS_USUAL);
    if (code) return code;
    catch_signals();
    const tamis_status status = tamis_edit_join(edit, next_shard, set);
    uncatch_signals();
    tamis_edit_close(edit);
    progress_wipe();
    image_close(&set->open);
    if (is_stopped() || status == TAMIS_CANCELLED) return EXIT_TROUBLE; /* told already */
    return check_status(set->args, path, status);
}

/* ---- What is said ---- */

static void write_number_note(struct json *json, const char *name, const char *text) {
    uint64_t count = 0;
    const bool is_known = text && tamis_parse_count(text, &count);
    json_count_if(json, name, is_known, count);
}

static void write_piece(struct json *json, const struct set *set, uint64_t i) {
    const struct piece *piece = &set->piece[i];
    const struct human sum = human_words("%016" PRIx64, piece->sum);
    json_open(json, NULL, '{');
    json_count(json, "shard", i);
    json_text(json, "file", piece->path);
    json_count(json, "stored_bytes", piece->bytes);
    json_text(json, "xxh3", piece->path ? sum.text : NULL);
    json_count(json, "items", piece->items);
    write_number_note(json, "read", piece->read);
    write_number_note(json, "skipped", piece->skipped);
    json_close(json, '}');
}

static void write_json(const struct set *set) {
    struct json json = json_start(stdout);
    json_text(&json, "spec", set->spec);
    json_count(&json, "shards", set->first.shards);
    json_bool(&json, "is_complete", set->here == set->first.shards);
    json_count(&json, "missing", set->first.shards - set->here);
    json_count(&json, "items", set->items);
    json_text(&json, "output", set->args->setting[OPT_OUTPUT].text);
    json_open(&json, "manifest", '[');
    for (uint64_t i = 0; i < set->first.shards; i++) write_piece(&json, set, i);
    json_close(&json, ']');
    json_end(&json);
}

static void tell(const struct set *set) {
    const char *path = set->args->setting[OPT_OUTPUT].text;
    if (given(set->args, OPT_QUIET)) return;
    fprintf(stderr, "%s: %s, %s, %s items\n", path ? path : "complete", set->spec,
            human_number(set->first.shards, "shard").text, human_count(set->items).text);
}

/* ---- The verb ---- */

static int assemble(struct set *set) {
    const struct args *args = set->args;
    int code = take_all(set);
    const bool is_complete = !code && set->here == set->first.shards;
    if (!code && given(args, OPT_OUTPUT))
        code = is_complete ? write_whole(set) : fail_incomplete(set);
    if (code) return code;
    if (given(args, OPT_JSON))
        write_json(set);
    else if (is_complete)
        tell(set);
    else
        fail_incomplete(set);
    return is_complete ? 0 : EXIT_NOTHING;
}

static int run(const struct args *args) {
    struct set set = {.args = args};
    const char *path = args->setting[OPT_OUTPUT].text;
    int code = 0;
    if (path && is_dash(path))
        code = fail(args, NULL,
                    "the header is written last, so the output must be a file: --output OUT");
    else if (path)
        code = image_may_write(args, path);
    if (!code) code = assemble(&set);
    for (uint64_t i = 0; set.piece && i < set.first.shards; i++) {
        free(set.piece[i].read);
        free(set.piece[i].skipped);
    }
    free(set.piece);
    return code;
}

/* clang-format off */

const struct verb verb_assemble = {
    .name = "assemble",
    .also = "manifest reassemble unite",
    .summary = "join shards, or report which are missing",
    .run = run,
    .operands = OPERANDS({"SHARD", ONE_OR_MORE, NO_STREAM}),
    .uses = USES({.option = OPT_OUTPUT, .help = "where to write the complete image"},
                 {.option = OPT_FORCE}, {.option = OPT_WAIT},
                 {.option = OPT_JSON, .help = "print the manifest as JSON"},
                 {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"Join shards into the image one machine would have built, byte for byte",
                          "tamis assemble parts/*.tamis -o words.tamis"},
                         {"Check that all shards are there, with counts and checksums",
                          "tamis assemble parts/*.tamis --json >manifest.json"}),
    .about = "Joins images made by \"tamis build --shard\" or \"tamis cut\". All shards of one "
             "filter must be given, each once, in any order. Every file is checked before a byte "
             "is written; missing, damaged, duplicate and foreign shards are named. One shard is "
             "in memory at a time, and the image gets its name once it is complete. Its notes are "
             "those of shard 0, except those about what its builder read.\n\n"
             "Without --output nothing is written: it only reports whether the shards are "
             "complete. --json prints the manifest: the spec of the whole, and for each shard its "
             "file, size, checksum (XXH3, as printed by \"xxhsum -H3\"), items, and how many keys "
             "its builder read and skipped as another shard's.",
    .exits = "0 all shards are there, 1 some are missing (without --output), 2 error.",
};
