/* SPDX-License-Identifier: MIT */
/* get.c: `tamis get`, the values of keys. */
#include "cli/cli.h"
#include "tamis_engine.h"

static void print_value(void *with, struct batch *batch, size_t i) {
    (void)with;
    print_pair_start(batch, i);
    text_count(&batch->out, batch->value[i]);
    print_pair_end(batch);
}

static void ask(void *with, struct batch *batch) {
    tamis_get_hashes(batch->keys->filter, batch->hash, batch->n, batch->value, batch->hit);
    show_hits(with, batch);
}

static int run(const struct args *args) {
    struct image image = {0};
    struct hits hits = {.print = print_value};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_GET, "look up values");
    keys_hash_by(&keys, image.filter);
    if (!code) code = query_keys(&keys, &hits, ask);
    image_close(&image);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_get = {
    .name = "get",
    .also = "value values lookup map",
    .summary = "print the values of keys",
    .run = run,
    .operands = IMAGE_AND_FILES,
    .uses = USES({.option = OPT_INVERT, .help = "print the lines that have no value"}, ASK_OPTIONS),
    .examples = EXAMPLES({"Print where addresses are from",
                          "tamis get country.tamis addresses.txt"},
                         {"Print the unknown ones", "tamis get -v country.tamis addresses.txt"},
                         {"Look up one key", "echo 192.0.2.7 | tamis get country.tamis | cut -f2"}),
    .about = "Prints each line whose key has a value, then a tab and the value. The value of a key "
             "in the map is right (with approximator it is an upper bound); a key that is not in "
             "the map gets a value at the false-positive rate, and always if the map was built "
             "without guard bits.\n\n"
             "Only some kinds have values: see \"tamis kinds\". A file that cannot be read is "
             "reported and skipped."
             ABOUT_FORM,
    .exits = "0 a line was printed or counted, 1 none was, 2 error.",
};
