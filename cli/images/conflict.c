/* SPDX-License-Identifier: MIT */
/* conflict.c: which key has two values, and where it stands.
 *
 * A builder keeps hashes and can only name one. The keys are read a second time, where that can be
 * done, until the lines are found that the two values come from.
 */
#include "cli/cli.h"

#include <inttypes.h>

struct place {
    const char *file;
    uint64_t line, value;
};

struct search {
    const struct building *building;
    uint64_t hash;
    size_t found;
    struct place place[2];
    struct human key;
};

/* The value as the builder got it: of a known-good key 0, of any other that has none 1. */
static uint64_t value_of(const struct batch *batch, size_t i) {
    if (batch->from->is_good) return 0;
    return batch->keys->cutting.has_values ? batch->value[i] : 1;
}

static int look(void *with, struct batch *batch) {
    struct search *search = with;
    for (size_t i = 0; i < batch->n && search->found < 2; i++) {
        if (batch->hash[i] != search->hash) continue;
        const uint64_t value = value_of(batch, i);
        if (search->found == 1 && search->place[0].value == value) continue;
        search->place[search->found++] = (struct place){
            .file = input_name(batch->from->name), .line = line_number(batch, i), .value = value};
        search->key = human_key(&batch->key[i]);
    }
    return search->found == 2 ? KEYS_ENOUGH : 0;
}

static int fail_values(const struct search *search) {
    const struct args *args = search->building->args;
    const struct place *one = &search->place[0], *two = &search->place[1];
    return fail(args, two->file,
                "line %" PRIu64 ": \"%s\" has the values %" PRIu64 " and %" PRIu64
                ", the first of them in %s, line %" PRIu64,
                two->line, search->key.text, one->value, two->value, one->file, one->line);
}

static int fail_lists(const struct search *search) {
    const struct args *args = search->building->args;
    const struct place *one = &search->place[0], *two = &search->place[1];
    const struct place *good = one->value == 0 ? one : two, *member = good == one ? two : one;
    return fail(args, good->file,
                "line %" PRIu64 ": \"%s\" is on both lists: it is a member in %s, line %" PRIu64,
                good->line, search->key.text, member->file, member->line);
}

int fail_conflict(struct building *building) {
    const struct args *args = building->args;
    struct search search = {.building = building,
                            .hash = tamis_builder_conflict(building->builder)};
    char why[256];
    snprintf(why, sizeof why, "%s", tamis_why()); /* Reading may fail too. */
    keys_rewind(building->keys);
    (void)keys_run(building->keys, &(struct handler){.take = look, .with = &search});

    const struct place *only = &search.place[0];
    if (search.found == 0) return fail(args, NULL, "%s", why);
    if (search.found == 2 && given(args, OPT_VALUES)) return fail_values(&search);
    if (search.found == 2) return fail_lists(&search);
    if (building->good > 0)
        return fail(args, only->file, "line %" PRIu64 ": \"%s\" is on both lists", only->line,
                    search.key.text);
    return fail(args, only->file, "line %" PRIu64 ": \"%s\": %s", only->line, search.key.text, why);
}
