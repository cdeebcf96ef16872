/* count.c: `tamis count`, how often each key was added. */
#include "cli/cli.h"
#include "cli/verbs/count_top.h"

struct counting {
    const tamis *filter;
    uint64_t sure; /* a count that reaches this may be too low; UINT64_MAX: none is */
    bool is_quiet;
    bool is_any_found;   /* was a count above 0? */
    bool is_any_at_sure; /* did a count reach `sure`? */
};

static void ask_counts(void *with, struct batch *batch) {
    const struct counting *counting = with;
    batch_count(counting->filter, batch);
    for (size_t i = 0; i < batch->n; i++) {
        if (!batch->key[i].bytes) batch->value[i] = 0;
        if (counting->is_quiet) continue;
        print_place(batch, i);
        text_count(&batch->out, batch->value[i]);
        text_byte(&batch->out, '\t');
        print_line(batch, i);
    }
}

static int note_counts(void *with, struct batch *batch) {
    struct counting *counting = with;
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
    fprintf(stderr, "%s: counts of %s mean %s or more\n", input_name(args->operand[0]), sure.text,
            sure.text);
}

/* Counts of a sketch are all a little too high. */
static void tell_error(const struct args *args, const struct tamis_info *info) {
    if (info->count_error == 0 || given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: counts may be too high by %s, and by more in %s of cases\n",
            input_name(args->operand[0]), human_expected(info->count_error).text,
            human_share(info->count_error_prob).text);
}

static int check_options(const struct args *args) {
    static const enum option_id only[] = {OPT_ERROR, OPT_ERROR_PROB, OPT_HASH, OPT_JSON};
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
        if (given(args, only[i]))
            return fail(args, NULL, "--%s goes only with --top", option_named(only[i])->name);
    if (args->operand_count == 0)
        return fail(args, NULL, "IMAGE is missing; without one, --top K counts lines");
    return 0;
}

static int count_in_image(const struct args *args) {
    struct counting counting = {0};
    struct tamis_info info;
    struct image image = {0};
    struct keys keys;
    int code = check_options(args);
    if (code) return code;
    code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_COUNT, "count keys");
    if (code) goto done;

    tamis_measure(image.filter, &info, sizeof info);
    counting = (struct counting){
        .filter = image.filter, .sure = info.reliable_count, .is_quiet = given(args, OPT_QUIET)};
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

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_count = {
    .name = "count",
    .also = "freq frequency times",
    .summary = "tell how often each key was added, or which lines come most often",
    .run = run,
    .operands = OPERANDS({"IMAGE", AT_MOST_ONE, READS_STDIN},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses =
        USES({.option = OPT_TOP},
             {.option = OPT_ERROR,
              .help = "with --top, how well lines are known that are not frequent: to within this "
                      "share of all lines, otherwise 1/100,000"},
             {.option = OPT_ERROR_PROB,
              .help = "with --top, how rarely worse than that; otherwise 1/1,000"},
             {.option = OPT_JSON, .help = "with --top, print one JSON object"},
             {.option = OPT_HASH, .help = "with --top, how keys are hashed; sip13 is keyed"},
             {.option = OPT_LINE_NUMBER}, {.option = OPT_WITH_FILENAME},
             {.option = OPT_QUIET,
              .help = "print nothing, stop at the first key that was added; with --top, no "
                      "summary"},
             KEY_OPTIONS, THREADS_OPTION, {.option = OPT_SECRET_FILE}, FROM_OPTION),
    .examples = EXAMPLES({"The ten most frequent lines of a log, in one pass and 8 MiB",
                          "tamis count --top 10 access.log"},
                         {"The busiest addresses, its first field",
                          "tamis count --top 20 --field 1 -d ' ' access.log"},
                         {"How often?", "echo evil.example | tamis count requests.tamis"},
                         {"The ten most frequent of these, by what an image counted",
                          "tamis count requests.tamis names.txt | sort -rn | head"}),
    .about = "With an image: each line is printed as it came, behind its count and a tab: how "
             "often the key was added and not removed. A count is never too low, and too high as "
             "rarely as the filter says yes wrongly; countmin's are too high by a share of all "
             "adds, and a line on standard error tells it. Kinds with small counters are sure only "
             "up to a limit; where a count reaches it a line on standard error says so.\n\n"
             "Only some kinds can count: \"tamis kinds\" tells which. To count lines that are in "
             "the set use \"tamis check -c\". A file that cannot be read is reported and left out; "
             "the others are still counted.\n\n"
             "--top K needs no image: the lines of FILE, or of standard input, are counted, and "
             "the K most frequent printed, the highest count first, equal ones in the order of "
             "their bytes. Each is printed as COUNT, OVER and the key, with tabs between them: the "
             "key came at most COUNT times, and at least COUNT - OVER times; OVER is 0 where the "
             "count is exact. With --field or --canon keys are printed as they are after it, with "
             "--keys whole lines. Memory does not depend on the stream: 4 K + 1000 lines are kept "
             "with a counter each, all others are counted together in a sketch (the kind "
             "countmin). Standard error tells how often lines came at most that are not printed; "
             "unless that is more than the last of the list, the list is the right one for "
             "certain. --error makes the sketch larger or smaller, and that number with it.\n\n"
             "--json prints one object: lines, without_key, is_certain, is_exact, others_at_most, "
             "filter_bytes, top (count, over_at_most, key, is_cut)."
             ABOUT_FORM,
    .exits = "0 when a count is above 0, 1 when none is, 2 after an error.",
};
