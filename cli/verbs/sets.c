/* SPDX-License-Identifier: MIT */
/* sets.c: `tamis union`, `tamis intersect` and `tamis fold`, images from images. */
#include "cli/cli.h"

typedef tamis_status combine(tamis *into, const tamis *from);

/* How many keys two sets share is told by their filters, not by what is left of them afterwards. */
static void tell_common(const struct args *args, const tamis *a, const tamis *b) {
    struct tamis_estimate common;
    const struct tamis_info info = info_measured(a);
    if (given(args, OPT_QUIET) || !(info.abilities & TAMIS_CAN_INTERSECT)) return;
    if (tamis_overlap(a, b, &common)) return;
    fprintf(stderr, "about %s keys in common (+/- %s)\n",
            human_count((uint64_t)(common.value + 0.5)).text, human_margin(common.error).text);
}

/* Combines the filter with one more image. */
static int combine_with(const struct args *args, struct image *into, const char *path,
                        combine *with) {
    struct image from;
    int code = image_open(&from, args, path, TO_ASK);
    if (!code) code = form_is_shared(args, into, &from);
    if (!code && with == tamis_intersect && args->operand_count == 2)
        tell_common(args, into->filter, from.filter);
    const tamis_status status = code ? TAMIS_OK : with(into->filter, from.filter);
    if (status == TAMIS_MISMATCH)
        code = fail(args, NULL, "%s and %s do not match: %s", input_name(into->path),
                    input_name(path), tamis_why());
    else if (status)
        code = fail_why(args, input_name(status == TAMIS_UNSUPPORTED ? into->path : path), status);
    image_close(&from);
    return code;
}

static int combine_all(const struct args *args, combine *with) {
    const char *output = args->setting[OPT_OUTPUT].text;
    struct image into = {0};
    const struct human what = human_words("from %s images", human_count(args->operand_count).text);
    int code = image_may_write(args, output);
    if (!code) code = image_open(&into, args, args->operand[0], TO_CHANGE);
    for (size_t i = 1; !code && i < args->operand_count; i++)
        code = combine_with(args, &into, args->operand[i], with);
    if (!code) code = image_write(args, into.filter, output);
    if (!code) image_summary(args, into.filter, output, what.text, AFTER_CHANGE);
    image_close(&into);
    return code;
}

static int run_union(const struct args *args) {
    return combine_all(args, tamis_merge);
}

static int run_intersect(const struct args *args) {
    return combine_all(args, tamis_intersect);
}

/* ---- Folding ---- */

/* Halves the filter as often as its rate stays at or below `max`; `by` is how far it got. */
static int fold_to_rate(const struct args *args, struct image *image, double max, uint64_t *by) {
    const double rate = tamis_fpr_now(image->filter);
    if (rate > max)
        return fail(args, input_name(image->path), "the false-positive rate is already %s",
                    human_rate(rate).text);
    for (*by = 1;; *by *= 2) {
        /* On a copy, because a fold that went too far cannot be taken back. */
        tamis *smaller = NULL;
        tamis_status status = tamis_copy(&smaller, image->filter);
        if (!status) status = tamis_fold(smaller, 2);
        const bool is_odd = status == TAMIS_INVALID; /* Two does not divide it: the end. */
        const bool is_good = !status && tamis_fpr_now(smaller) <= max;
        if (!is_good) {
            tamis_free(smaller);
            if (status && !is_odd) return fail_why(args, input_name(image->path), status);
            if (is_odd && *by == 1) warn(args, input_name(image->path), "%s", tamis_why());
            return 0;
        }
        tamis_free(image->filter);
        image->filter = smaller;
    }
}

/* Fewer bits of each number, of a sketch. */
static int shrink_to(const struct args *args, struct image *image, uint64_t keep) {
    const int code = image_needs(args, image, TAMIS_CAN_SHRINK, "keep fewer bits of a number");
    if (code) return code;
    return check_status(args, input_name(image->path),
                        tamis_shrink(image->filter, keep < 64 ? (unsigned)keep : 64));
}

