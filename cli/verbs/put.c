/* SPDX-License-Identifier: MIT */
/* put.c: `tamis put`, new values for keys of an image. */
#include "cli/cli.h"
#include "cli/images/autosave.h"
#include "tamis_engine.h"

struct putting {
    tamis *filter;
    uint64_t lines;
};

static int put_batch(void *with, struct batch *batch) {
    struct putting *putting = with;
    for (size_t i = 0; i < batch->n; i++) {
        const tamis_status status =
            tamis_put_hash(putting->filter, batch->hash[i], batch->value[i]);
        if (status == TAMIS_NOT_FOUND)
            return fail_line(batch, i, "\"%s\" is not in the map", human_key(&batch->key[i]).text);
        if (status) return fail_line(batch, i, "%s", tamis_why());
    }
    putting->lines += batch->n;
    return 0;
}

static int run(const struct args *args) {
    struct changing changing;
    int code = changing_open(&changing, args, TAMIS_CAN_PUT, "set values");
    struct putting putting = {.filter = changing.image.filter};
    changing.keys.cutting.has_values = true;
    if (!code) code = changing_run(&changing, put_batch, &putting);
    if (!code) code = image_save(args, &changing.image);
    const struct human what = human_words("%s set", human_number(putting.lines, "value").text);
    if (!code) image_summary(args, putting.filter, image_target(args), what.text, AFTER_CHANGE);
    changing_close(&changing);
    return code;
}

/* clang-format off */

const struct verb verb_put = {
    .name = "put",
    .also = "set update assign",
    .summary = "set the values of keys",
    .run = run,
    .operands = IMAGE_AND_FILES,
    .uses = USES(CHANGE_KEYS_OPTIONS),
    .examples = EXAMPLES({"Set values from a table", "tamis put country.tamis moved.tsv"},
                         {"Set one value", "printf '192.0.2.7\\t49\\n' | tamis put country.tamis"}),
    .about = "Lines are KEY TAB VALUE; what follows the last tab is the value, such as 7, 10k or "
             "0xff. bloomier built with update=yes changes the values of keys it was built with. "
             "Do not put others: only some of them can be detected, which is an error. "
             "approximator accepts any key and keeps the larger value. Either all values are set, "
             "or IMAGE is left unchanged.\n\n"
             "Only some kinds can: see \"tamis kinds\"."
             ABOUT_KEEPING ABOUT_FORM,
};
