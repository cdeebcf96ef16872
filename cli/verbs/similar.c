/* SPDX-License-Identifier: MIT */
/* similar.c: `tamis similar`, how much sets have in common. */
#include "cli/verbs/similar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- All pairs ---- */

struct comparing {
    const struct args *args;
    struct set *sets;
    size_t count;
    double min;
    struct pair *pair; /* those that are similar enough, the most similar first */
    size_t pairs, room;
};

static int by_similarity(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->similarity.value != y->similarity.value)
        return x->similarity.value > y->similarity.value ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static int keep_pair(struct comparing *c, const struct pair *pair) {
    if (!list_grow(&c->pair, &c->room, c->pairs + 1, sizeof *pair)) return fail_memory(c->args);
    c->pair[c->pairs++] = *pair;
    return 0;
}

static int compare_all(struct comparing *c) {
    int code = 0;
    for (size_t i = 0; i < c->count && !code; i++) {
        progress_show("comparing", i, c->count);
        for (size_t j = i + 1; j < c->count && !code; j++) {
            struct pair pair = {.first = &c->sets[i], .second = &c->sets[j]};
            code = sets_compare(c->args, &pair);
            if (!code && pair.similarity.value >= c->min) code = keep_pair(c, &pair);
        }
    }
    progress_wipe();
    if (c->pairs) qsort(c->pair, c->pairs, sizeof *c->pair, by_similarity);
    return code;
}

/* ---- For people ---- */

/* How much of one set is in the other: J (1 + r) / (1 + J), where the other is r times as large.
 * The sizes of sets that have much in common err together, and r errs less than they do. */
static struct tamis_estimate contained(const struct pair *pair, const struct set *set) {
    const struct set *other = set == pair->first ? pair->second : pair->first;
    const struct tamis_estimate own = set->keys, its = other->keys, j = pair->similarity;
    if (own.value <= 0) return (struct tamis_estimate){1, 0};
    if (its.value <= 0) return (struct tamis_estimate){0, 0};
    const double r = its.value / own.value, one_more = 1 + j.value;
    const double sizes = hypot(own.error / own.value, its.error / its.value) * sqrt(1 - j.value);
    return (struct tamis_estimate){
        fmin(1, pair->common.value / own.value),
        hypot((1 + r) / (one_more * one_more) * j.error, j.value / one_more * r * sizes)};
}

/* "33.4 %", followed by two errors unless there are none. A sample in which all agree, or none,
 * does not say that all keys do. */
static void print_share(struct tamis_estimate share) {
    const double margin = 2 * share.error;
    if (margin > 0 && share.value >= 1)
        printf("at least %s", human_share(fmax(0, 1 - margin)).text);
    else if (margin > 0 && share.value <= 0)
        printf("at most %s", human_share(fmin(1, margin)).text);
    else
        fputs(human_share(share.value).text, stdout);
    if (margin > 0 && share.value > 0 && share.value < 1)
        printf(" (+/- %s)", human_share(margin).text);
}

static void print_keys(struct tamis_estimate keys) {
    const uint64_t whole = (uint64_t)(keys.value + 0.5);
    printf("%s%s", keys.error >= 0.5 ? "about " : "", human_number(whole, "key").text);
    if (keys.error >= 0.5) printf(" (+/- %s)", human_margin(keys.error).text);
}

static void print_set(const struct pair *pair, const struct set *set) {
    printf("  ");
    color_words(stdout, ROLE_NAME, input_name(set->name));
    printf(": ");
    print_keys(set->keys);
    printf("; in common ");
    print_share(contained(pair, set));
    putchar('\n');
}

/* Two sets are told about at length. */
static void print_one(const struct pair *pair) {
    printf("similarity ");
    print_share(pair->similarity);
    printf("\nin common ");
    print_keys(pair->common);
    putchar('\n');
    print_set(pair, pair->first);
    print_set(pair, pair->second);
}

/* A line for each pair: similarity, its margin, and who. Tabs, for programs of lines. */
static void print_list(const struct comparing *c) {
    for (size_t i = 0; i < c->pairs; i++) {
        const struct pair *pair = &c->pair[i];
        printf("%s\t%.4f\t", human_part(pair->similarity.value).text, 2 * pair->similarity.error);
        human_text(stdout, pair->first->name);
        putchar('\t');
        human_text(stdout, pair->second->name);
        putchar('\n');
    }
}

/* ---- For programs ---- */

