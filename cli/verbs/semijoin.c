/* SPDX-License-Identifier: MIT */
/* semijoin.c: `tamis semijoin`, lines of one file whose key is among those of another. */
#include "cli/verbs/semijoin.h"
#include "tamis_engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The two sides ---- */

/* Fields of a key; 0 where that depends on the line. */
static uint64_t count_fields(const struct fields *fields) {
    uint64_t n = 0;
    if (fields->names) return fields->n;
    for (size_t i = 0; i < fields->n; i++) {
        if (fields->range[i].last == TO_THE_END) return 0;
        n += fields->range[i].last - fields->range[i].first + 1;
    }
    return n;
}

/* Keys of two fields and keys of three have nothing in common: that would be a quiet zero. */
static int check_counts(const struct join *join) {
    const uint64_t left = count_fields(&join->left.cutting.fields);
    const uint64_t right = count_fields(&join->right.cutting.fields);
    if (left == 0 || right == 0 || left == right) return 0;
    return fail(join->args, "--right-field",
                "%s has %s, and keys of LEFT have %s: no key would match", join->right.field_list,
                human_number(right, "field").text, human_count(left).text);
}

static int open_right(struct join *join) {
    const struct args *args = join->args;
    int code = keys_open_file(&join->right, args, args->operand[1]);
    join->right.prints_header = false;
    if (code || !given(args, OPT_RIGHT_FIELD)) return code;
    join->right.field_list = args->setting[OPT_RIGHT_FIELD].text;
    join->right.cutting.fields.has_header = FIRST_GIVEN(args, OPT_HEADER, OPT_KEEP_HEADER) != NULL;
    code = fields_given(args, OPT_RIGHT_FIELD, &join->right.cutting);
    return code ? code : check_counts(join);
}

static bool is_file(const char *path) {
    struct stat status;
    const int missing = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status);
    return !missing && S_ISREG(status.st_mode);
}

/* ---- RIGHT to a filter ---- */

static int keep_right(void *with, struct batch *batch) {
    struct join *join = with;
    int code = 0;
    for (size_t i = 0; i < batch->n && !code; i++)
        code = spill_line(&join->copy, &batch->line[i], batch->keys->cutting.line_end);
    return code;
}

static int finish_filter(struct join *join, tamis_builder *builder) {
    catch_signals();
    const tamis_status status = tamis_builder_finish(builder, &join->filter);
    uncatch_signals();
    progress_wipe();
    if (is_stopped()) return EXIT_TROUBLE; /* main does the rest */
    return check_status(join->args, NULL, status);
}

/* An export that failed looks like this, and --anti would let every line of LEFT through. */
static int check_right(const struct join *join, uint64_t lines) {
    const char *name = input_name(join->args->operand[1]);
    if (lines > 0) return 0;
    if (given(join->args, OPT_STRICT)) return fail(join->args, name, "there are no keys");
    warn(join->args, name, "there are no keys: every line of LEFT is %s",
         join->is_anti ? "printed" : "left out");
    return 0;
}

static int build_filter(struct join *join) {
    const struct human spec = human_words("blocked:fpr=%.6g", join->cost.fpr);
    struct building building = {.args = join->args, .keys = &join->right};
    struct tamis_builder_options options;
    struct tamis_options filter;
    if (join->is_right_kept) building.also = keep_right, building.also_with = join;
    int code = builder_options(join->args, &options, &filter);
    if (code) return code;
    options.threads = join->right.threads;
    const tamis_status status = tamis_builder_create_with(&building.builder, spec.text, &options);
    if (status) return fail_why(join->args, NULL, status);
    code = builder_take(&building);
    if (!code) code = check_right(join, building.lines);
    if (!code) code = finish_filter(join, building.builder);
    join->hasher = join->filter;
    tamis_builder_free(building.builder);
    return code;
}

/* ---- LEFT ---- */

void join_print(struct join *join, struct batch *batch, size_t i) {
    join->printed++;
    if (!given(join->args, OPT_COUNT)) print_line(batch, i);
}

static void ask_batch(void *with, struct batch *batch) {
    const struct join *join = with;
    if (join->filter)
        tamis_has_hashes(join->filter, batch->hash, batch->n, batch->hit);
    else
        memset(batch->hit, 1, batch->n);
    for (size_t i = 0; i < batch->n; i++)
        if (!batch->key[i].bytes) batch->hit[i] = 0;
    if (join->is_exact || given(join->args, OPT_COUNT)) return;
    for (size_t i = 0; i < batch->n; i++)
        if (batch->hit[i] != join->is_anti) print_line(batch, i);
}

