/* SPDX-License-Identifier: MIT */
/* Fuzz target of messages between caches: any bytes are refused with a sentence and change nothing,
 * or become part of a copy that can be asked, kept as an image, and go on hearing.
 *
 * The first byte chooses what was heard before: nothing, or an announcement in one of the two
 * forms. What follows is taken as messages, one behind the other. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_true) {
    if (!is_true) abort();
}

static bool receive_before(void *ctx, const void *message, size_t size) {
    return tamis_neighbours_receive(ctx, "peer", message, size, NULL) == TAMIS_OK;
}

static tamis_neighbours *table_with(unsigned before) {
    static const char *const specs[] = {"counting:capacity=4,bits=600,hashes=3,log=yes",
                                        "icp:capacity=4,bits=600"};
    const struct tamis_options options = {.struct_size = sizeof options, .max_bytes = 1 << 16};
    tamis_neighbours *table;
    tamis *own;
    demand(tamis_neighbours_create(&table, 2, &options) == TAMIS_OK);
    if (before == 0) return table;
    demand(tamis_create(&own, specs[before - 1]) == TAMIS_OK);
    demand(tamis_add(own, "tamis", 5) == TAMIS_OK);
    demand(tamis_announce(own, NULL, NULL, receive_before, table) == TAMIS_OK);
    tamis_free(own);
    return table;
}

/* The gate looks at all of it: no bit lies where none may be. */
static void stays_in_an_image(const tamis *copy) {
    const size_t size = (size_t)tamis_image_size(copy);
    uint8_t *image = malloc(size);
    tamis *again;
    demand(image && tamis_serialize(copy, image, size) == TAMIS_OK);
    demand(tamis_load(&again, image, size) == TAMIS_OK);
    tamis_free(again);
    free(image);
}

static void use(const tamis_neighbours *table) {
    struct tamis_receive_info received = TAMIS_RECEIVE_INFO_INIT;
    const char *name;
    const tamis *copy;
    size_t peer;
    if (!tamis_neighbours_at(table, 0, &name, &copy)) return;
    demand(strcmp(name, "peer") == 0 && tamis_was_received(copy, &received));
    const bool has = tamis_has(copy, "tamis", 5);
    demand(tamis_neighbours_ask(table, "tamis", 5, &peer, 1) == has);
    stays_in_an_image(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    tamis_neighbours *table = table_with(*data % 3);
    for (data++, size--; size > 0;) {
        struct tamis_receive_info received = TAMIS_RECEIVE_INFO_INIT;
        const size_t one = tamis_message_size(data, size);
        demand(one <= size && (one > 0 || *tamis_why()));
        const tamis_status rc =
            tamis_neighbours_receive(table, "peer", data, one ? one : size, &received);
        demand(one > 0 || rc == TAMIS_CORRUPT);
        if (rc) demand(*tamis_why());
        use(table);
        if (!one) break;
        data += one;
        size -= one;
    }
    tamis_neighbours_free(table);
    return 0;
}
