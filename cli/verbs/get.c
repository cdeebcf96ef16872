/* get.c: `tamis get`, the values of keys. */
#include "cli/cli.h"

#include <inttypes.h>

struct getting {
    const tamis *filter;
    uint64_t value[KEYS_PER_BATCH];
};

static void ask_value(void *with, const struct keys *keys, uint8_t *hit) {
    struct getting *getting = with;
    uint64_t hash[KEYS_PER_BATCH];
    for (size_t i = 0; i < keys->n; i++)
        hash[i] = tamis_hash(getting->filter, keys->key[i].bytes, keys->key[i].len);
    tamis_get_hashes(getting->filter, hash, keys->n, getting->value, hit);
}

static void print_value(void *with, const struct keys *keys, size_t i) {
    const struct getting *getting = with;
    print_pair_start(keys, i);
    printf("%" PRIu64, getting->value[i]);
    print_pair_end(keys);
}

static int run(const struct args *args) {
    struct getting getting = {0};
    const struct asker asker = {.ask = ask_value, .print = print_value, .with = &getting};
    struct image image = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_GET, "tell values");
    getting.filter = image.filter;
    if (!code) code = ask_keys(args, &asker, &keys);
    image_close(&image);
    keys_close(&keys);
    return code;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_get = {
    .name = "get",
    .also = "value values lookup map",
    .summary = "print the values of keys",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_INVERT, .help = "print the lines that have no value"}, ASK_OPTIONS),
    .examples = EXAMPLES({"Where are these from?", "tamis get country.tamis addresses.txt"},
                         {"Which are unknown?", "tamis get -v country.tamis addresses.txt"},
                         {"One key", "echo 192.0.2.7 | tamis get country.tamis | cut -f2"}),
    .about = "A key that has a value is printed with a tab and that value behind it. The value of "
             "a key that is in the map is right (with approximator it is an upper bound); a key "
             "that is not in it gets some value as rarely as the filter says yes wrongly, and "
             "always where the map was built without guard bits.\n\n"
             "Only some kinds have values: \"tamis kinds\" tells which. A file that cannot be "
             "read is reported and left out.",
    .exits = "0 when a line was printed or counted, 1 when none was, 2 after an error.",
};
