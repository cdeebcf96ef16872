/* SPDX-License-Identifier: MIT */
/* later.c: a join whose rows come one after the other, and whose answers may come a few later. */
#include <string.h>
#include <tamis_pending.h>

#include "must.h"

/* The orders of customers who are in the set; rows are in the order of their answers. */
static uint64_t join(const tamis *customers, uint64_t rows) {
    struct tamis_pending pending = tamis_pending_init(customers);
    struct tamis_answer answer;
    uint64_t row = 0, found = 0;
    bool is_in_order = true;
    for (uint64_t order = 0; order < rows; order++)
        if (tamis_pending_push(&pending, order * 7, &answer)) found += answer.is_hit, row++;
    while (tamis_pending_pop(&pending, &answer)) {
        is_in_order &= answer.key == row * 7;
        found += answer.is_hit, row++;
    }
    expect(is_in_order, "answers come in the order of their keys");
    expect(row == rows, "each row has an answer");
    return found;
}

/* Texts wait by their hashes. */
static bool is_listed(const tamis *names, const char *name) {
    struct tamis_pending pending = tamis_pending_init_hashes(names);
    struct tamis_answer answer;
    tamis_pending_push(&pending, tamis_hash(names, name, strlen(name)), &answer);
    return tamis_pending_pop(&pending, &answer) && answer.is_hit;
}

int main(void) {
    tamis *filter;
    must(tamis_create(&filter, "split:capacity=20K,fpr=0.1%"));
    for (uint64_t customer = 0; customer < 14000; customer++) must(tamis_add_u64(filter, customer));
    must(tamis_add(filter, "cat", 3));
    const uint64_t found = join(filter, 10000);
    expect(found >= 2000 && found < 2030, "every seventh of 14,000, and few others");
    expect(is_listed(filter, "cat"), "a text is found by its hash");
    tamis_free(filter);
    return 0;
}
