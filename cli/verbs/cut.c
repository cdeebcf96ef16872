/* SPDX-License-Identifier: MIT */
/* cut.c: `tamis cut`, an image into shards. */
#include "cli/images/shards.h"
#include "tamis_parts.h"

#include <inttypes.h>
#include <limits.h>

static int write_shard(const struct args *args, const tamis *whole, uint64_t i, uint64_t shards) {
    const char *dir = args->setting[OPT_OUTPUT].text;
    char path[PATH_MAX];
    tamis *shard = NULL;
    const int len =
        snprintf(path, sizeof path, "%s/%0*" PRIu64 ".tamis", dir, shard_digits(shards), i);
    if (len >= (int)sizeof path) return fail(args, dir, "the name is too long");
    int code = image_may_write(args, path);
    if (!code)
        code =
            check_status(args, args->operand[0], tamis_shard_cut(&shard, whole, i, shards, NULL));
    if (!code) code = image_write(args, shard, path);
    tamis_free(shard);
    return code;
}

/* A cut that cannot be made leaves no directory. */
static int check_cut(const struct args *args, const tamis *whole, uint64_t shards) {
    tamis *shard = NULL;
    const tamis_status status = tamis_shard_cut(&shard, whole, 0, shards, NULL);
    tamis_free(shard);
    return check_status(args, input_name(args->operand[0]), status);
}

static int run(const struct args *args) {
    const char *dir = args->setting[OPT_OUTPUT].text;
    const uint64_t shards = args->setting[OPT_SHARDS].number;
    struct image image = {0};
    int code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = check_cut(args, image.filter, shards);
    if (!code) code = dir_make(args, dir);
    for (uint64_t i = 0; i < shards && !code; i++)
        code = write_shard(args, image.filter, i, shards);
    if (!code && !given(args, OPT_QUIET))
        fprintf(stderr, "%s: %s of %s\n", dir, human_number(shards, "shard").text,
                input_name(args->operand[0]));
    image_close(&image);
    return code;
}

/* clang-format off */

const struct verb verb_cut = {
    .name = "cut",
    .also = "slice chop",
    .summary = "split an image into shards",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}),
    .uses = USES({.option = OPT_SHARDS, .is_required = true},
                 {.option = OPT_OUTPUT, .is_required = true, .help = "output directory"},
                 {.option = OPT_FORCE}, {.option = OPT_WAIT}, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"Make 24 images for 24 machines, parts/00.tamis to parts/23.tamis",
                          "tamis cut words.tamis --shards 24 -o parts"},
                         {"Join them again", "tamis assemble parts/*.tamis -o again.tamis"}),
    .about = "Images of kinds blocked and split can be split between any two blocks: shard I of N "
             "holds the blocks from I * blocks / N up to those of the next. Each shard is an "
             "image of kind shard, with the notes of the whole; it knows the keys in its blocks, "
             "and answers maybe to all others. Its item count is its share of the total.",
};