/* BY, --by, --fpr and --keep say how far; exactly one of them must. */
static int read_fold(const struct args *args, uint64_t *by) {
    const bool has_operand = args->operand_count > 1, has_by = given(args, OPT_BY);
    const bool has_other = given(args, OPT_FPR) || given(args, OPT_KEEP);
    const bool has_both = given(args, OPT_FPR) && given(args, OPT_KEEP);
    *by = has_by ? args->setting[OPT_BY].number : 0;
    if (has_operand + has_by + has_other + has_both != 1)
        return fail(args, NULL, "give exactly one of BY, --by N, --fpr P and --keep B");
    if (has_operand && !tamis_parse_count(args->operand[1], by))
        return fail_why(args, "BY", TAMIS_INVALID);
    return 0;
}

static int run_fold(const struct args *args) {
    const char *output = args->setting[OPT_OUTPUT].text;
    struct image image = {0};
    uint64_t by = 0;
    int code = read_fold(args, &by);
    if (!code) code = image_may_write(args, output);
    if (!code) code = image_open(&image, args, args->operand[0], TO_CHANGE);
    if (!code && given(args, OPT_FPR))
        code = fold_to_rate(args, &image, args->setting[OPT_FPR].rate, &by);
    else if (!code && given(args, OPT_KEEP))
        code = shrink_to(args, &image, args->setting[OPT_KEEP].number);
    else if (!code)
        code = check_status(args, input_name(image.path), tamis_fold(image.filter, by));
    if (!code) code = image_write(args, image.filter, output);
    const uint64_t keep = args->setting[OPT_KEEP].number;
    const struct human what = given(args, OPT_KEEP)
                                  ? human_words("%s of each number", human_number(keep, "bit").text)
                                  : human_words("folded by %s", human_count(by).text);
    if (!code) image_summary(args, image.filter, output, what.text, AFTER_FOLD);
    image_close(&image);
    return code;
}

/* clang-format off */

const struct verb verb_union = {
    .name = "union",
    .also = "or",
    .aliases = "join merge",
    .moved = "the result goes to --output, never into an input image",
    .summary = "merge the sets of several images into one",
    .run = run_union,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"IMAGE", ONE_OR_MORE, READS_STDIN}),
    .uses = USES(OUTPUT_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES(
        {"Combine the images of a week",
         "tamis union mon.tamis tue.tamis wed.tamis -o week.tamis"}),
    .about = "The result is bit for bit what adding all keys to one filter would have given. The "
             "images must have the same kind, shape and hash: build them with the same spec. "
             "Notes are those of the first.",
};

const struct verb verb_intersect = {
    .name = "intersect",
    .also = "and common",
    .summary = "make an image of what all sets share",
    .run = run_intersect,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"IMAGE", ONE_OR_MORE, READS_STDIN}),
    .uses = USES(OUTPUT_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples =
        EXAMPLES({"Find who came on both days",
                  "tamis intersect mon.tamis tue.tamis -o both.tamis"}),
    .about = "The result contains every key that is in all of the sets, and has a slightly higher "
             "false-positive rate than a filter built from those keys alone. The images must have "
             "the same kind, shape and hash. Notes are those of the first.",
};

const struct verb verb_fold = {
    .name = "fold",
    .also = "shrink halve",
    .summary = "shrink an image without its keys",
    .run = run_fold,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"BY", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_BY, .help = "reduction factor, same as BY"},
                 {.option = OPT_FPR, .help = "halve it as long as its false-positive rate stays "
                                             "at or below P"},
                 {.option = OPT_KEEP}, OUTPUT_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"Shrink to a quarter", "tamis fold big.tamis 4 -o small.tamis"},
                         {"Shrink as far as one false positive in a hundred allows",
                          "tamis fold big.tamis --fpr 1% -o small.tamis"},
                         {"Shrink a sketch to a kilobyte, for comparing only",
                          "tamis fold words.tamis --keep 8 -o small.tamis"}),
    .about = "Shrinks an oversized filter: every key stays in, and the false-positive rate rises. "
             "BY must divide the number of blocks or bits, which \"tamis info\" prints as the "
             "shape: a filter built with a --size of 2^N can be folded by any power of two.\n\n"
             "For a sketch of kind minhash, BY reduces the number of bins, and it can still be "
             "merged. --keep keeps only 1 to 16 bits of each number: the sketch can still be "
             "compared with others folded that way, but accepts no keys and cannot be merged.",
};
