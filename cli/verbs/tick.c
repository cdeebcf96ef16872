/* SPDX-License-Identifier: MIT */
/* tick.c: `tamis tick`, time passes for an image. */
#include "cli/cli.h"

/* Far more than any image has generations; without a limit a slip of the finger would take
 * years. */
enum { MAX_STEPS = 1000000 };

static int tick_by(const struct args *args, struct image *image, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++) {
        const tamis_status status = tamis_tick(image->filter);
        if (status) return fail_why(args, input_name(image->path), status);
    }
    return 0;
}

static int run(const struct args *args) {
    const uint64_t steps = number_or(args, OPT_BY, 1);
    struct image image = {0};
    const struct human what = human_words("older by %s", human_number(steps, "step").text);
    int code = 0;
    if (steps == 0 || steps > MAX_STEPS)
        code = fail(args, NULL, "--by: %s is out of range (allowed: 1 to %s)",
                    human_count(steps).text, human_count(MAX_STEPS).text);
    if (!code) code = image_open_to_change(&image, args);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_TICK, "age");
    if (!code) code = tick_by(args, &image, steps);
    if (!code) code = image_save(args, &image);
    if (!code) image_summary(args, image.filter, image_target(args), what.text, AFTER_CHANGE);
    image_close(&image);
    return code;
}

/* clang-format off */

const struct verb verb_tick = {
    .name = "tick",
    .also = "age step advance",
    .summary = "advance time, so that old keys expire",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}),
    .uses = USES({.option = OPT_BY, .help = "number of time steps (default: 1)"},
                 CHANGE_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"Advance one step every hour, from cron", "tamis tick -q recent.tamis"},
                         {"Advance by a day", "tamis tick recent.tamis --by 24"}),
    .about = "For kinds that track time: a key expires once it is older, in steps, than the kind "
             "promises to remember. How long a step is depends on how often you tick. Only some "
             "kinds can: see \"tamis kinds\".",
};
