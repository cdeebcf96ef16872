/* SPDX-License-Identifier: MIT */
/* gossip.c: nodes without a centre: a mean over sensors in which nobody counts twice, and a table
 * of what the neighbours hold. */
#include <string.h>
#include <tamis_jobs.h>

#include "must.h"

static void count_sensors(void) {
    const double before[] = {21.5};
    struct tamis_total total = TAMIS_TOTAL_INIT;
    tamis_aggregate *node;
    must(tamis_aggregate_create(&node, 1000));
    must(tamis_aggregate_take(node, "north", 5, 21.5, NULL, 0, NULL));
    must(tamis_aggregate_take(node, "south", 5, 23.0, NULL, 0, NULL));
    must(tamis_aggregate_take(node, "north", 5, 21.5, NULL, 0, NULL)); /* heard again: skipped */
    must(tamis_aggregate_take(node, "north", 5, 22.0, before, 1, NULL));
    tamis_aggregate_total(node, &total);
    printf("%llu sensors, mean %.2f\n", (unsigned long long)total.count, total.mean);
    expect(total.count == 2 && total.mean > 22.4 && total.mean < 22.6, "each counts once");
    tamis_aggregate_free(node);
}

static uint8_t message[1 << 16];

static bool keep(void *ctx, const void *bytes, size_t size) {
    memcpy(message, bytes, size);
    *(size_t *)ctx = size;
    return true;
}

static void ask_neighbours(void) {
    static const char page[] = "https://example.org/";
    tamis_neighbours *table;
    tamis *held;
    size_t size = 0, who[4];
    must(tamis_create(&held, "counting:capacity=100,bits=9600,hashes=4,log=yes"));
    must(tamis_add(held, page, strlen(page)));
    must(tamis_announce(held, NULL, NULL, keep, &size));
    must(tamis_neighbours_create(&table, 4, NULL));
    must(tamis_neighbours_receive(table, "upstairs", message, size, NULL));
    expect(tamis_neighbours_ask(table, page, strlen(page), who, 4) == 1, "a neighbour may have it");
    must(tamis_neighbours_forget(table, "upstairs")); /* it is down */
    expect(tamis_neighbours_ask(table, page, strlen(page), who, 4) == 0, "it is asked no more");
    tamis_neighbours_free(table);
    tamis_free(held);
}

int main(void) {
    count_sensors();
    ask_neighbours();
    return 0;
}
