/* resize.c: `tamis resize`, more room or less without the keys. */
#include "cli/cli.h"

static int run(const struct args *args) {
    const uint64_t capacity = args->setting[OPT_CAPACITY].number;
    struct image image = {0};
    char what[80];
    int code = image_open_to_change(&image, args);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_RESIZE, "be resized");
    if (!code) {
        const tamis_status status = tamis_resize(image.filter, capacity);
        if (status) code = fail_why(args, input_name(image.path), status);
    }
    if (!code) code = image_save(args, &image);
    if (!code) {
        snprintf(what, sizeof what, "room for %s %s", human_count(capacity).text,
                 capacity == 1 ? "key" : "keys");
        image_summary(args, image.filter, image_target(args), what, AFTER_PLANNING);
    }
    image_close(&image);
    return code;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_resize = {
    .name = "resize",
    .also = "grow expand enlarge",
    .summary = "make room for more keys, or for fewer",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}),
    .uses = USES({.option = OPT_CAPACITY,
                  .is_required = true,
                  .help = "how many keys there is to be room for, in all"},
                 CHANGE_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples =
        EXAMPLES({"It became more than planned", "tamis resize users.tamis -n 20M"},
                 {"It stayed below the plan", "tamis resize users.tamis -n 1M -o small.tamis"}),
    .about = "The keys themselves are not needed, and no answer changes by it. But what "
             "tells keys apart does not grow: an image with twice the room, when it is full, "
             "says yes wrongly twice as often. Only some kinds can be resized: \"tamis "
             "kinds\" tells which; to make images of others smaller use \"tamis fold\".",
};
