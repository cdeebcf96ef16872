/* SPDX-License-Identifier: MIT */
/* first.c: a first program with Tamis.
 *
 * It plans a filter, fills it, queries it, saves it, and queries the saved one, with every error
 * checked. Build it with:  cc first.c $(pkg-config --cflags --libs tamis)
 */
#include <stdio.h>
#include <string.h>
#include <tamis.h>

static const char *const spec = "blocked:capacity=1000,fpr=0.1%";
static const char *const birds[] = {"heron", "magpie", "robin", "siskin", "wren"};
static const char *const others[] = {"badger", "hedgehog", "otter"};

static int complain(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tamis_why());
    return 2;
}

static void ask(const tamis *filter, const char *key) {
    printf("  %-8s  %s\n", key, tamis_has(filter, key, strlen(key)) ? "maybe" : "certainly not");
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "birds.tamis";
    tamis *filter = NULL, *mapped = NULL;
    int code = 0;

    /* What will it cost? Planning allocates nothing. */
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan)) return complain(spec);
    printf("%s takes %llu bytes and is wrong for 1 in %.0f\n", spec,
           (unsigned long long)plan.payload_bytes, 1 / plan.fpr_expected);

    if (tamis_create(&filter, spec)) return complain(spec);
    for (size_t i = 0; i < sizeof birds / sizeof *birds; i++)
        if (tamis_add(filter, birds[i], strlen(birds[i]))) {
            code = complain(birds[i]);
            goto done;
        }

    /* The file is complete or absent, whatever happens. */
    if (tamis_set_note(filter, "source", "first.c") || tamis_save(filter, path)) {
        code = complain(path);
        goto done;
    }

    /* Any number of processes may map the same file and share its memory. */
    if (tamis_map(&mapped, path)) {
        code = complain(path);
        goto done;
    }
    puts("birds:");
    for (size_t i = 0; i < sizeof birds / sizeof *birds; i++) ask(mapped, birds[i]);
    puts("others:");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) ask(mapped, others[i]);

done:
    tamis_free(mapped);
    tamis_free(filter);
    return code;
}
