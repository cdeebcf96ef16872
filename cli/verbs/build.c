/* SPDX-License-Identifier: MIT */
/* build.c: `tamis build`, keys to an image. */
#include "cli/cli.h"
#include "cli/images/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The spec ---- */

/* The spec as the user gave it, in one piece or in parts. What the keys come with decides on a kind
 * where none is named. */
static char *whole_spec(const struct args *args) {
    const char *kind = given(args, OPT_LABEL)     ? "labels"
                       : given(args, OPT_VALUES)  ? "bloomier"
                       : given(args, OPT_EXCLUDE) ? "cascade"
                                                  : NULL;
    char *spec = spec_given(args, kind);
    if (spec && kind && !*spec_head(spec).kind) spec_set(args, &spec, NULL, kind);
    spec_share_rate(args, &spec);
    return spec;
}

/* The kind that a spec names, with no abilities when it names none. Refuses one that cannot hold
 * what the keys come with. */
static int find_kind(const struct args *args, const char *spec, struct tamis_kind_info *kind) {
    *kind = (struct tamis_kind_info)TAMIS_KIND_INFO_INIT;
    if (!tamis_kind_named(spec_head(spec).kind, kind)) return 0; /* The library has a word on it. */
    int code = 0;
    if (given(args, OPT_VALUES)) code = kind_needs(args, kind, TAMIS_CAN_GET, "have values");
    if (given(args, OPT_LABEL)) code = kind_needs(args, kind, TAMIS_CAN_LABEL, "have labels");
    return code;
}

/* ---- Where keys come from ---- */

/* The name without its last ending, in characters; all of it when there is none. */
static size_t len_without_ending(const char *name, size_t len) {
    for (size_t i = len; i > 1; i--)
        if (name[i - 1] == '.') return i - 1;
    return len;
}

static bool is_packed(const char *ending) {
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(ending, endings[i]) == 0) return true;
    return false;
}

/* "feeds/spam.txt" and "feeds/spam.txt.gz" are labelled "spam". */
static char *label_of_file(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = len_without_ending(name, strlen(name));
    if (is_packed(name + len)) len = len_without_ending(name, len);
    return strndup(name, len);
}

/* Files with a label need memory for it: false when that is out. */
static bool add_source(struct source *source, const char *file, bool has_label, char *label) {
    *source = (struct source){.name = file, .label = label};
    return label || !has_label;
}

/* Known-good keys come first: a kind that has none should say so before it has read the others.
 * Then the operands, then labels in their order. Room is enough for all of them. */
static bool list_sources(const struct args *args, bool has_labels, struct source *sources,
                         size_t *count) {
    const size_t named = args->operand_count - 1;
    const size_t plain = named > 0 || given(args, OPT_LABEL) ? named : 1;
    bool is_whole = true;
    for (size_t i = 0; i < args->repeated_count; i++)
        if (args->repeated[i].option == OPT_EXCLUDE)
            sources[(*count)++] = (struct source){.name = args->repeated[i].text, .is_good = true};
    for (size_t i = 0; i < plain && is_whole; i++) {
        const char *file = named > 0 ? args->operand[1 + i] : "-";
        const bool has_label = has_labels && strcmp(file, "-") != 0;
        char *label = has_label ? label_of_file(file) : NULL;
        is_whole = add_source(&sources[(*count)++], file, has_label, label);
    }
    for (size_t i = 0; i < args->repeated_count && is_whole; i++) {
        const struct repeated *pair = &args->repeated[i];
        if (pair->option == OPT_LABEL)
            is_whole = add_source(&sources[(*count)++], pair->second, true, strdup(pair->text));
    }
    return is_whole;
}

static int open_keys(struct keys *keys, const struct args *args, bool has_labels) {
    const size_t room = args->operand_count + args->repeated_count + 1;
    struct source *sources = calloc(room, sizeof *sources);
    size_t count = 0;
    const bool is_whole = sources && list_sources(args, has_labels, sources, &count);
    const int code = keys_open_sources(keys, args, sources, count);
    return code || is_whole ? code : fail_memory(args);
}

/* ---- The verb ---- */

