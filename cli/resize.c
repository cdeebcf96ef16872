/* resize.c: `tamis resize`, more room or less without the keys. */
#include "cli.h"

int verb_resize(const struct args *args) {
    const uint64_t capacity = args->setting[OPT_CAPACITY].number;
    struct image image = {0};
    char what[80];
    int code = image_open_to_change(&image, args);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_RESIZE, "be resized");
    if (!code) {
        const tamis_status status = tamis_resize(image.filter, capacity);
        if (status) code = fail_why(args, input_name(image.path), status);
    }
    if (!code) code = image_write(args, image.filter, image_target(args));
    if (!code) {
        snprintf(what, sizeof what, "room for %s %s", human_count(capacity).text,
                 capacity == 1 ? "key" : "keys");
        image_summary(args, image.filter, image_target(args), what, AFTER_PLANNING);
    }
    image_close(&image);
    return code;
}
