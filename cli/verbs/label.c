/* SPDX-License-Identifier: MIT */
/* label.c: `tamis label`, the named sets of an image: listed, added to, replaced, removed. */
#include "cli/cli.h"
#include "cli/images/autosave.h"
#include "cli/images/patches.h"
#include "tamis_engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is done to the labels. */
enum change { LISTS, ADDS, REPLACES, REMOVES, RENAMES };

static const char *const change_word[] = {[LISTS] = "none",
                                          [ADDS] = "add",
                                          [REPLACES] = "replace",
                                          [REMOVES] = "remove",
                                          [RENAMES] = "rename"};

static enum change change_asked(const struct args *args) {
    return given(args, OPT_REMOVE_LABEL) ? REMOVES
           : given(args, OPT_RENAME)     ? RENAMES
           : given(args, OPT_REPLACE)    ? REPLACES
           : args->operand_count > 1     ? ADDS
                                         : LISTS;
}

/* ---- Listing ---- */

static uint64_t *count_keys(const struct args *args, const tamis *filter) {
    uint64_t *keys = calloc((size_t)tamis_label_count(filter) + 1, sizeof *keys);
    uint64_t cursor = 0, hash, label;
    if (!keys) fail_memory(args);
    while (keys && tamis_next(filter, &cursor, &hash, &label)) keys[label]++;
    if (keys) count_marks(filter, NULL, keys);
    return keys;
}