static int check_inputs(const struct args *args) {
    if (given(args, OPT_JSON) && is_dash(args->operand[0]))
        return fail(args, NULL,
                    "--json cannot be combined with - as IMAGE: both use standard output");
    if (given(args, OPT_LABEL) && args->operand_count > 1)
        return fail(args, args->operand[1],
                    "with --label every file needs its own label: --label NAME %s",
                    args->operand[1]);
    if (!given(args, OPT_SHARD) && given(args, OPT_PACKED))
        return fail(args, NULL, "--packed needs --shard I/N");
    const char *apart = FIRST_GIVEN(args, OPT_LABEL, OPT_EXCLUDE);
    if (given(args, OPT_VALUES) && apart)
        return fail(args, NULL, "--values and --%s cannot be combined", apart);
    return 0;
}

/* Kinds that take adds count every one; what was planned for is then the distinct ones. A sketch
 * has no capacity, but counts. */
static uint64_t distinct_keys(const char *spec, const struct tamis_info *info) {
    const double about = info->items_now.value;
    return info->abilities & TAMIS_IS_BUILT                       ? keys_built(info)
           : info->abilities & TAMIS_IS_SKETCH && isfinite(about) ? (uint64_t)(about + 0.5)
           : spec_fixes_capacity(spec)                            ? info->items
                                                                  : info->capacity;
}

/* Marks are keys too, but not the user's. */
static uint64_t keys_of_user(const struct building *building, const char *spec,
                             const struct tamis_info *info, const tamis *filter) {
    const uint64_t keys = distinct_keys(spec, info);
    const struct classes *marked = &building->keys->several.marked;
    const uint64_t marks =
        tamis_label_count(filter) > 0 ? count_marks(filter, marked, NULL) : classes_count(marked);
    return keys >= marks ? keys - marks : keys;
}

/* "1,000,000 keys (1,200,000 lines)", where they differ. */
static struct human describe(const struct building *building, const char *spec,
                             const struct tamis_info *info, const tamis *filter) {
    const bool is_sketch = info->abilities & TAMIS_IS_SKETCH;
    const uint64_t labels = tamis_label_count(filter);
    const uint64_t keys = keys_of_user(building, spec, info, filter);
    const uint64_t lines = building->lines + building->good;
    struct human what =
        human_words("%s%s", is_sketch ? "about " : "", human_number(keys, "key").text);
    if (labels > 0) what = human_words("%s in %s", what.text, human_number(labels, "label").text);
    if (building->good > 0)
        return human_words("%s (%s lines, %s of them known-good)", what.text,
                           human_count(lines).text, human_count(building->good).text);
    if (lines == keys) return what;
    return human_words("%s (%s)", what.text, human_number(lines, "line").text);
}

static void write_built(const struct building *building, const char *spec,
                        const struct image *image, const struct tamis_info *info) {
    struct json json = json_start(stdout);
    char *own = spec_of(image->filter);
    const uint64_t labels = tamis_label_count(image->filter);
    json_text(&json, "file", image->path);
    json_text(&json, "kind", info->kind);
    json_text(&json, "spec", own);
    json_count(&json, "lines", building->lines + building->good);
    json_count(&json, "skipped", building->keys->keyless);
    json_count(&json, "excluded", building->good);
    json_count(&json, "keys", keys_of_user(building, spec, info, image->filter));
    json_count(&json, "items", info->items);
    json_count(&json, "capacity", info->capacity);
    json_count_if(&json, "labels", info->abilities & TAMIS_CAN_LABEL, labels);
    json_count(&json, "payload_bytes", info->payload_bytes);
    json_count(&json, "stored_bytes", info->stored_bytes);
    json_real(&json, "bits_per_key", bits_per_key(info));
    json_real(&json, "fpr_expected", info->fpr_expected);
    json_real(&json, "fpr_now", info->fpr_now);
    write_notes(&json, image->filter);
    json_end(&json);
    free(own);
}

