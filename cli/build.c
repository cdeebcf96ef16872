/* build.c: `tamis build`, keys to an image. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The spec as the user gave it, in one piece or in parts. */
static char *given_spec(const struct args *args) {
    if (given(args, OPT_SPEC)) {
        if (wish_is_single(args, "--spec")) return NULL;
        char *spec = strdup(args->setting[OPT_SPEC].text);
        if (!spec) fail_memory(args);
        return spec;
    }
    struct tamis_kind_info kind;
    const char *name = given(args, OPT_KIND) ? args->setting[OPT_KIND].text : NULL;
    if (name && kind_exists(args, name, &kind)) return NULL;
    return wish_spec(args, name);
}

/* A size and a rate fix the capacity too. */
static bool fixes_capacity(const char *spec) {
    const bool has_size = spec_has(spec, "size") || spec_has(spec, "bits");
    return spec_has(spec, "capacity") || (has_size && spec_has(spec, "fpr"));
}

/* Counting may take long, so a spec that is wrong in any case is refused before it. */
static int check_early(const struct args *args, const char *spec) {
    struct tamis_plan plan;
    char *for_none = spec_with(args, spec, "capacity", 0);
    if (!for_none) return EXIT_TROUBLE;
    const tamis_status status = tamis_plan(for_none, &plan, sizeof plan);
    free(for_none);
    return status ? fail_why(args, NULL, status) : 0;
}

/* The spec with a capacity, which is counted when it does not follow from what was given. */
static char *whole_spec(const struct args *args, struct keys *keys) {
    char *spec = given_spec(args);
    if (!spec || fixes_capacity(spec)) return spec;
    char *whole = NULL;
    uint64_t count;
    if (!check_early(args, spec) && !keys_count(keys, &count))
        whole = spec_with(args, spec, "capacity", count);
    free(spec);
    return whole;
}

int verb_build(const struct args *args) {
    const char *path = args->operand[0];
    const struct tamis_options options = image_options(args);
    char what[64];
    tamis *filter = NULL;
    char *spec = NULL;
    struct keys keys;
    uint64_t count = 0;
    tamis_status status;

    int code = keys_open(&keys, args, 1);
    if (!code) code = image_may_write(args, path);
    if (code) goto done;

    code = EXIT_TROUBLE;
    spec = whole_spec(args, &keys);
    if (!spec) goto done;
    status = tamis_create_with(&filter, spec, &options);
    if (status) {
        fail_why(args, NULL, status);
        goto done;
    }
    if (set_notes(args, filter) || add_keys(filter, &keys, &count)) goto done;
    code = image_write(args, filter, path);
    if (code) goto done;

    snprintf(what, sizeof what, "%s %s", human_count(count).text, count == 1 ? "key" : "keys");
    image_summary(args, filter, path, what, AFTER_PLANNING);

done:
    tamis_free(filter);
    free(spec);
    keys_close(&keys);
    return code;
}
