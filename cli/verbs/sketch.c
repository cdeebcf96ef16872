/* SPDX-License-Identifier: MIT */
/* sketch.c: `tamis sketch`, a small summary of a set of keys, to be compared with others. */
#include "cli/cli.h"
#include "tamis_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which sketch ---- */

/* What is made for those who do not say how many keys will differ, or how exact counts should
 * be. */
static const char usual_differences[] = "1000", usual_error[] = "0.1%";

enum { MIN_MEMORY = 1 << 20 }; /* the hashes of a block of short lines, and as many again */

static int check_options(const struct args *args) {
    static const enum option_id apart[][2] = {{OPT_SIMILAR, OPT_COUNTS},
                                              {OPT_SIMILAR, OPT_DIFFERENCES},
                                              {OPT_COUNTS, OPT_DIFFERENCES},
                                              {OPT_SIMILAR, OPT_SPEC},
                                              {OPT_COUNTS, OPT_SPEC}};
    static const enum option_id belongs[][2] = {
        {OPT_BINS, OPT_SIMILAR}, {OPT_ERROR, OPT_COUNTS}, {OPT_ERROR_PROB, OPT_COUNTS}};
    if (options_apart(args, apart, sizeof apart / sizeof apart[0])) return EXIT_TROUBLE;
    for (size_t i = 0; i < sizeof belongs / sizeof belongs[0]; i++)
        if (given(args, belongs[i][0]) && !given(args, belongs[i][1]))
            return fail(args, NULL, "--%s needs --%s", option_named(belongs[i][0])->name,
                        option_named(belongs[i][1])->name);
    if (given(args, OPT_MEMORY) && args->setting[OPT_MEMORY].number < MIN_MEMORY)
        return fail(args, "--memory", "%s is too small (minimum: %s)",
                    human_bytes(args->setting[OPT_MEMORY].number).text,
                    human_bytes(MIN_MEMORY).text);
    return 0;
}

/* The complete spec, on the heap; NULL, reported, when that fails. */
static char *whole_spec(const struct args *args) {
    const char *kind = given(args, OPT_SIMILAR)  ? "minhash"
                       : given(args, OPT_COUNTS) ? "countmin"
                                                 : "iblt";
    char *spec = spec_given(args, kind);
    if (given(args, OPT_SPEC) || given(args, OPT_SIMILAR)) return spec;
    if (given(args, OPT_COUNTS) && !given(args, OPT_ERROR))
        spec_set(args, &spec, "error", usual_error);
    if (!given(args, OPT_COUNTS) && !given(args, OPT_DIFFERENCES))
        spec_set(args, &spec, "differences", usual_differences);
    return spec;
}

/* ---- Distinct hashes ---- */

/* What lists differences wants each key once, so all hashes are kept until the last has come. When
 * they fill their memory, repeats are thrown out. */
struct sketching {
    const struct args *args;
    tamis *filter;
    bool is_set; /* keys go in once */
    uint64_t *hash;
    size_t n, room;
    uint64_t lines, keys;
};

/* Room for `more`: repeats go first; where more than half of it is full then, it doubles. */
static int make_room(struct sketching *s, size_t more) {
    const uint64_t max = memory_wanted(s->args) / sizeof *s->hash;
    if (s->n + more <= s->room) return 0;
    (void)sort_distinct(s->hash, &s->n, NULL);
    const size_t needed = s->n + more;
    if (needed > max)
        return fail(s->args, "--memory", "%s hold only %s distinct keys, and the input has more",
                    human_bytes(memory_wanted(s->args)).text, human_count(max).text);
    const size_t room = needed < max / 2 ? 2 * needed : (size_t)max;
    if (needed <= s->room / 2 || room <= s->room) return 0;
    uint64_t *hash = realloc(s->hash, room * sizeof *hash);
    if (!hash) return fail_memory(s->args);
    s->hash = hash;
    s->room = room;
    return 0;
}

static int take_batch(void *with, struct batch *batch) {
    struct sketching *s = with;
    s->lines += batch->n;
    if (s->is_set) {
        const int code = make_room(s, batch->n);
        if (code) return code;
        memcpy(s->hash + s->n, batch->hash, batch->n * sizeof *s->hash);
        s->n += batch->n;
        return 0;
    }
    return check_status(s->args, input_name(batch->from->name), batch_add(s->filter, batch));
}

static int add_distinct(struct sketching *s) {
    (void)sort_distinct(s->hash, &s->n, NULL);
    s->keys = s->n;
    return check_status(s->args, NULL, tamis_add_hashes(s->filter, s->hash, s->n));
}

/* ---- What is said ---- */

/* What the estimator of differences is off by, of one. */
static double error_of_size(const struct tamis_info *info) {
    enum { STRATA = 2 };
    const uint64_t counters = shape_word(info->word_name, info->word, "counters");
    if (shape_word(info->word_name, info->word, "estimator") == STRATA)
        return 0.11; /* measured: docs/kinds/iblt.md */
    return counters > 0 ? sqrt(2 / (double)counters) : 0;
}

