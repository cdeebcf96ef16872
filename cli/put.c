/* put.c: `tamis put`, new values for keys of an image. */
#include "cli.h"

struct putting {
    tamis *filter;
    uint64_t lines;
};

static int put_batch(const struct keys *keys, void *with) {
    struct putting *putting = with;
    for (size_t i = 0; i < keys->n; i++) {
        struct tamis_key key;
        uint64_t value;
        if (read_pair(keys, i, &key, &value)) return EXIT_TROUBLE;
        const tamis_status status = tamis_put(putting->filter, key.bytes, key.len, value);
        if (status == TAMIS_NOT_FOUND)
            return fail_line(keys, i, "\"%s\" is not in the map", human_key(&key).text);
        if (status) return fail_line(keys, i, "%s", tamis_why());
    }
    putting->lines += keys->n;
    return 0;
}

static void tell(const struct args *args, const struct putting *putting) {
    char what[80];
    snprintf(what, sizeof what, "%s %s set", human_count(putting->lines).text,
             putting->lines == 1 ? "value" : "values");
    image_summary(args, putting->filter, image_target(args), what, AFTER_CHANGE);
}

int verb_put(const struct args *args) {
    struct putting putting = {0};
    struct image image = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open_to_change(&image, args);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_PUT, "set values");
    if (!code) code = set_notes(args, image.filter);
    putting.filter = image.filter;
    if (!code) code = keys_each(&keys, put_batch, &putting);
    if (!code) code = image_write(args, image.filter, image_target(args));
    if (!code) tell(args, &putting);
    image_close(&image);
    keys_close(&keys);
    return code;
}