static void tell(const struct building *building, const char *spec, const struct image *image) {
    const bool is_json = given(building->args, OPT_JSON);
    if (given(building->args, OPT_QUIET) && !is_json) return;
    const struct tamis_info info = info_measured(image->filter);
    if (is_json)
        write_built(building, spec, image, &info);
    else
        info_summary(building->args, &info, image->path,
                     describe(building, spec, &info, image->filter).text, AFTER_PLANNING);
    if (!is_json) tell_questions(building->args, image->filter, image->path, info.fpr_now);
    const bool maps = info.abilities & TAMIS_IS_BUILT && info.abilities & TAMIS_CAN_GET;
    if (maps && building->lines > 0 && !given(building->args, OPT_VALUES))
        warn(building->args, output_name(image->path),
             "every key gets the value 0; use --values to read lines of KEY TAB VALUE");
}

/* An empty list is hardly what was meant, and every later answer would be a quiet no. */
static int check_keys(const struct building *building) {
    const struct args *args = building->args;
    if (building->lines + building->good > 0) return 0;
    if (given(args, OPT_STRICT)) return fail(args, NULL, "there are no keys; nothing was written");
    warn(args, NULL,
         "there are no keys: every answer will be no; \"tamis create\" makes an image "
         "to add to");
    return 0;
}

/* Kinds that hash keys themselves cannot count them, so another hash does: the keys are read twice,
 * or from a copy. */
static int count_first(struct building *building, struct spill *copy, uint64_t *distinct) {
    struct keys *keys = building->keys;
    const bool can_again = keys_can_again(keys);
    int code = can_again ? 0 : spill_open(copy, building->args);
    keys->threads = threads_wanted(building->args);
    if (!code) code = count_distinct(keys, can_again ? NULL : copy, distinct);
    if (code) return code;
    keys->is_second_time = true;
    if (!can_again) return keys_keep(keys, copy);
    keys_rewind(keys);
    return 0;
}

static int make(struct building *building, const struct tamis_builder_options *options,
                const char *params) {
    const bool is_counted = building->abilities & TAMIS_OWN_HASH && !spec_fixes_capacity(params);
    const char *path = building->args->operand[0];
    struct spill copy = {.fd = -1};
    struct image image = {0};
    uint64_t capacity = 0;
    int code = is_counted ? count_first(building, &copy, &capacity) : 0;
    char *spec = code ? NULL : spec_copy(building->args, params);
    if (is_counted) spec_set_capacity(building->args, &spec, capacity);
    if (!spec) code = EXIT_TROUBLE;
    if (code) goto done;

    if (building->abilities & TAMIS_CAN_LABEL) building->usual_label = "default";
    code = check_status(building->args, NULL,
                        tamis_builder_create_with(&building->builder, spec, options));
    if (!code) code = set_builder_notes(building->args, building->builder);
    if (!code) code = builder_take(building);
    if (!code) code = check_keys(building);
    if (!code) code = builder_write(building, path, NULL, &image);
    if (!code) tell(building, params, &image);

done:
    image_close(&image);
    tamis_builder_free(building->builder);
    spill_close(&copy);
    free(spec);
    return code;
}

static int build(struct building *building, const char *spec) {
    struct tamis_builder_options options;
    struct tamis_options filter;
    int code = open_keys(building->keys, building->args, building->abilities & TAMIS_CAN_LABEL);
    if (!FIRST_GIVEN(building->args, OPT_VALUES, OPT_EXCLUDE))
        building->keys->several.use = ADDS_SEVERAL;
    if (!code) code = image_may_write(building->args, building->args->operand[0]);
    if (!code) code = builder_options(building->args, &options, &filter);
    if (!code) code = make(building, &options, spec);
    keys_close(building->keys);
    return code;
}

static int run(const struct args *args) {
    struct keys keys;
    struct building building = {.args = args, .keys = &keys};
    if (check_inputs(args)) return EXIT_TROUBLE;
    struct tamis_kind_info kind;
    char *spec = whole_spec(args);
    int code = spec ? find_kind(args, spec, &kind) : EXIT_TROUBLE;
    if (!code) building.abilities = kind.abilities;
    if (!code) code = given(args, OPT_SHARD) ? build_shard(args, spec) : build(&building, spec);
    free(spec);
    return code;
}

/* clang-format off */

