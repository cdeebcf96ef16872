/* SPDX-License-Identifier: MIT */
/* check.c: `tamis check`, grep with a filter for a pattern. */
#include "cli/cli.h"
#include "tamis_engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- Is it in the set? ---- */

static void ask(void *with, struct batch *batch) {
    batch_has(batch->keys->filter, batch);
    show_hits(with, batch, NULL, NULL);
}

/* ---- Which labels? ---- */

struct labelling {
    struct hits hits;
    const tamis *filter;
    uint64_t *label; /* of the key that is printed now */
    size_t room;
    char **name; /* as printed, made when first needed: finding one may take long */
    bool is_short_of_memory;
};

/* Commas stand between names, so one inside a name gets a backslash. */
static char *escape(const char *name) {
    char *escaped = malloc(2 * strlen(name) + 1), *to = escaped;
    for (; escaped && *name; name++) {
        if (*name == ',' || *name == '\\') *to++ = '\\';
        *to++ = *name;
    }
    if (escaped) *to = '\0';
    return escaped;
}

/* All labels of a key, and how many; NULL when memory is out. */
static const uint64_t *all_labels(struct labelling *labelling, uint64_t hash, size_t *n) {
    *n = tamis_labels_hash(labelling->filter, hash, labelling->label, labelling->room);
    if (*n <= labelling->room) return labelling->label;
    if (!list_grow(&labelling->label, &labelling->room, *n, sizeof hash)) return NULL;
    return all_labels(labelling, hash, n);
}

static void print_labels(void *with, struct batch *batch, size_t i) {
    struct labelling *labelling = with;
    size_t n;
    const uint64_t *label = all_labels(labelling, batch->hash[i], &n);
    if (!label) labelling->is_short_of_memory = true;
    print_pair_start(batch, i);
    for (size_t j = 0; label && j < n; j++) {
        char **name = &labelling->name[label[j]];
        if (!*name) *name = escape(tamis_label_name(labelling->filter, label[j]));
        if (!*name) labelling->is_short_of_memory = true;
        if (j > 0) text_byte(&batch->out, ',');
        if (*name) text_words(&batch->out, *name);
    }
    print_pair_end(batch);
}

static void ask_labels(void *with, struct batch *batch) {
    struct labelling *labelling = with;
    for (size_t i = 0; i < batch->n; i++)
        batch->hit[i] = tamis_labels_hash(labelling->filter, batch->hash[i], NULL, 0) > 0;
    show_hits(&labelling->hits, batch, print_labels, labelling);
}

static int check_labels(const struct args *args, struct keys *keys) {
    struct labelling labelling = {.filter = keys->filter};
    const uint64_t count = tamis_label_count(keys->filter);
    labelling.name = calloc((size_t)count + 1, sizeof *labelling.name);
    keys->threads = 1; /* The names are found once for all keys. */
    int code = labelling.name ? query_keys(keys, &labelling.hits, ask_labels) : fail_memory(args);
    if (labelling.is_short_of_memory) code = fail_memory(args);
    for (uint64_t i = 0; labelling.name && i < count; i++) free(labelling.name[i]);
    free(labelling.name);
    free(labelling.label);
    return code;
}

/* ---- The verb ---- */

static int run(const struct args *args) {
    const bool with_labels = given(args, OPT_LABELS);
    struct image image = {0};
    struct hits hits = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_knows_keys(args, &image);
    if (!code && with_labels) code = image_needs(args, &image, TAMIS_CAN_LABEL, "have labels");
    keys_hash_by(&keys, image.filter);
    if (!code) code = with_labels ? check_labels(args, &keys) : query_keys(&keys, &hits, ask);
    image_close(&image);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_check = {
    .name = "check",
    .also = "test query has grep contains",
    .summary = "print the keys that are in the set",
    .run = run,
    .operands = IMAGE_AND_FILES,
    .uses = USES(
        {.option = OPT_INVERT}, {.option = OPT_LABELS}, ASK_OPTIONS, FROM_OPTION),
    .examples =
        EXAMPLES({"Print the requests that are on the list",
                  "tamis check blocklist.tamis requests.txt"},
                 {"Count those that are not", "tamis check -vc blocklist.tamis requests.txt"},
                 {"Test a single key",
                  "if echo evil.example | tamis check -q blocklist.tamis; then echo blocked; fi"},
                 {"Print the lists that have each request",
                  "tamis check --labels feeds.tamis requests.txt"},
                 {"Query a filter of numbers written by a Java program",
                  "tamis check --from guava --keys int64 orders.bin numbers.txt"}),
    .about = "Prints each line whose key is in the set, unchanged. A few others pass too, at the "
             "rate that \"tamis info\" reports. What -v prints is certainly not in the set, except "
             "with kinds that may forget; their contract says when.\n\n"
             "With --labels, each line ends in a tab and the names of the sets that have its key, "
             "separated by commas. Commas and backslashes in names are escaped with a "
             "backslash.\n\n"
             "A file that cannot be read is reported and skipped; the others are still checked. "
             "With -c and -H, prints one count per file."
             ABOUT_FORM,
    .exits = "0 a line was printed or counted, 1 none was, 2 error.",
};
