/* count.c: `tamis count`, how often each key was added. */
#include "cli/cli.h"

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

static int run(const struct args *args) {
    struct counting counting = {0};
    struct tamis_info info;
    struct image image = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_COUNT, "count keys");
    if (code) goto done;

    tamis_info(image.filter, &info, sizeof info);
    counting = (struct counting){
        .filter = image.filter, .sure = info.sure_count, .is_quiet = given(args, OPT_QUIET)};
    code = count_keys(&counting, &keys);
    tell_limit(args, &counting);

done:
    image_close(&image);
    keys_close(&keys);
    return code;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_count = {
    .name = "count",
    .also = "freq frequency times",
    .summary = "tell how often each key was added",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses =
        USES({.option = OPT_LINE_NUMBER}, {.option = OPT_WITH_FILENAME},
             {.option = OPT_QUIET, .help = "print nothing, stop at the first key that was added"},
             KEY_OPTIONS, THREADS_OPTION, {.option = OPT_SECRET_FILE}, FROM_OPTION),
    .examples = EXAMPLES({"How often?", "echo evil.example | tamis count requests.tamis"},
                         {"The ten most frequent of these",
                          "tamis count requests.tamis names.txt | sort -rn | head"}),
    .about = "Each line is printed as it came, behind its count and a tab: how often the key was "
             "added and not removed. A count is never too low, and too high as rarely as the "
             "filter says yes wrongly. Kinds with small counters are sure only up to a limit; "
             "where a count reaches it a line on standard error says so.\n\n"
             "Only some kinds can count: \"tamis kinds\" tells which. To count lines that are in "
             "the set use \"tamis check -c\". A file that cannot be read is reported and left "
             "out; the others are still counted."
             ABOUT_FORM,
    .exits = "0 when a count is above 0, 1 when none is, 2 after an error.",
};