static int take_batch(void *with, struct batch *batch) {
    struct join *join = with;
    uint64_t hits = 0;
    for (size_t i = 0; i < batch->n; i++) hits += batch->hit[i];
    join->left_lines += batch->n;
    join->hits += hits;
    if (join->is_exact) return join_hold(join, batch);
    join->printed += join->is_anti ? batch->n - hits : hits;
    return 0;
}

static int run_left(struct join *join) {
    const struct handler handler = {.ask = ask_batch, .take = take_batch, .with = join};
    join->left.cutting.keeps_keyless = true;
    keys_hash_by(&join->left, join->hasher);
    const int code = keys_run(&join->left, &handler);
    if (code || !join->is_exact) return code;
    return join_settle(join);
}

/* ---- What is said ---- */

/* Lines that did not match are a share 1 - p of those that should not; p of them passed. */
static double wrong_lines(const struct join *join) {
    if (join->is_exact || !join->filter) return 0;
    const double rate = tamis_fpr_now(join->filter);
    const uint64_t misses = join->left_lines - join->hits;
    return rate < 1 ? rate / (1 - rate) * (double)misses : (double)join->hits;
}

static void write_json(const struct join *join, const struct tamis_info *info) {
    struct json json = json_start(stderr);
    json_count(&json, "left_lines", join->left_lines);
    json_count(&json, "printed", join->printed);
    json_bool(&json, "is_anti", join->is_anti);
    json_bool(&json, "is_exact", join->is_exact);
    json_real(&json, "wrong_expected", wrong_lines(join));
    json_bool(&json, "has_filter", join->filter != NULL);
    json_bool(&json, "is_rate_given", join->cost.chosen == BY_USER);
    json_real(&json, "fpr", join->filter ? info->fpr_now : 1);
    json_count(&json, "right_keys", info->capacity);
    json_count(&json, "filter_bytes", info->payload_bytes);
    json_count(&json, "right_scans", join->scans);
    json_end(&json);
}

static void tell_filter(const struct join *join, const struct tamis_info *info) {
    static const char *const why[] = {
        [BY_MODEL] = " by the cost model", [BY_ANTI] = " for --anti", [BY_USER] = ""};
    if (!join->filter) {
        fputs("no filter, because LEFT is small", stderr);
        return;
    }
    fprintf(stderr, "%s of RIGHT in %s, rate %s%s", human_number(info->capacity, "key").text,
            human_bytes(info->payload_bytes).text, human_rate(info->fpr_now).text,
            why[join->cost.chosen]);
}

static void tell(const struct join *join) {
    struct tamis_info info = TAMIS_INFO_INIT;
    if (given(join->args, OPT_QUIET)) return;
    if (join->filter) tamis_measure(join->filter, &info);
    if (given(join->args, OPT_JSON)) {
        write_json(join, &info);
        return;
    }
    fprintf(stderr, "tamis: semijoin: %s of %s of LEFT; ", human_count(join->printed).text,
            human_number(join->left_lines, "line").text);
    tell_filter(join, &info);
    const double wrong = wrong_lines(join);
    const uint64_t readings = join->scans + (join->filter != NULL);
    if (join->is_exact)
        fprintf(stderr, "; exact, RIGHT was read %s\n", human_number(readings, "time").text);
    else if (wrong < 1e-3)
        fprintf(stderr, "; no line should be %s\n", join->is_anti ? "missing" : "wrong");
    else
        fprintf(stderr, "; about %s lines %s\n", human_expected(wrong).text,
                join->is_anti ? "may be missing; --exact restores them"
                              : "do not match; --exact removes them");
}

/* ---- The verb ---- */

