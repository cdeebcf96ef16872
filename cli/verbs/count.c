/* SPDX-License-Identifier: MIT */
/* count.c: `tamis count`, how often each key was added. */
#include "cli/cli.h"
#include "cli/verbs/count_top.h"

struct counting {
    const tamis *filter;
    uint64_t sure; /* a count that reaches this may be too low; UINT64_MAX: none is */
    bool is_quiet, is_json;
    bool is_any_found;   /* was a count above 0? */
    bool is_any_at_sure; /* did a count reach `sure`? */
};

static void ask_counts(void *with, struct batch *batch) {
    const struct counting *counting = with;
    batch_count(counting->filter, batch);
    for (size_t i = 0; i < batch->n; i++) {
        if (!batch->key[i].bytes) batch->value[i] = 0;
        if (counting->is_quiet || counting->is_json) continue;
        print_place(batch, i);
        text_count(&batch->out, batch->value[i]);
        text_byte(&batch->out, '\t');
        print_line(batch, i);
    }
}

static int write_counts(const struct counting *counting, struct batch *batch) {
    bool is_whole = true;
    progress_hold(stdout);
    for (size_t i = 0; i < batch->n && is_whole; i++) {
        struct json json = json_start(stdout);
        is_whole = write_line(&json, batch, i);
        json_count(&json, "count", batch->value[i]);
        json_bool(&json, "is_or_more", batch->value[i] >= counting->sure);
        json_end(&json);
    }
    progress_release(stdout);
    return is_whole ? 0 : fail_memory(batch->keys->args);
}

static int note_counts(void *with, struct batch *batch) {
    struct counting *counting = with;
    if (counting->is_json && !counting->is_quiet && write_counts(counting, batch))
        return EXIT_TROUBLE;
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->value[i] > 0) counting->is_any_found = true;
        if (batch->value[i] >= counting->sure) counting->is_any_at_sure = true;
    }
    return counting->is_quiet && counting->is_any_found ? KEYS_ENOUGH : 0;
}

static int count_keys(struct counting *counting, struct keys *keys) {
    const struct handler handler = {
        .ask = ask_counts, .take = note_counts, .goes_on = true, .with = counting};
    keys->cutting.keeps_keyless = true;
    keys_hash_by(keys, counting->filter);
    const int code = keys_run(keys, &handler);
    if (counting->is_quiet && counting->is_any_found) return EXIT_FOUND;
    return code ? code : counting->is_any_found ? EXIT_FOUND : EXIT_NOTHING;
}

static void tell_limit(const struct args *args, const struct counting *counting) {
    if (!counting->is_any_at_sure || counting->sure == UINT64_MAX || given(args, OPT_QUIET)) return;
    const struct human sure = human_count(counting->sure);
    fprintf(stderr, "%s: a count of %s means %s or more\n", input_name(args->operand[0]), sure.text,
            sure.text);
}

/* Counts of a sketch are all a little too high. */
static void tell_error(const struct args *args, const struct tamis_info *info) {
    if (info->count_error == 0 || given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: counts may be up to %s too high, and more than that in %s of cases\n",
            input_name(args->operand[0]), human_expected(info->count_error).text,
            human_share(info->count_error_prob).text);
}

static int check_options(const struct args *args) {
    const char *only = FIRST_GIVEN(args, OPT_ERROR, OPT_ERROR_PROB, OPT_HASH);
    if (only) return fail(args, NULL, "--%s needs --top", only);
    if (args->operand_count == 0)
        return fail(args, NULL, "IMAGE is missing; to count lines without one, use --top K");
    return 0;
}

static int count_in_image(const struct args *args) {
    struct counting counting = {0};
    struct image image = {0};
    struct keys keys;
    int code = check_options(args);
    if (code) return code;
    code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_COUNT, "count keys");
    if (code) goto done;

    const struct tamis_info info = info_measured(image.filter);
    counting = (struct counting){.filter = image.filter,
                                 .sure = info.reliable_count,
                                 .is_quiet = given(args, OPT_QUIET),
                                 .is_json = given(args, OPT_JSON)};
    code = count_keys(&counting, &keys);
    tell_limit(args, &counting);
    tell_error(args, &info);

done:
    image_close(&image);
    keys_close(&keys);
    return code;
}

static int run(const struct args *args) {
    return given(args, OPT_TOP) ? count_top(args) : count_in_image(args);
}

/* clang-format off */

const struct verb verb_count = {
    .name = "count",
    .also = "freq frequency times",
    .summary = "print how often keys were added, or the top lines",
    .run = run,
    .operands = OPERANDS({"IMAGE", AT_MOST_ONE, READS_STDIN},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses =
        USES({.option = OPT_TOP},
             {.option = OPT_ERROR,
              .help = "with --top: maximum error for infrequent lines, as a share of all lines "
                      "(default: 1/100,000)"},
             {.option = OPT_ERROR_PROB,
              .help = "with --top: probability of a larger error (default: 1/1,000)"},
             {.option = OPT_JSON, .help = "print one JSON object per line; with --top: one object"},
             {.option = OPT_HASH, .help = "with --top: hash function; sip13 is keyed"},
             {.option = OPT_LINE_NUMBER}, {.option = OPT_WITH_FILENAME},
             {.option = OPT_QUIET,
              .help = "print nothing, stop at the first key that was added; with --top: no "
                      "summary"},
             KEY_OPTIONS, THREADS_OPTION, {.option = OPT_SECRET_FILE}, FROM_OPTION),
    .examples = EXAMPLES({"Print the ten most frequent lines of a log, in one pass and 8 MiB",
                          "tamis count --top 10 access.log"},
                         {"Print the busiest addresses, from the first field",
                          "tamis count --top 20 --field 1 -d ' ' access.log"},
                         {"Print how often a key was added",
                          "echo evil.example | tamis count requests.tamis"},
                         {"Print the ten names that an image counted most often",
                          "tamis count requests.tamis names.txt | sort -rn | head"}),
    .about = "With an image, prints each line after its count and a tab: how often the key was "
             "added and not removed. A count is never too low, and too high at the false-positive "
             "rate. Counts of countmin are too high by a share of all adds, which standard error "
             "reports. Kinds with small counters are exact only up to a limit; standard error says "
             "if a count reaches it.\n\n"
             "Only some kinds can count: see \"tamis kinds\". To count the lines that are in a "
             "set, use \"tamis check -c\". A file that cannot be read is reported and skipped; the "
             "others are still counted.\n\n"
             "--top K needs no image: it counts the lines of FILE or standard input and prints the "
             "K most frequent, highest count first, ties in byte order. Each output line is COUNT, "
             "OVER and the key, separated by tabs: the key occurred at most COUNT and at least "
             "COUNT - OVER times; OVER is 0 if the count is exact. With --field or --canon it "
             "prints the resulting key, with --keys the whole line. Memory does not depend on the "
             "input: 4 K + 1000 lines are kept with a counter each, and all others are counted "
             "together in a sketch (kind countmin). Standard error reports the maximum count of "
             "any line not printed; unless that exceeds the last count of the list, the list is "
             "certainly right. --error changes the size of the sketch, and that number with it.\n\n"
             "--json prints one object per line: file, line_number, line, key, count, is_or_more; "
             "with --top one object: lines, without_key, is_certain, is_exact, others_at_most, "
             "filter_bytes, top (count, over_at_most, key, is_cut)."
             ABOUT_FORM,
    .exits = "0 a count is above 0, 1 none is, 2 error.",
};