/* `lines` were labelled just now, where keys were read. */
static void write_labels(const struct args *args, const struct image *image, const uint64_t *keys,
                         uint64_t lines) {
    const enum change change = change_asked(args);
    struct json json = json_start(stdout);
    json_text(&json, "file", image->path);
    json_text(&json, "change", change == LISTS ? NULL : change_word[change]);
    json_count_if(&json, "lines", change == ADDS || change == REPLACES, lines);
    json_open(&json, "labels", '[');
    for (uint64_t i = 0; i < tamis_label_count(image->filter); i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", tamis_label_name(image->filter, i));
        json_count(&json, "keys", keys[i]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

static int list_labels(const struct args *args, const struct image *image, uint64_t lines) {
    const uint64_t labels = tamis_label_count(image->filter);
    uint64_t *keys = count_keys(args, image->filter);
    if (!keys) return EXIT_TROUBLE;
    if (given(args, OPT_JSON))
        write_labels(args, image, keys, lines);
    else
        for (uint64_t i = 0; i < labels; i++)
            printf("%" PRIu64 "\t%s\n", keys[i], tamis_label_name(image->filter, i));
    free(keys);
    return labels > 0 ? EXIT_FOUND : EXIT_NOTHING;
}

static int verb_list(const struct args *args) {
    struct image image = {0};
    int code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_LABEL, "have labels");
    if (!code) code = list_labels(args, &image, 0);
    image_close(&image);
    return code;
}

/* ---- What becomes of each label ---- */

struct labelling {
    struct building building;
    struct image old, held;
    struct keeping keeping;
    struct tamis_relabel *into; /* of each label of `old` */
};

/* The number of the label, or -1. */
static int64_t label_named(const tamis *filter, const char *name) {
    for (uint64_t i = 0; i < tamis_label_count(filter); i++)
        if (strcmp(tamis_label_name(filter, i), name) == 0) return (int64_t)i;
    return -1;
}

static int fail_label(const struct args *args, const tamis *filter, const char *name) {
    struct nearest nearest = {.typed = name};
    for (uint64_t i = 0; i < tamis_label_count(filter); i++)
        nearest_try(&nearest, tamis_label_name(filter, i));
    const char *meant = nearest.name;
    return fail(args, input_name(args->operand[0]), "there is no label \"%s\"%s%s%s", name,
                meant ? "; did you mean \"" : "; \"tamis label IMAGE\" lists them",
                meant ? meant : "", meant ? "\"?" : "");
}

static int remove_labels(struct labelling *l, const struct args *args) {
    for (size_t i = 0; i < args->repeated_count; i++) {
        if (args->repeated[i].option != OPT_REMOVE_LABEL) continue;
        const int64_t label = label_named(l->old.filter, args->repeated[i].text);
        if (label < 0) return fail_label(args, l->old.filter, args->repeated[i].text);
        l->into[label].name = NULL;
    }
    return 0;
}

static int rename_label(struct labelling *l, const struct args *args) {
    const char *name = args->operand[1], *new_name = args->setting[OPT_RENAME].text;
    const int64_t label = label_named(l->old.filter, name);
    if (label < 0) return fail_label(args, l->old.filter, name);
    if (strcmp(name, new_name) != 0 && label_named(l->old.filter, new_name) >= 0)
        return fail(args, input_name(args->operand[0]), "there is a label \"%s\" already",
                    new_name);
    l->into[label].name = new_name;
    return 0;
}

static int plan_labels(struct labelling *l, const struct args *args) {
    const tamis *old = l->old.filter;
    const enum change change = change_asked(args);
    l->into = calloc((size_t)tamis_label_count(old) + 1, sizeof *l->into);
    if (!l->into) return fail_memory(args);
    for (uint64_t i = 0; i < tamis_label_count(old); i++)
        l->into[i].name = tamis_label_name(old, i);
    if (change == REMOVES) return remove_labels(l, args);
    if (change == RENAMES) return rename_label(l, args);
    const int64_t label = label_named(old, args->operand[1]);
    if (change == REPLACES && label >= 0) l->into[label].is_emptied = true;
    if (change == REPLACES && label < 0)
        warn(args, input_name(args->operand[0]), "there was no label \"%s\": it is new",
             args->operand[1]);
    return 0;
}

/* ---- Changing ---- */

static int start(struct labelling *l, const tamis *old, const struct tamis_relabel *into) {
    struct building *building = &l->building;
    const struct args *args = building->args;
    struct tamis_builder_options options;
    struct tamis_options filter;
    int code = builder_options(args, &options, &filter);
    if (code) return code;
    options.progress_ctx = &l->keeping;
    tamis_builder **builder = &building->builder;
    tamis_status status = into ? tamis_builder_continue_labels(builder, old, into, &options)
                               : tamis_builder_continue(builder, old, &options);
    if (status) return fail_why(args, input_name(args->operand[0]), status);
    /* Also a list without keys is a set with a name. */
    if (building->usual_label)
        status = tamis_builder_label(building->builder, building->usual_label);
    if (status) return fail_why(args, NULL, status);
    building->label = NULL;
    return set_builder_notes(args, building->builder);
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
    if (!code) code = start(l, filter, NULL);
    tamis_free(filter);
    return code;
}

/* Where the new keys take the place of others it is all of them or none: half a list is no list. */
static int take_keys(struct labelling *l) {
    const struct args *args = l->building.args;
    int code = 0;
    if (change_asked(args) == ADDS) code = keeping_start(&l->keeping, l->building.keys);
    if (!code) code = start(l, l->old.filter, l->into);
    l->building.hasher = l->old.filter;
    if (!code) code = builder_take(&l->building);
    if (!code && is_stopped() && l->building.lines == 0) code = EXIT_TROUBLE; /* no key, no label */
    if (!code && l->building.lines == 0 && given(args, OPT_STRICT))
        code = fail(args, NULL, "there are no keys; nothing was written");
    return code;
}

static struct human describe(const struct labelling *l, uint64_t labels) {
    const enum change change = change_asked(l->building.args);
    const struct human total = human_number(labels, "label");
    if (change == REMOVES)
        return human_words("%s removed, %s in total",
                           human_number(tamis_label_count(l->old.filter) - labels, "label").text,
                           total.text);
    if (change == RENAMES) return human_words("1 label renamed, %s in total", total.text);
    return human_words("%s labelled%s, %s in total", human_number(l->building.lines, "line").text,
                       change == REPLACES ? " in place of the old ones" : "", total.text);
}

static int tell(const struct labelling *l, struct image *image) {
    const struct args *args = l->building.args;
    if (given(args, OPT_JSON)) {
        const int code = image->filter ? 0 : image_open(image, args, image->path, TO_ASK);
        if (code) return code;
        return list_labels(args, image, l->building.lines) == EXIT_TROUBLE ? EXIT_TROUBLE : 0;
    }
    if (given(args, OPT_QUIET)) return 0; /* the image is not open */
    if (change_asked(args) == REPLACES && l->building.lines == 0)
        warn(args, output_name(image->path), "no keys came: the label \"%s\" is now empty",
             args->operand[1]);
    image_summary(args, image->filter, image->path,
                  describe(l, tamis_label_count(image->filter)).text, AFTER_CHANGE);
    return 0;
}

static int change_labels(struct labelling *l) {
    const struct args *args = l->building.args;
    struct image image = {0};
    int code = image_hold(&l->held, args);
    if (!code) code = image_open(&l->old, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &l->old, TAMIS_CAN_LABEL, "have labels");
    if (!code) code = plan_labels(l, args);
    if (!code) code = l->building.keys ? take_keys(l) : start(l, l->old.filter, l->into);
    if (!code) code = builder_write(&l->building, image_target(args), l->held.edit, &image);
    if (!code) code = tell(l, &image);
    image_close(&image);
    tamis_builder_free(l->building.builder);
    free(l->into);
    image_close(&l->old);
    image_close(&l->held);
    return code;
}

/* ---- The verb ---- */

static int check_options(const struct args *args) {
    static const enum option_id apart[][2] = {
        {OPT_REMOVE_LABEL, OPT_RENAME},     {OPT_REMOVE_LABEL, OPT_REPLACE},
        {OPT_RENAME, OPT_REPLACE},          {OPT_REPLACE, OPT_SAVE_EVERY},
        {OPT_REMOVE_LABEL, OPT_SAVE_EVERY}, {OPT_RENAME, OPT_SAVE_EVERY}};
    if (options_apart(args, apart, sizeof apart / sizeof *apart)) return EXIT_TROUBLE;
    const enum change change = change_asked(args);
    const size_t operands = args->operand_count;
    if ((change == REPLACES || change == RENAMES) && operands < 2)
        return fail(args, NULL, "--%s needs the NAME of a label", change_word[change]);
    if (change == REMOVES && operands > 1)
        return fail(args, args->operand[1],
                    "--remove reads no keys; give it once for each label to remove");
    if (change == RENAMES && operands > 2)
        return fail(args, args->operand[2], "--rename reads no keys");
    return change == LISTS ? 0 : check_outputs(args, image_target(args));
}

static int run(const struct args *args) {
    const enum change change = change_asked(args);
    const bool has_keys = change == ADDS || change == REPLACES;
    struct keys keys;
    struct labelling l = {
        .building = {.args = args,
                     .keys = has_keys ? &keys : NULL,
                     .abilities = TAMIS_CAN_LABEL | TAMIS_IS_BUILT,
                     .usual_label = has_keys ? args->operand[1] : NULL,
                     .keeping = &l.keeping},
        .keeping = {.args = args, .image = &l.held, .save = save_on_the_way, .with = &l}};
    int code = check_options(args);
    if (code || change == LISTS) return code ? code : verb_list(args);
    if (!has_keys) return change_labels(&l);
    code = keys_open(&keys, args, 2);
    keys.several.use = ADDS_SEVERAL;
    if (!code) code = change_labels(&l);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_label = {
    .name = "label",
    .also = "tag name labels tags",
    .summary = "list the labels of an image, add to, replace or remove one",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"NAME", AT_MOST_ONE, NO_STREAM},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_REPLACE}, {.option = OPT_REMOVE_LABEL}, {.option = OPT_RENAME},
                 {.option = OPT_JSON},
                 CHANGE_OPTIONS, {.option = OPT_SAVE_EVERY}, {.option = OPT_NOTE}, LIST_OPTIONS,
                 {.option = OPT_SECRET_FILE},
                 BUILDER_OPTIONS),
    .examples = EXAMPLES({"List labels with their number of keys", "tamis label feeds.tamis"},
                         {"Add a list", "tamis label feeds.tamis phishing phishing.txt"},
                         {"Add keys to one of them",
                          "echo evil.example | tamis label feeds.tamis malware -o new.tamis"},
                         {"Replace a list by today's",
                          "tamis label feeds.tamis malware malware.txt --replace"},
                         {"Drop a list", "tamis label feeds.tamis --remove phishing"},
                         {"Rename one", "tamis label feeds.tamis spam --rename junk"}),
    .about = "With NAME, adds the keys to that label, which may be new. The image is rebuilt from "
             "its contents; the original keys are not needed. Its fingerprints keep their size, so "
             "an image that becomes much larger than planned has a higher false-positive rate.\n\n"
             "--replace drops the label's old keys first and keeps its place; --remove drops the "
             "label with its keys, --rename changes its name. The image holds which fingerprint "
             "belongs to which label, so what is dropped is gone, at once and for good, and the "
             "answers of the other labels stay the same. All of it happens in one step: an error "
             "or a signal leaves IMAGE as it was.\n\n"
             "Without NAME, prints one line per label: its number of keys, a tab and its name. "
             "--json prints one object, also after a change: file, change (add, replace, remove, "
             "rename; null for a listing), lines (keys read; null without), labels (an array of "
             "name and keys)."
             ABOUT_KEEPING " Each save rebuilds the image." ABOUT_FORM,
    .exits = "0 success, 1 no labels to list, 2 error.",
};