const struct verb verb_build = {
    .name = "build",
    .also = "make new init",
    .summary = "build an image from a list of keys",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, WRITES_STDOUT},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_SPEC}, {.option = OPT_KIND},
        {.option = OPT_CAPACITY, .help = "number of keys to plan for (default: count them)"},
        {.option = OPT_FPR}, {.option = OPT_SIZE}, {.option = OPT_HASH}, {.option = OPT_SEED},
        {.option = OPT_SECRET_FILE,
         .help = "hash keys (sip13) with this secret of 16 bytes or 32 hex digits; the image "
                 "holds only its id"},
        {.option = OPT_VALUES}, {.option = OPT_LABEL}, {.option = OPT_EXCLUDE},
        {.option = OPT_NOTE},
        {.option = OPT_SHARD},
        {.option = OPT_PACKED,
         .help = "with --shard: read hashes written by \"tamis partition --packed\" instead of "
                 "keys"},
        LIST_OPTIONS, BUILDER_OPTIONS, {.option = OPT_FORCE}, {.option = OPT_WAIT},
        {.option = OPT_JSON, .help = "print one JSON object instead of the summary"}),
    .examples =
        EXAMPLES({"Build a filter from a list, with a false-positive rate of 1 in 100",
                  "tamis build blocklist.tamis blocklist.txt"},
                 {"Read keys from a pipe, with one false positive in a million",
                  "cut -f1 users.tsv | tamis build users.tamis --fpr 1e-6"},
                 {"Reserve space for keys to be added later, by a spec",
                  "tamis build seen.tamis --spec 'blocked:capacity=10M,fpr=0.1%' today.txt"},
                 {"Store a billion breached passwords, small and final, in 2 GiB of memory",
                  "cut -d: -f1 pwned.txt | tamis build pwned.tamis -k fuse -p 1/65536 --memory 2G"},
                 {"Store revoked certificates, with no false positive for valid ones",
                  "tamis build revoked.tamis revoked.txt --kind cascade --exclude valid.txt"},
                 {"Use column 3 of a compressed table, names in any spelling",
                  "tamis build hosts.tamis log.csv.gz -t, -F 3 --canon domain"},
                 {"Block names and all names below them",
                  "tamis build names.tamis blocklist.txt --canon domain,parents"},
                 {"Block addresses by blocks and ranges",
                  "tamis build nets.tamis drop.txt --canon cidr --comment ';'"},
                 {"Build one image of many lists, to ask which feed has a key",
                  "tamis build feeds.tamis --label spam spam.txt --label malware malware.txt"},
                 {"Build shard 3 of 24 for 100 million keys, on one of many machines",
                  "tamis build 3.tamis keys.txt --spec split:capacity=100M --shard 3/24"},
                 {"Store a table of keys and numbers, without the keys",
                  "tamis build country.tamis addresses.tsv --kind bloomier --values"}),
    .about = "If neither the spec nor an option gives a capacity, the keys are counted. Kinds "
             "that are built once, and keys that must be counted first, take 8 bytes of memory "
             "per line (16 with a value or a label) and spill to an unnamed file in --temp-dir "
             "when memory runs out. Describe the filter by --spec or by single options; they "
             "cannot be combined.\n\n"
             "--values builds a map from keys to numbers (default kind: bloomier): what follows "
             "the last tab of a line is its value, such as 7, 10k or 0xff. --label builds named "
             "sets (kind labels); with that kind, a file without --label is its own label. "
             "--exclude builds a set that answers no to every known-good key (cascade). A key "
             "with two values, or on both lists, is an error that names its lines.\n\n"
             "--shard I/N builds one of N shards of a blocked or split filter. Every machine uses "
             "the same spec, with a capacity, and the keys it has; keys of other shards are "
             "skipped and counted, or refused with --strict. \"tamis assemble\" joins all shards "
             "into the image that one machine would have built, byte for byte. The image gets its "
             "name once it is complete, so a task may be repeated, or run twice at once. With "
             "--packed it reads hashes instead of keys; --keys and --canon then only record how "
             "those were made.\n\n"
             "--json prints one object: file, kind, spec, lines, skipped, excluded, keys, items, "
             "capacity, labels, payload_bytes, stored_bytes, bits_per_key, fpr_expected, fpr_now, "
             "notes.\n\n"
             "The image is written next to IMAGE and then renamed, so IMAGE is always either the "
             "old file or the complete new one, even after Ctrl-C.",
};
