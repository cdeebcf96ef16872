/* get.c: `tamis get`, the values of keys. */
#include "cli.h"

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

int verb_get(const struct args *args) {
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