static void write_sets(struct json *json, const struct comparing *c) {
    json_open(json, "sets", '[');
    for (size_t i = 0; i < c->count; i++) {
        json_open(json, NULL, '{');
        json_text(json, "name", c->sets[i].name);
        json_bool(json, "is_image", c->sets[i].is_image);
        json_real(json, "keys", c->sets[i].keys.value);
        json_real(json, "keys_error", c->sets[i].keys.error);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_pairs(const struct comparing *c) {
    struct json json = json_start(stdout);
    json_bool(&json, "is_exact", given(c->args, OPT_EXACT));
    write_sets(&json, c);
    json_open(&json, "pairs", '[');
    for (size_t i = 0; i < c->pairs; i++) {
        const struct pair *pair = &c->pair[i];
        json_open(&json, NULL, '{');
        json_text(&json, "first", pair->first->name);
        json_text(&json, "second", pair->second->name);
        json_real(&json, "similarity", pair->similarity.value);
        json_real(&json, "similarity_error", pair->similarity.error);
        json_real(&json, "common", pair->common.value);
        json_real(&json, "common_error", pair->common.error);
        json_real(&json, "of_first", contained(pair, pair->first).value);
        json_real(&json, "of_first_error", contained(pair, pair->first).error);
        json_real(&json, "of_second", contained(pair, pair->second).value);
        json_real(&json, "of_second_error", contained(pair, pair->second).error);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

/* ---- The verb ---- */

/* A share from 0 to 1, ends included, which rates are not. */
static int read_least(const struct args *args, double *min) {
    const char *text = args->setting[OPT_MIN_SIMILARITY].text;
    if (strcmp(text, "0") == 0 || strcmp(text, "1") == 0 || strcmp(text, "100%") == 0) {
        *min = *text == '0' ? 0 : 1;
        return 0;
    }
    return tamis_parse_rate(text, min) ? 0 : fail_why(args, "--min-similarity", TAMIS_INVALID);
}

static int check_options(const struct args *args) {
    const uint64_t words = args->setting[OPT_SHINGLES].number;
    if (given(args, OPT_SHINGLES) && (words < 1 || words > MAX_WORDS))
        return fail(args, "--shingles", "%s words are not a shingle (allowed: 1 to %d)",
                    args->setting[OPT_SHINGLES].text, MAX_WORDS);
    if (given(args, OPT_EXACT) && given(args, OPT_BINS))
        return fail(args, NULL, "--exact and --bins cannot be combined");
    return 0;
}

static int run(const struct args *args) {
    const bool is_one_pair = args->operand_count == 2;
    struct comparing c = {.args = args, .count = args->operand_count};
    c.min = is_one_pair ? 0 : 0.5;
    int code = check_options(args);
    if (!code && given(args, OPT_MIN_SIMILARITY)) code = read_least(args, &c.min);
    if (!code) code = sets_open(&c.sets, args);
    if (!code) code = compare_all(&c);
    if (!code && given(args, OPT_JSON))
        write_pairs(&c);
    else if (!code && is_one_pair && c.pairs > 0)
        print_one(&c.pair[0]);
    else if (!code)
        print_list(&c);
    if (!code) code = c.pairs > 0 ? EXIT_FOUND : EXIT_NOTHING;
    sets_close(c.sets, c.count);
    free(c.pair);
    return code;
}

/* clang-format off */

const struct verb verb_similar = {
    .name = "similar",
    .also = "similarity jaccard compare overlap alike near-duplicates",
    .summary = "estimate how much sets overlap",
    .run = run,
    .operands = OPERANDS({"FILE", EXACTLY_ONE, READS_STDIN}, {"FILE", ONE_OR_MORE, READS_STDIN}),
    .uses = USES(
        {.option = OPT_MIN_SIMILARITY,
         .help = "minimum similarity of pairs (default: 0.5; none for two files)"},
        {.option = OPT_SHINGLES},
        {.option = OPT_EXACT, .help = "no estimate: keep and compare 8 bytes of every key"},
        {.option = OPT_BINS,
         .help = "bins per file (default: 4096); the error falls with the square root"},
        {.option = OPT_JSON, .help = "print one JSON object"},
        KEY_OPTIONS, {.option = OPT_SECRET_FILE}, THREADS_OPTION),
    .examples =
        EXAMPLES({"Estimate how much two lists share", "tamis similar monday.txt tuesday.txt"},
                 {"Compare them exactly", "tamis similar --exact monday.txt tuesday.txt"},
                 {"Find texts that are nearly the same",
                  "tamis similar --shingles 5 --min-similarity 80% *.txt"},
                 {"Compare images, without their keys", "tamis similar monday.tamis tuesday.tamis"},
                 {"Estimate how much of an image is in a file",
                  "tamis similar users.tamis today.txt"}),
    .about = "Similarity is Jaccard's: the keys in both sets as a share of all their keys. For "
             "two files it prints a report; for more, a line for each pair that reaches "
             "--min-similarity, most similar first: the similarity, its margin, and the two "
             "names, separated by tabs. Margins (+/-) are two standard errors: the truth lies "
             "outside in one case in twenty.\n\n"
             "Files of keys are sketched on the fly by minhash, in 32 KiB each however large they "
             "are, with an error of at most 1.6 points (two standard errors with 4096 bins; four "
             "times as many bins halve it). --exact sorts and compares the hashes of all keys, "
             "which is right unless two keys share a 64-bit hash.\n\n"
             "With --shingles, files are texts: their keys are all sequences of N words, across "
             "lines, so that two texts are similar if they share passages. A small N also finds "
             "texts on the same subject; 4 to 8 finds copies. --canon lower ignores case.\n\n"
             "Images must have the same kind, shape and hash, as for \"tamis union\". Kinds other "
             "than minhash estimate from three key counts, which is precise for sets that share "
             "much and poor for those that share little. A file given with images is read into a "
             "filter like the first image. \"tamis fold --keep\" makes minhash images smaller.\n\n"
             "--json prints one object: is_exact; sets, each with name, is_image, keys, "
             "keys_error; pairs, each with first, second, similarity, common (keys), of_first and "
             "of_second (the share of each that the other has), and the standard error of each as "
             "NAME_error.",
    .exits = "0 a pair was printed, 1 none is similar enough, 2 error.",
};
