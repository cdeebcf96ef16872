/* SPDX-License-Identifier: MIT */
/* add.c: `tamis add`, more keys for an image. */
#include "cli/cli.h"
#include "cli/images/autosave.h"

/* ---- Adding ---- */

struct adding {
    tamis *filter;
    uint64_t added, were_there;
};

const char stores_every_add[] =
    "; this kind stores every add: plan a larger capacity, or remove duplicates, as with \"sort "
    "-u\"";

/* What helps when there is no room. A kind that stores each add can be full of a few keys, and
 * then a larger capacity alone is no help. */
static const char *advice(const tamis *filter, const struct batch *batch, size_t i,
                          tamis_status status) {
    const struct tamis_info info = info_measured(filter);
    if (status != TAMIS_FULL || (info.abilities & TAMIS_ADDS_ONCE)) return "";
    if (batch_has_one(filter, batch, i))
        return "; the key is already in the set, and this kind stores every add: remove "
               "duplicates, as with \"sort -u\"";
    return stores_every_add;
}

/* No key of the batch went in, because one could not. Which one shows when they are added one by
 * one; the filter will not be written any more. */
static int fail_batch(tamis *filter, const struct batch *batch, tamis_status status) {
    const bool is_about_a_key =
        status == TAMIS_FULL || status == TAMIS_TOMBSTONED || status == TAMIS_INVALID;
    for (size_t i = 0; is_about_a_key && i < batch->n; i++) {
        const tamis_status one = batch_add_one(filter, batch, i);
        if (one) return fail_line(batch, i, "%s%s", tamis_why(), advice(filter, batch, i, one));
    }
    return fail_why(batch->keys->args, input_name(batch->from->name), status);
}

static int add_batch(void *with, struct batch *batch) {
    struct adding *adding = with;
    const tamis_status status = batch_add(adding->filter, batch);
    if (status) return fail_batch(adding->filter, batch, status);
    adding->added += batch->n - batch->marks;
    return 0;
}

/* --new: each line that was not there yet is printed, once. */
static int add_new_batch(void *with, struct batch *batch) {
    struct adding *adding = with;
    for (size_t i = 0; i < batch->n; i++) {
        bool is_new;
        const tamis_status status = batch_add_new(adding->filter, batch, i, &is_new);
        if (status) return fail_line(batch, i, "%s", tamis_why());
        if (is_new) {
            adding->added++;
            print_line(batch, i);
        } else {
            adding->were_there++;
        }
    }
    return 0;
}

/* ---- The verb ---- */

static void tell(const struct args *args, const struct adding *adding) {
    const struct human what =
        given(args, OPT_NEW)
            ? human_words("%s added, %s seen before", human_number(adding->added, "new key").text,
                          human_count(adding->were_there).text)
            : human_words("%s added", human_number(adding->added, "key").text);
    image_summary(args, adding->filter, image_target(args), what.text, AFTER_CHANGE);
}

static int run(const struct args *args) {
    const bool only_new = given(args, OPT_NEW);
    struct adding adding = {0};
    struct changing changing;
    if (only_new && is_dash(image_target(args)))
        return fail(
            args, NULL,
            "--new prints keys on standard output; the image must go to a file: --output OUT");
    int code = changing_open(&changing, args, TAMIS_CAN_ADD, "accept more keys");
    adding.filter = changing.image.filter;
    if (!code) code = changing_run(&changing, only_new ? add_new_batch : add_batch, &adding);
    /* A line whose output was lost must be new again next time: print before saving. */
    if (!code && !flush_output()) code = EXIT_TROUBLE; /* finish_output says why */
    if (!code) code = image_save(args, &changing.image);
    if (!code) {
        tell(args, &adding);
        code = only_new && adding.added == 0 ? EXIT_NOTHING : 0;
    }
    changing_close(&changing);
    return code;
}

/* clang-format off */

const struct verb verb_add = {
    .name = "add",
    .also = "append",
    .aliases = "insert",
    .summary = "add keys to an image",
    .run = run,
    .operands = IMAGE_AND_FILES,
    .uses = USES({.option = OPT_NEW}, CHANGE_KEYS_OPTIONS),
    .examples =
        EXAMPLES({"Add today's list", "tamis add blocklist.tamis today.txt"},
                 {"Add one key", "echo evil.example | tamis add blocklist.tamis"},
                 {"Keep the old image", "tamis add monday.tamis tuesday.txt -o tuesday.tamis"},
                 {"Print addresses never seen before, and remember them",
                  "tamis add --new seen.tamis addresses.txt"}),
    .about = "Either all keys are added, or IMAGE is left unchanged. Most kinds accept more keys "
             "than planned, at a higher false-positive rate; a warning appears when it is more "
             "than twice the target. Kinds of fixed size refuse keys when they are full, and kinds "
             "without adds-once (see \"tamis kinds KIND\") need space for every add, even of a key "
             "that is already in the set. Kinds that are built once accept no keys: rebuild them, "
             "or use \"tamis label\" for named sets.\n\n"
             "--new prints the lines that were not in the set yet, once each and in input order, "
             "like awk '!seen[$0]++' in far less memory. A new line is mistaken for a known one, "
             "and not printed, at the false-positive rate. With kinds that age, a line counts as "
             "known only if it was seen recently, and seeing it again makes it recent. If you will "
             "remove keys later, add them without --new: a key that a false positive kept out "
             "would be lost when the other one is removed. Lines are printed before the image is "
             "saved, so a line whose output was lost is new again next time."
             ABOUT_KEEPING ABOUT_FORM,
    .exits = "0 success, 1 no new key (with --new), 2 error.",
};
