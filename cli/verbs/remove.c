/* SPDX-License-Identifier: MIT */
/* remove.c: `tamis remove`, keys out of an image. */
#include "cli/cli.h"
#include "cli/images/autosave.h"

struct removing {
    tamis *filter;
    bool is_strict;
    uint64_t removed, not_found;
};

static int remove_batch(void *with, struct batch *batch) {
    struct removing *removing = with;
    for (size_t i = 0; i < batch->n; i++) {
        const tamis_status status = batch_remove(removing->filter, batch, i);
        const bool is_absent = status == TAMIS_NOT_FOUND || status == TAMIS_TOMBSTONED;
        if (is_absent && removing->is_strict)
            return fail_line(batch, i, "\"%s\" is not in the filter",
                             human_key(&batch->key[i]).text);
        if (status && !is_absent) return fail_line(batch, i, "%s", tamis_why());
        if (is_absent)
            removing->not_found++;
        else
            removing->removed++;
    }
    return 0;
}

static void tell(const struct args *args, const struct removing *removing) {
    struct human what = human_words("%s removed", human_number(removing->removed, "key").text);
    if (removing->not_found > 0)
        what = human_words("%s, %s not found", what.text, human_count(removing->not_found).text);
    image_summary(args, removing->filter, image_target(args), what.text, AFTER_CHANGE);
}

static int run(const struct args *args) {
    struct changing changing;
    int code = changing_open(&changing, args, TAMIS_CAN_REMOVE, "remove keys");
    struct removing removing = {.filter = changing.image.filter,
                                .is_strict = given(args, OPT_STRICT)};
    if (!code) code = changing_run(&changing, remove_batch, &removing);
    if (!code) code = image_save(args, &changing.image);
    if (!code) {
        tell(args, &removing);
        code = removing.removed > 0 ? EXIT_FOUND : EXIT_NOTHING;
    }
    changing_close(&changing);
    return code;
}

/* clang-format off */

const struct verb verb_remove = {
    .name = "remove",
    .also = "delete rm del erase",
    .summary = "remove keys from an image",
    .run = run,
    .operands = IMAGE_AND_FILES,
    .uses = USES(CHANGE_KEYS_OPTIONS),
    .examples = EXAMPLES({"Remove pardoned keys", "tamis remove blocklist.tamis pardoned.txt"},
                         {"Remove one key", "echo good.example | tamis remove blocklist.tamis"},
                         {"Remove all of them or none",
                          "tamis remove --strict sessions.tamis ended.txt"}),
    .about = "Remove only keys that were added, and only as often as they were added: each line "
             "undoes one add. A filter does not store its keys, only the marks they left. If a key "
             "was never added but is answered yes, its marks belong to other keys: removing it "
             "would remove their marks, and a member would be answered no.\n\n"
             "A key whose marks are missing is skipped and counted as not found; with --strict it "
             "is an error. Only some kinds can remove: see \"tamis kinds\". Either all changes are "
             "made, or IMAGE is left unchanged."
             ABOUT_KEEPING ABOUT_FORM,
    .exits = "0 a key was removed, 1 none was, 2 error.",
};
