/* count.c: `tamis count`, how often each key was added. */
#include "cli/cli.h"

#include <inttypes.h>

struct counting {
    const tamis *filter;
    uint64_t sure;       /* a count that reaches this may be too low; UINT64_MAX: none is */
    bool is_any_found;   /* was a count above 0? */
    bool is_any_at_sure; /* did a count reach `sure`? */
};

static void count_batch(struct counting *counting, const struct keys *keys) {
    const bool is_quiet = given(keys->args, OPT_QUIET);
    for (size_t i = 0; i < keys->n; i++) {
        const struct tamis_key *key = &keys->key[i];
        const uint64_t count = tamis_count(counting->filter, key->bytes, key->len);
        if (count > 0) counting->is_any_found = true;
        if (count >= counting->sure) counting->is_any_at_sure = true;
        if (is_quiet) continue;
        print_place(keys, i);
        printf("%" PRIu64 "\t", count);
        print_line(keys, i);
    }
}

static int count_keys(struct counting *counting, struct keys *keys) {
    bool had_trouble = false;
    for (;;) {
        switch (keys_next(keys)) {
        case KEYS_SOME:
            count_batch(counting, keys);
            if (print_batch_end(keys)) return EXIT_TROUBLE;
            if (given(keys->args, OPT_QUIET) && counting->is_any_found) return EXIT_FOUND;
            break;
        case KEYS_FILE_DONE: break;
        case KEYS_TROUBLE: had_trouble = true; break;
        case KEYS_DONE:
            return had_trouble ? EXIT_TROUBLE : counting->is_any_found ? EXIT_FOUND : EXIT_NOTHING;
        }
    }
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
    counting = (struct counting){.filter = image.filter, .sure = info.sure_count};
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
             KEY_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"How often?", "echo evil.example | tamis count requests.tamis"},
                         {"The ten most frequent of these",
                          "tamis count requests.tamis names.txt | sort -rn | head"}),
    .about = "Each line is printed as it came, behind its count and a tab: how often the key was "
             "added and not removed. A count is never too low, and too high as rarely as the "
             "filter says yes wrongly. Kinds with small counters are sure only up to a limit; "
             "where a count reaches it a line on standard error says so.\n\n"
             "Only some kinds can count: \"tamis kinds\" tells which. To count lines that are in "
             "the set use \"tamis check -c\". A file that cannot be read is reported and left "
             "out; the others are still counted.",
    .exits = "0 when a count is above 0, 1 when none is, 2 after an error.",
};
