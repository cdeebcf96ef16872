/* SPDX-License-Identifier: MIT */
/* features.c: `tamis features`, lines of words as sparse vectors of a fixed number of places. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "tamis_jobs.h"

enum { USUAL_PLACES = 1 << 20 };

struct hashing {
    struct tamis_features shape;
    bool has_labels;
    const struct args *args;
};

/* What one word adds. */
struct feature {
    uint64_t place;
    int64_t value;
};

static int by_place(const void *a, const void *b) {
    const struct feature *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* " PLACE:VALUE" for every place that is not 0, from 1 on as libsvm counts. */
static void print_features(struct text *out, struct feature *feature, size_t n) {
    if (n) qsort(feature, n, sizeof *feature, by_place);
    for (size_t i = 0, next; i < n; i = next) {
        int64_t sum = 0;
        char words[64];
        for (next = i; next < n && feature[next].place == feature[i].place; next++)
            sum += feature[next].value;
        if (sum == 0) continue; /* They have cancelled out. */
        snprintf(words, sizeof words, " %" PRIu64 ":%" PRId64, feature[i].place + 1, sum);
        text_words(out, words);
    }
    text_byte(out, '\n');
}

/* A line becomes its label, or 0, and its features. A word has at least two bytes, with the
 * blank. */
static void hash_line(const struct hashing *h, const struct tamis_key *line, struct text *out) {
    const char *p = line->bytes, *end = p + line->len;
    struct feature *feature = malloc((line->len / 2 + 1) * sizeof *feature);
    size_t n = 0;
    if (!feature) {
        out->is_short_of_memory = true;
        return;
    }
    const struct tamis_key label = h->has_labels ? next_word(&p, end) : (struct tamis_key){"0", 1};
    for (struct tamis_key word; (word = next_word(&p, end)).len > 0; n++) {
        int sign;
        feature[n].place = tamis_features_place(&h->shape, word.bytes, word.len, &sign);
        feature[n].value = sign;
    }
    if (label.len)
        text_add(out, label.bytes, label.len);
    else
        text_byte(out, '0');
    print_features(out, feature, n);
    free(feature);
}

static void hash_batch(void *with, struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++) hash_line(with, &batch->key[i], &batch->out);
}

static int take_batch(void *with, struct batch *batch) {
    const struct hashing *h = with;
    return batch->out.is_short_of_memory ? fail_memory(h->args) : 0;
}

static int run(const struct args *args) {
    struct hashing h = {.args = args,
                        .shape = {.places = number_or(args, OPT_DIMENSIONS, USUAL_PLACES),
                                  .seed = args->setting[OPT_SEED].number,
                                  .is_signed = given(args, OPT_SIGNED)},
                        .has_labels = given(args, OPT_LABELS)};
    const struct handler handler = {
        .ask = hash_batch, .take = take_batch, .goes_on = true, .with = &h};
    struct keys keys;
    if (h.shape.places < 1 || h.shape.places > (uint64_t)1 << 32)
        return fail(args, "--dimensions", "%s is out of range (allowed: 1 to 2^32)",
                    args->setting[OPT_DIMENSIONS].text);
    int code = keys_open(&keys, args, 0);
    if (!code) code = keys_run(&keys, &handler);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_features = {
    .name = "features",
    .also = "hashing-trick vectorize svmlight libsvm",
    .summary = "turn lines of words into sparse vectors, for machine learning",
    .run = run,
    .operands = OPERANDS({"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_DIMENSIONS}, {.option = OPT_SIGNED},
                 {.option = OPT_LABELS,
                  .help = "print the first word of each line as its label"},
                 {.option = OPT_SEED}, KEY_OPTIONS, THREADS_OPTION),
    .examples =
        EXAMPLES({"Convert texts, one per line, for libsvm or liblinear",
                  "tamis features --signed --dimensions 65536 mails.txt >mails.svm"},
                 {"Keep the label before each text, such as +1 or -1",
                  "tamis features --labels --signed mails.txt >mails.svm"},
                 {"Use the third field, ignoring case",
                  "tamis features --canon lower --field 3 table.tsv"}),
    .about = "Each line becomes a vector: every word selects one of --dimensions by its hash and "
             "counts 1 there, or with --signed 1 or -1 by another bit of the hash. No dictionary "
             "is needed, and new words are handled too. With signs, colliding words cancel out on "
             "average and inner products are preserved: the expected product of two vectors is "
             "the product of their word counts, with a variance of at most (product^2 + lengths "
             "squared) / dimensions.\n\n"
             "The output format is that of svmlight and libsvm: the label, or 0, then INDEX:COUNT "
             "for each index that is not 0, ascending from 1. The library offers the same as "
             "tamis_features_add, for vectors in memory.",
    .exits = "0 all lines were read, 2 error.",
};
