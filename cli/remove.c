/* remove.c: `tamis remove`, keys out of an image. */
#include "cli.h"

#include <inttypes.h>

struct removing {
    tamis *filter;
    uint64_t removed, not_found;
};

static int remove_batch(const struct keys *keys, void *with) {
    struct removing *removing = with;
    for (size_t i = 0; i < keys->n; i++) {
        const struct tamis_key *key = &keys->key[i];
        const tamis_status status = tamis_remove(removing->filter, key->bytes, key->len);
        const bool is_absent = status == TAMIS_NOT_FOUND || status == TAMIS_TOMBSTONED;
        if (is_absent && given(keys->args, OPT_STRICT))
            return fail_line(keys, i, "\"%s\" is not in the filter", human_key(key).text);
        if (status && !is_absent) return fail_line(keys, i, "%s", tamis_why());
        if (is_absent)
            removing->not_found++;
        else
            removing->removed++;
    }
    return 0;
}

static void tell(const struct args *args, const struct removing *removing) {
    char what[160];
    const int len =
        snprintf(what, sizeof what, "%s %s removed", human_count(removing->removed).text,
                 removing->removed == 1 ? "key" : "keys");
    if (removing->not_found > 0)
        snprintf(what + len, sizeof what - (size_t)len, ", %s not found",
                 human_count(removing->not_found).text);
    image_summary(args, removing->filter, image_target(args), what, AFTER_CHANGE);
}

int verb_remove(const struct args *args) {
    struct image image = {0};
    struct removing removing = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open_to_change(&image, args);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_REMOVE, "remove keys");
    if (!code) code = set_notes(args, image.filter);
    removing.filter = image.filter;
    if (!code) code = keys_each(&keys, remove_batch, &removing);
    if (!code) code = image_write(args, image.filter, image_target(args));
    if (!code) {
        tell(args, &removing);
        code = removing.removed > 0 ? EXIT_FOUND : EXIT_NOTHING;
    }
    image_close(&image);
    keys_close(&keys);
    return code;
}
