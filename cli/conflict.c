/* conflict.c: which key has two values, and where it stands.
 *
 * A builder keeps hashes and can only name one. The keys are read a second time, where that can be
 * done, until the lines are found that the two values come from.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

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
static int read_value(const struct keys *keys, size_t i, struct tamis_key *key, uint64_t *value) {
    *key = keys->key[i];
    *value = keys->from->is_good ? 0 : 1;
    if (keys->from->is_good || !given(keys->args, OPT_VALUES)) return 0;
    return read_pair(keys, i, key, value);
}

/* Stops, by not returning 0, when both places are found. */
static int look(const struct keys *keys, void *with) {
    struct search *search = with;
    for (size_t i = 0; i < keys->n && search->found < 2; i++) {
        struct tamis_key key;
        uint64_t value;
        if (read_value(keys, i, &key, &value)) return EXIT_TROUBLE;
        if (tamis_builder_hash(search->building->builder, key.bytes, key.len) != search->hash)
            continue;
        if (search->found == 1 && search->place[0].value == value) continue;
        search->place[search->found++] = (struct place){
            .file = input_name(keys->file), .line = keys->first_line + i, .value = value};
        search->key = human_key(&key);
    }
    return search->found == 2;
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
                "line %" PRIu64 ": \"%s\" is on both lists: it is a member by %s, line %" PRIu64,
                good->line, search->key.text, member->file, member->line);
}

int fail_conflict(struct building *building) {
    const struct args *args = building->args;
    struct search search = {.building = building,
                            .hash = tamis_builder_conflict(building->builder)};
    char why[256];
    snprintf(why, sizeof why, "%s", tamis_why()); /* Reading may fail too. */
    keys_again(building->keys);
    (void)keys_each(building->keys, look, &search);

    const struct place *only = &search.place[0];
    if (search.found == 0) return fail(args, NULL, "%s", why);
    if (search.found == 2 && given(args, OPT_VALUES)) return fail_values(&search);
    if (search.found == 2) return fail_lists(&search);
    if (building->good > 0)
        return fail(args, only->file, "line %" PRIu64 ": \"%s\" is on both lists", only->line,
                    search.key.text);
    return fail(args, only->file, "line %" PRIu64 ": \"%s\": %s", only->line, search.key.text, why);
}
