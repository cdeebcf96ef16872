/* SPDX-License-Identifier: MIT */
/* resize.c: `tamis resize`, more room or less without the keys. */
#include "cli/cli.h"

static int run(const struct args *args) {
    const uint64_t capacity = args->setting[OPT_CAPACITY].number;
    struct image image = {0};
    const struct human what = human_words("resized for %s", human_number(capacity, "key").text);
    int code = image_open_to_change(&image, args);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_RESIZE, "be resized");
    if (!code)
        code = check_status(args, input_name(image.path), tamis_resize(image.filter, capacity));
    if (!code) code = image_save(args, &image);
    if (!code) image_summary(args, image.filter, image_target(args), what.text, AFTER_PLANNING);
    image_close(&image);
    return code;
}

/* clang-format off */

const struct verb verb_resize = {
    .name = "resize",
    .also = "grow expand enlarge",
    .summary = "resize an image for more keys, or for fewer",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}),
    .uses = USES({.option = OPT_CAPACITY,
                  .is_required = true,
                  .help = "new total number of keys"},
                 CHANGE_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples =
        EXAMPLES({"Grow an image that got more keys than planned",
                  "tamis resize users.tamis -n 20M"},
                 {"Shrink an image that got fewer",
                  "tamis resize users.tamis -n 1M -o small.tamis"}),
    .about = "The original keys are not needed, and no answer changes. But fingerprints do not "
             "grow: an image of twice the capacity, when full, has twice the false-positive rate. "
             "Only some kinds can be resized: see \"tamis kinds\"; to make others smaller, use "
             "\"tamis fold\".",
};
