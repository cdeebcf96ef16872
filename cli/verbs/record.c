/* SPDX-License-Identifier: MIT */
/* record.c: `tamis record`, payloads into an image that can tell later where an excerpt stood. */
#include "cli/cli.h"
#include "cli/images/autosave.h"
#include "cli/images/flows.h"
#include "tamis_special.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct recording {
    const struct args *args;
    struct image image;
    struct keys keys; /* of the same files, for lines */
    struct keeping keeping;
    const char *const *file; /* the operands after IMAGE, or standard input */
    size_t file_count;
    uint64_t lines; /* so far, of all times */
    uint64_t payloads, bytes;
    bool is_new;
};

static const char *const only_stdin[] = {"-"};

/* ---- A new image ---- */

/* How much will come, from what files say of themselves. */
static int count_bytes(const struct recording *recording, uint64_t *sum) {
    for (size_t i = 0; i < recording->file_count; i++) {
        const char *path = recording->file[i];
        struct stat status;
        if (is_dash(path) || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
            return fail(recording->args, input_name(path),
                        "the amount of input is unknown; give --capacity");
        if (stat(path, &status) != 0)
            return fail(recording->args, path, "cannot open: %s", strerror(errno));
        *sum += (uint64_t)status.st_size;
    }
    return 0;
}

/* Blocks of all sizes, each with its flow and without. */
static int keys_of_bytes(const struct args *args, const char *spec, uint64_t bytes,
                         uint64_t *keys) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    char *any = spec_copy(args, spec);
    spec_set_capacity(args, &any, 1);
    if (!any) return EXIT_TROUBLE;
    const tamis_status status = tamis_plan_spec(any, &plan);
    free(any);
    if (status) return fail_why(args, NULL, status);
    const uint64_t block = shape_word(plan.word_name, plan.word, "block");
    const uint64_t levels = shape_word(plan.word_name, plan.word, "levels");
    if (block == 0) return fail(args, NULL, "%s cannot record payloads", plan.kind);
    for (uint64_t l = 0; l < levels; l++) *keys += 2 * (bytes / (block << l));
    return 0;
}

/* The spec, up to a capacity that is counted; on the heap, or NULL, reported. */
static char *whole_spec(const struct recording *recording) {
    const struct args *args = recording->args;
    char *spec = spec_given(args, "hierarchical");
    if (!spec || spec_has(spec, "capacity")) return spec;

    uint64_t bytes = 0, keys = 0;
    int code = count_bytes(recording, &bytes);
    if (!code) code = keys_of_bytes(args, spec, bytes, &keys);
    if (!code) {
        spec_set_capacity(args, &spec, keys);
        return spec;
    }
    free(spec);
    return NULL;
}

static int create(struct recording *recording) {
    const struct args *args = recording->args;
    const struct tamis_options options = image_options(args);
    int code = image_may_write(args, args->operand[0]);
    char *spec = code ? NULL : whole_spec(recording);
    if (!spec) return EXIT_TROUBLE;
    recording->is_new = true;
    recording->image.path = args->operand[0];
    const tamis_status status = tamis_create_with(&recording->image.filter, spec, &options);
    free(spec);
    return check_status(args, NULL, status);
}

/* What is said about a new image must not be lost on one that is there. */
static int refuse_params(const struct args *args) {
    const char *param = FIRST_GIVEN(args, OPT_SPEC, OPT_CAPACITY, OPT_FPR, OPT_HASH, OPT_SEED);
    if (!param) return 0;
    return fail(args, args->operand[0], "the image already exists; --%s applies only to a new one",
                param);
}

static int open_or_create(struct recording *recording) {
    const struct args *args = recording->args;
    struct stat status;
    if (!given(args, OPT_OUTPUT) && stat(args->operand[0], &status) < 0 && errno == ENOENT)
        return create(recording);
    int code = refuse_params(args);
    if (!code) code = image_open_to_change(&recording->image, args);
    if (!code) code = image_needs(args, &recording->image, TAMIS_CAN_TRACE, "record payloads");
    return code;
}

/* ---- Recording ---- */

static int record(struct recording *recording, const char *flow, const void *bytes, size_t len) {
    const tamis_status status =
        tamis_record(recording->image.filter, flow, strlen(flow), 0, bytes, len);
    recording->payloads++;
    recording->bytes += len;
    return check_status(recording->args, NULL, status);
}

static int record_batch(void *with, struct batch *batch) {
    struct recording *recording = with;
    int code = 0;
    for (size_t i = 0; i < batch->n && !code; i++)
        code = record(recording, human_digits(++recording->lines).text, batch->line[i].bytes,
                      batch->line[i].len);
    return code;
}

static int record_lines(struct recording *recording) {
    const struct handler handler = {.take = record_batch,
                                    .after = keeping_after,
                                    .after_with = &recording->keeping,
                                    .with = recording};
    return keys_run(&recording->keys, &handler);
}