/* What this sketch is good for. */
static void tell_use(const struct args *args, const struct tamis_info *info) {
    const uint64_t bins = shape_word(info->word_name, info->word, "bins");
    if (info->abilities & TAMIS_CAN_DIFFER) {
        const uint64_t max = number_or(args, OPT_DIFFERENCES, 1000);
        if (!given(args, OPT_SPEC))
            fprintf(stderr, "; lists up to %s", human_number(max, "differing key").text);
        if (error_of_size(info) > 0)
            fprintf(stderr, "; estimates the number of differences, standard error %s",
                    human_share(error_of_size(info)).text);
    } else if (bins > 0) {
        fprintf(stderr, "; estimates similarity, standard error at most %s",
                human_share(0.5 / sqrt((double)bins)).text);
    }
}

/* "a.tamis: iblt of 1,000 keys (1,200 lines), 38.1 KiB; lists what differs, up to 1,000 keys;
 * ..." */
static void tell(const struct sketching *s) {
    if (given(s->args, OPT_QUIET)) return;
    const struct tamis_info info = info_measured(s->filter);
    fprintf(stderr, "%s: %s of %s", output_name(s->args->operand[0]), info.kind,
            s->is_set ? human_number(s->keys, "key").text : human_number(s->lines, "line").text);
    if (s->is_set && s->lines != s->keys)
        fprintf(stderr, " (%s lines)", human_count(s->lines).text);
    fprintf(stderr, ", %s", human_bytes(tamis_image_size(s->filter)).text);
    tell_use(s->args, &info);
    putc('\n', stderr);
}

/* ---- The verb ---- */

/* Filters of other systems bring no hashes, and what is built once no adds. */
static int make_filter(struct sketching *s, const char *spec) {
    const struct tamis_options options = image_options(s->args);
    const tamis_status status = tamis_create_with(&s->filter, spec, &options);
    if (status) return fail_why(s->args, NULL, status);
    const struct tamis_info info = info_measured(s->filter);
    s->is_set = info.abilities & TAMIS_CAN_DIFFER;
    if (!s->is_set && !(info.abilities & TAMIS_IS_SKETCH) && !given(s->args, OPT_COUNTS))
        return fail(s->args, NULL, "%s is not a sketch; use \"tamis build\" for filters",
                    info.kind);
    return 0;
}

static int make(struct sketching *s, struct keys *keys, const char *spec) {
    const char *path = s->args->operand[0];
    int code = make_filter(s, spec);
    if (!code) code = set_notes(s->args, s->filter);
    if (!code) code = form_record(s->args, s->filter, NULL);
    if (code) return code;
    keys_hash_by(keys, s->filter);
    code = keys_run(keys, &(struct handler){.take = take_batch, .with = s});
    if (!code && s->is_set) code = add_distinct(s);
    if (!code) code = image_write(s->args, s->filter, path);
    if (!code) tell(s);
    return code;
}

static int run(const struct args *args) {
    struct sketching s = {.args = args};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = check_options(args);
    if (!code) code = image_may_write(args, args->operand[0]);
    char *spec = code ? NULL : whole_spec(args);
    code = spec ? make(&s, &keys, spec) : EXIT_TROUBLE;
    free(spec);
    free(s.hash);
    tamis_free(s.filter);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_sketch = {
    .name = "sketch",
    .also = "summary summarise digest minhash iblt",
    .summary = "make a small summary of a set, for comparison with others",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, WRITES_STDOUT},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_DIFFERENCES}, {.option = OPT_SIMILAR}, {.option = OPT_BINS},
                 {.option = OPT_COUNTS, .help = "to count how often keys occur (countmin)"},
                 {.option = OPT_ERROR}, {.option = OPT_ERROR_PROB}, {.option = OPT_SPEC},
                 {.option = OPT_HASH}, {.option = OPT_SEED}, {.option = OPT_SECRET_FILE},
                 KEY_OPTIONS,
                 {.option = OPT_MEMORY,
                  .help = "memory for distinguishing keys, 8 bytes each (default: a quarter of "
                          "RAM)"},
                 THREADS_OPTION, {.option = OPT_NOTE}, {.option = OPT_FORCE}, {.option = OPT_WAIT}),
    .examples = EXAMPLES({"Summarise a list, for a host whose list is nearly the same",
                          "tamis sketch a.tamis names.txt --differences 500"},
                         {"Print the differences there",
                          "tamis reconcile a.tamis names-here.txt"},
                         {"Summarise a text, to estimate similarity",
                          "tr -s '[:space:]' '\\n' <a.txt | tamis sketch a.tamis --similar"},
                         {"Use a secret, so that nobody can forge a difference",
                          "tamis sketch a.tamis names.txt --secret-file both-have-it"}),
    .about = "A sketch describes a set and almost nothing about single keys. It is small, does not "
             "grow with the keys, and is made to be sent: two sketches of one shape can be "
             "compared, and sketches of parts are joined by \"tamis union\".\n\n"
             "--differences N, the default (1,000), is for sets that are nearly equal: a table "
             "(kind iblt) that lists up to N keys that only one of two sets has, 999 times out of "
             "1,000. With more differences it lists only some, and estimates how many there are. "
             "It takes 30 to 50 bytes per difference, more if N is below 100, and 4 KiB for the "
             "estimate. Repeated lines are one key: hashes are kept in memory until the input "
             "ends.\n\n"
             "--similar is for sets of any size: the share of all keys that both have (kind "
             "minhash). --counts is for streams: how often a key occurred (kind countmin), at most "
             "0.1 % of all too high unless --error is given. --spec gives any other shape of these "
             "kinds, such as \"iblt:differences=50,estimator=strata\"." ABOUT_FORM,
    .exits = "0 the sketch was written, 2 error.",
};
