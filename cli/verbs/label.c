/* SPDX-License-Identifier: MIT */
/* label.c: `tamis label`, the named sets of an image, and one more of them. */
#include "cli/cli.h"
#include "cli/images/autosave.h"
#include "tamis_engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Listing ---- */

static int list_labels(const struct args *args, const struct image *image) {
    const uint64_t labels = tamis_label_count(image->filter);
    uint64_t *keys = calloc((size_t)labels + 1, sizeof *keys);
    if (!keys) return fail_memory(args);
    uint64_t cursor = 0, hash, label;
    while (tamis_next(image->filter, &cursor, &hash, &label)) keys[label]++;
    for (uint64_t i = 0; i < labels; i++)
        printf("%" PRIu64 "\t%s\n", keys[i], tamis_label_name(image->filter, i));
    free(keys);
    return labels > 0 ? EXIT_FOUND : EXIT_NOTHING;
}

static int verb_list(const struct args *args) {
    struct image image = {0};
    int code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_LABEL, "have labels");
    if (!code) code = list_labels(args, &image);
    image_close(&image);
    return code;
}

/* ---- Adding ---- */

struct labelling {
    struct building building;
    struct image held;
    struct keeping keeping;
};

static int start(struct labelling *l, const tamis *old) {
    struct building *building = &l->building;
    struct tamis_builder_options options;
    struct tamis_options filter;
    int code = builder_options(building->args, &options, &filter);
    if (code) return code;
    options.progress_ctx = &l->keeping;
    tamis_status status = tamis_builder_continue(&building->builder, old, &options);
    if (status) return fail_why(building->args, input_name(building->args->operand[0]), status);
    /* Also a list without keys is a set with a name. */
    status = tamis_builder_label(building->builder, building->usual_label);
    if (status) return fail_why(building->args, NULL, status);
    building->label = NULL;
    return set_builder_notes(building->args, building->builder);
}

/* A builder ends with its image: what was saved goes on as the start of another. */
static int save_on_the_way(void *with) {
    struct labelling *l = with;
    tamis *filter = NULL;
    int code = builder_make(&l->building, l->held.edit, NULL);
    tamis_builder_free(l->building.builder);
    l->building.builder = NULL;
    if (!code)
        code = check_status(l->building.args, l->held.path, tamis_edit_read(l->held.edit, &filter));
    if (!code) code = start(l, filter);
    tamis_free(filter);
    return code;
}

static void tell(const struct building *building, const struct image *image) {
    if (given(building->args, OPT_QUIET)) return; /* the image is not open */
    const uint64_t labels = tamis_label_count(image->filter);
    const struct human what =
        human_words("%s labelled, %s in total", human_number(building->lines, "line").text,
                    human_number(labels, "label").text);
    image_summary(building->args, image->filter, image->path, what.text, AFTER_CHANGE);
}

static int run(const struct args *args) {
    if (args->operand_count == 1) return verb_list(args);
    struct keys keys;
    struct image old = {0}, image = {0};
    struct labelling l = {
        .building = {.args = args,
                     .keys = &keys,
                     .abilities = TAMIS_CAN_LABEL | TAMIS_IS_BUILT,
                     .usual_label = args->operand[1],
                     .keeping = &l.keeping},
        .keeping = {.args = args, .image = &l.held, .save = save_on_the_way, .with = &l}};
    int code = keys_open(&keys, args, 2);
    if (!code) code = image_hold(&l.held, args);
    if (!code) code = image_open(&old, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &old, TAMIS_CAN_LABEL, "have labels");
    if (!code) code = keeping_start(&l.keeping, &keys);
    if (!code) code = start(&l, old.filter);
    l.building.hasher = old.filter;
    if (!code) code = builder_take(&l.building);
    if (!code && is_stopped() && l.building.lines == 0) code = EXIT_TROUBLE; /* no key, no label */
    if (!code) code = builder_write(&l.building, image_target(args), l.held.edit, &image);
    if (!code) tell(&l.building, &image);
    image_close(&image);
    tamis_builder_free(l.building.builder);
    image_close(&old);
    image_close(&l.held);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_label = {
    .name = "label",
    .also = "tag name labels tags",
    .summary = "list the labels of an image, or add to one",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"NAME", AT_MOST_ONE, NO_STREAM},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(CHANGE_OPTIONS, {.option = OPT_SAVE_EVERY}, {.option = OPT_NOTE}, KEY_OPTIONS,
                 {.option = OPT_SECRET_FILE},
                 BUILDER_OPTIONS),
    .examples = EXAMPLES({"List labels with their number of keys", "tamis label feeds.tamis"},
                         {"Add a list", "tamis label feeds.tamis phishing phishing.txt"},
                         {"Add keys to one of them",
                          "echo evil.example | tamis label feeds.tamis malware -o new.tamis"}),
    .about = "With NAME, adds the keys to that label, which may be new. The image is rebuilt from "
             "its contents; the original keys are not needed. Its fingerprints keep their size, so "
             "an image that becomes much larger than planned has a higher false-positive rate.\n\n"
             "Without NAME, prints one line per label: its number of keys, a tab and its name."
             ABOUT_KEEPING " Each save rebuilds the image." ABOUT_FORM,
    .exits = "0 success, 1 no labels to list, 2 error.",
};