static int record_files(struct recording *recording) {
    int code = 0;
    for (size_t i = 0; i < recording->file_count && !code && !is_stopped(); i++) {
        struct bytes bytes;
        progress_show("recording", i, recording->file_count);
        code = bytes_open(&bytes, recording->args, recording->file[i]);
        if (!code) code = record(recording, recording->file[i], bytes.at, bytes.size);
        if (!code) code = keeping_after(&recording->keeping, 1);
        bytes_close(&bytes);
    }
    progress_wipe();
    return is_stopped() ? 0 : code; /* half a payload is none */
}

/* An image has names of one sort: a file "7" and line 7 would be the same flow. */
static int start_names(struct recording *recording) {
    const struct args *args = recording->args;
    tamis *filter = recording->image.filter;
    const bool by_lines = given(args, OPT_LINES);
    recording->lines = lines_recorded(filter);
    if (by_lines && tamis_note(filter, "flows"))
        return fail(args, args->operand[0], "holds recorded files; use another image for lines");
    if (!by_lines && recording->lines)
        return fail(args, args->operand[0], "holds recorded lines; use --lines, or another image");
    if (by_lines || given(args, OPT_NO_NAMES)) return 0;
    return flows_keep(args, filter, recording->file, recording->file_count);
}

static int save(void *with) {
    struct recording *recording = with;
    tamis_status status = TAMIS_OK;
    if (given(recording->args, OPT_LINES) && recording->lines > 0)
        status =
            tamis_set_note(recording->image.filter, "lines", human_digits(recording->lines).text);
    if (status) return fail_why(recording->args, NULL, status);
    return image_save(recording->args, &recording->image);
}

static void tell(const struct recording *recording) {
    const struct human what =
        human_words("%s, %s recorded", human_number(recording->payloads, "payload").text,
                    human_bytes(recording->bytes).text);
    image_summary(recording->args, recording->image.filter, image_target(recording->args),
                  what.text, recording->is_new ? AFTER_PLANNING : AFTER_CHANGE);
}

static int run(const struct args *args) {
    struct recording recording = {
        .args = args, .file = args->operand + 1, .file_count = args->operand_count - 1};
    recording.keeping =
        (struct keeping){.args = args, .image = &recording.image, .save = save, .with = &recording};
    if (recording.file_count == 0) recording.file = only_stdin, recording.file_count = 1;
    int code = keys_open(&recording.keys, args, 1);
    if (!code) code = open_or_create(&recording);
    if (!code) code = set_notes(args, recording.image.filter);
    if (!code) code = start_names(&recording);
    if (!code) code = keeping_start(&recording.keeping, &recording.keys);
    if (!code) code = given(args, OPT_LINES) ? record_lines(&recording) : record_files(&recording);
    if (!code && is_stopped() && recording.payloads == 0)
        code = EXIT_TROUBLE; /* main does the rest */
    if (!code) code = save(&recording);
    if (!code) tell(&recording);
    image_close(&recording.image);
    keys_close(&recording.keys);
    return code;
}

/* clang-format off */

const struct verb verb_record = {
    .name = "record",
    .also = "log payload payloads capture",
    .summary = "record files or lines, to trace excerpts of them later",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, NO_STREAM},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_LINES}, {.option = OPT_NO_NAMES}, CHANGE_OPTIONS,
                 {.option = OPT_SAVE_EVERY},
                 {.option = OPT_SPEC, .help = "new image: specification, such as "
                                              "hierarchical:block=32,fpr=0.1%"},
                 {.option = OPT_CAPACITY,
                  .help = "new image: number of blocks to plan for (default: those of the files)"},
                 {.option = OPT_FPR}, {.option = OPT_HASH}, {.option = OPT_SEED},
                 {.option = OPT_SECRET_FILE}, {.option = OPT_NOTE}),
    .examples = EXAMPLES({"Record captured traffic", "tamis record traffic.tamis dump/*"},
                         {"Record tomorrow's too", "tamis record traffic.tamis tomorrow/*"},
                         {"Record each line of a log, for short excerpts",
                          "tamis record --lines log.tamis access.log --spec hierarchical:block=16"},
                         {"Find where an excerpt was", "tamis trace traffic.tamis excerpt.bin"}),
    .about = "Each FILE is a payload, and its name, as given, is the name of its flow. With "
             "--lines, each line is a payload, without its newline, and its flow is its number, "
             "continued from file to file and from run to run. The image takes about a twelfth of "
             "the bytes at 1 %: hashes of blocks of 64, 128, 256 and 512 bytes, with their "
             "offsets. The bytes themselves cannot be recovered.\n\n"
             "A missing IMAGE is created, of kind hierarchical, sized for these files; to record "
             "more later give --capacity, four per 64 bytes. The block size determines the "
             "shortest excerpt that can be traced: twice the block size, less 1. A payload "
             "shorter than a block is not recorded.\n\n"
             "Names are stored in the image, up to 960 KiB. With --no-names they are not; \"tamis "
             "trace --flows LIST\" then needs them.\n\n"
             "Payloads may arrive through a pipe for days. Work so far is then saved every minute "
             "(see --save-every), and when SIGTERM or Ctrl-C ends the command; an incomplete "
             "payload is not recorded. Lines may be compressed, like keys.",
};