static int run_join(struct join *join) {
    const struct args *args = join->args;
    const char *right = args->operand[1];
    join->cost = cost_of(args, join->left.cutting.line_end);
    const bool has_filter = join->cost.fpr < 1;
    join->is_exact = given(args, OPT_EXACT) || !has_filter;
    /* Without a filter RIGHT is read once as long as what is held fits; that may turn out too
     * late. */
    join->is_right_kept = join->is_exact && !is_file(right);
    join->hold.max_bytes = memory_wanted(args);
    keyset_open(&join->hold.keys, join->hold.max_bytes);
    int code = join->is_right_kept ? spill_open(&join->copy, args) : 0;
    if (!code && (has_filter || join->is_right_kept)) code = build_filter(join);
    if (!code && join->is_right_kept) code = keys_keep(&join->right, &join->copy);
    /* Without a filter LEFT is held first, and RIGHT is read when that is done. */
    if (!code && !join->filter)
        code = check_status(args, NULL, tamis_create(&join->hasher, "blocked:capacity=1"));
    keys_hash_for(&join->right, NULL, 0); /* The builder is gone; RIGHT may be read again. */
    keys_hash_by(&join->right, join->hasher);
    if (!code) code = run_left(join);
    if (code || ferror(stdout)) return code ? code : EXIT_TROUBLE;
    if (given(args, OPT_COUNT)) printf("%" PRIu64 "\n", join->printed);
    tell(join);
    return join->printed > 0 ? EXIT_FOUND : EXIT_NOTHING;
}

static int run(const struct args *args) {
    struct join join = {.args = args, .is_anti = given(args, OPT_ANTI), .copy = {.fd = -1}};
    int code = keys_open_file(&join.left, args, args->operand[0]);
    if (!code) code = open_right(&join);
    if (!code) code = run_join(&join);
    hold_close(&join.hold);
    spill_close(&join.copy);
    if (join.hasher != join.filter) tamis_free(join.hasher);
    tamis_free(join.filter);
    keys_close(&join.left);
    keys_close(&join.right);
    return code;
}

/* clang-format off */

const struct verb verb_semijoin = {
    .name = "semijoin",
    .also = "join antijoin anti comm",
    .summary = "print the lines of one file whose key is in another",
    .run = run,
    .operands = OPERANDS({"LEFT", EXACTLY_ONE, READS_STDIN}, {"RIGHT", EXACTLY_ONE, READS_STDIN}),
    .uses = USES(
        {.option = OPT_ANTI, .help = "print the lines whose key is not in RIGHT"},
        {.option = OPT_EXACT, .help = "no line is wrong or missing; reads RIGHT a second time"},
        {.option = OPT_RIGHT_FIELD},
        {.option = OPT_FPR,
         .help = "rate at which non-matching lines pass (default: by the cost model)"},
        {.option = OPT_COUNT}, {.option = OPT_JSON,
         .help = "write the summary on standard error as JSON"},
        {.option = OPT_KEEP_HEADER}, KEY_OPTIONS,
        {.option = OPT_MEMORY,
         .help = "memory for the filter and for lines (default: a quarter of RAM)"},
        {.option = OPT_TEMP_DIR,
         .help = "spill directory (default: $TMPDIR or /tmp)"},
        THREADS_OPTION),
    .examples =
        EXAMPLES({"Print the orders of customers on a list",
                  "tamis semijoin -d, --field 3 --right-field 1 orders.csv customers.csv"},
                 {"Print the orders that are not closed, missing none",
                  "tamis semijoin --anti --exact -d, --field 3 orders.csv closed.csv"},
                 {"Print the lines of a stream that are in a file",
                  "zcat log.gz | tamis semijoin - lines.txt"},
                 {"Like comm -12 on sorted files, but in the order of the first",
                  "tamis semijoin --exact a.txt b.txt"}),
    .about = "Keys are whole lines, or the fields given by --field, in both LEFT and RIGHT; "
             "--right-field gives those of RIGHT if they differ. Lines of LEFT are printed "
             "unchanged, in order, as often as they occur.\n\n"
             "The keys of RIGHT are put into a filter in memory, and LEFT is read once. A few "
             "lines that do not match pass the filter; with --anti, these are missing instead. "
             "The summary on standard error reports how many to expect. Without --fpr, the rate "
             "follows from the cost: the bits of the filter against the bits of lines that would "
             "pass wrongly, given the file sizes; with --anti and without --exact it is 1e-6 or "
             "less. If LEFT is so small that a filter does not pay, none is used, and the result "
             "is exact.\n\n"
             "--exact keeps the lines that passed in memory, with --anti also those between them, "
             "then reads RIGHT again and prints only true results. When --memory is used up, it "
             "does so for the lines kept so far, and reads RIGHT once more for the next part. If "
             "RIGHT is a pipe, it is copied to an unnamed file in --temp-dir.\n\n"
             "A line of LEFT without a key matches nothing. --json writes one object to standard "
             "error: left_lines, printed, is_anti, is_exact, wrong_expected, has_filter, "
             "is_rate_given, fpr, right_keys, filter_bytes, right_scans.",
    .exits = "0 a line was printed or counted, 1 none was, 2 error.",
};
