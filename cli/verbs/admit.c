/* SPDX-License-Identifier: MIT */
/* admit.c: `tamis admit`, the lines that were asked for before. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/images/autosave.h"
#include "tamis_jobs.h"

static const uint64_t usual_capacity = 1000000;
static const double usual_fpr = 1e-3;

struct admitting {
    const struct args *args;
    tamis_admission *admission;
    tamis_edit *edit; /* of the file; NULL: there is none */
    uint64_t lines, printed;
};

/* ---- The memory ---- */

static int create_memory(struct admitting *admitting) {
    const struct args *args = admitting->args;
    const struct tamis_options options = image_options(args);
    char spec[160];
    snprintf(spec, sizeof spec, "capacity=%" PRIu64 ",fpr=%.17g%s%s",
             number_or(args, OPT_CAPACITY, usual_capacity), rate_or(args, OPT_FPR, usual_fpr),
             given(args, OPT_HASH) ? ",hash=" : "", text_or(args, OPT_HASH, ""));
    return check_status(
        args, NULL,
        tamis_admission_create(&admitting->admission, text_or(args, OPT_SPEC, spec), &options));
}

static int load_memory(struct admitting *admitting, const char *path) {
    const struct args *args = admitting->args;
    const struct tamis_options options = image_options(args);
    const void *bytes;
    size_t size;
    tamis_status status = tamis_edit_bytes(admitting->edit, &bytes, &size);
    if (!status) status = tamis_admission_load(&admitting->admission, bytes, size, &options);
    return check_status(args, path, status);
}

/* Whether a new memory has a secret inside; one that is there keeps its rights. */
static enum tamis_readers readers_wanted(const struct args *args) {
    const char *hash = args->setting[OPT_HASH].text, *spec = args->setting[OPT_SPEC].text;
    const bool is_keyed =
        (hash && strstr(hash, "sip13")) || (spec && spec_says(spec, "hash", "sip13"));
    return is_keyed ? TAMIS_READERS_OWNER : TAMIS_READERS_USUAL;
}

/* What is there is gone on with, and then has its size; what is not is made. */
static int open_memory(struct admitting *admitting) {
    const struct args *args = admitting->args;
    if (!given(args, OPT_IMAGE)) return create_memory(admitting);
    const char *path = args->setting[OPT_IMAGE].text;
    if (is_dash(path)) return fail(args, "--image", "the memory must be a file, not a stream");
    int code = access(path, F_OK) != 0 ? file_may_write(args, path, "a memory") : 0;
    if (!code)
        code =
            file_hold(&admitting->edit, args, path, HOLD_TO_CHANGE_OR_MAKE, readers_wanted(args));
    if (code) return code;
    if (tamis_edit_is_new(admitting->edit)) return create_memory(admitting);
    const char *size = FIRST_GIVEN(args, OPT_CAPACITY, OPT_FPR, OPT_HASH, OPT_SPEC);
    if (size)
        return fail(args, path,
                    "already exists and keeps its size: --%s applies only to a new file", size);
    return load_memory(admitting, path);
}

static int save_memory(void *with) {
    const struct admitting *admitting = with;
    const struct args *args = admitting->args;
    if (!admitting->edit) return 0;
    const size_t size = (size_t)tamis_admission_size(admitting->admission);
    void *bytes = malloc(size);
    if (!bytes) return fail_memory(args);
    const tamis_status status = tamis_admission_bytes(admitting->admission, bytes, size);
    const int code =
        status ? fail_why(args, NULL, status)
               : file_write_held(args, args->setting[OPT_IMAGE].text, admitting->edit, bytes, size);
    free(bytes);
    return code;
}

/* ---- Asking ---- */

static int take_batch(void *with, struct batch *batch) {
    struct admitting *admitting = with;
    const bool wants_new = given(admitting->args, OPT_INVERT);
    for (size_t i = 0; i < batch->n; i++) {
        const bool is_known = tamis_admission_ask_hash(admitting->admission, batch->hash[i]);
        if (is_known == wants_new) continue;
        admitting->printed++;
        if (!given(admitting->args, OPT_COUNT)) print_line(batch, i);
    }
    admitting->lines += batch->n;
    return 0;
}

/* ---- What is said ---- */

static void tell(const struct admitting *admitting, const struct keys *keys) {
    struct tamis_admission_info info = TAMIS_ADMISSION_INFO_INIT;
    if (given(admitting->args, OPT_QUIET)) return;
    tamis_admission_get_info(admitting->admission, &info);
    if (given(admitting->args, OPT_JSON)) {
        struct json json = json_start(stderr);
        json_count(&json, "lines", admitting->lines);
        json_count(&json, "printed", admitting->printed);
        json_count(&json, "recognised", info.recognised);
        json_count(&json, "without_key", keys->keyless);
        json_count(&json, "capacity", info.capacity);
        json_count(&json, "turns", info.turns);
        json_real(&json, "fpr_now", info.fpr_now);
        json_count(&json, "filter_bytes", info.payload_bytes);
        json_end(&json);
        return;
    }
    fprintf(stderr,
            "tamis: admit: %s, %s requested before; false-positive rate %s; filters take %s\n",
            human_number(admitting->lines, "line").text, human_count(info.recognised).text,
            human_rate(info.fpr_now).text, human_bytes(info.payload_bytes).text);
}

/* ---- The verb ---- */

static int run(const struct args *args) {
    struct admitting admitting = {.args = args};
    struct keys keys;
    int code = keys_open(&keys, args, 0);
    if (!code) code = keys_are_single(&keys);
    if (!code && given(args, OPT_SPEC)) code = params_is_single(args, "--spec");
    if (!code) code = open_memory(&admitting);
    if (code) goto done;

    struct keeping keeping = {.args = args, .save = save_memory, .with = &admitting};
    if (admitting.edit) code = keeping_start(&keeping, &keys);
    if (code) goto done;
    const struct handler handler = {.take = take_batch,
                                    .after = keeping_after,
                                    .after_with = &keeping,
                                    .goes_on = true,
                                    .with = &admitting};
    keys_hash_by(&keys, tamis_admission_hasher(admitting.admission));
    code = keys_run(&keys, &handler);
    if (ferror(stdout)) goto done; /* output that was lost is no answer */
    if (given(args, OPT_COUNT)) printf("%" PRIu64 "\n", admitting.printed);
    const int saved = save_memory(&admitting);
    if (saved) code = saved;
    if (!saved) tell(&admitting, &keys);
    if (!code) code = admitting.printed > 0 ? EXIT_FOUND : EXIT_NOTHING;

done:
    tamis_admission_free(admitting.admission);
    tamis_edit_close(admitting.edit);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_admit = {
    .name = "admit",
    .also = "admission second cache",
    .summary = "print repeated requests, which a cache should keep",
    .run = run,
    .operands = OPERANDS({"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_IMAGE,
         .help = "keep the memory in this file between runs; it is created if missing"},
        {.option = OPT_CAPACITY,
         .help = "minimum number of distinct keys to remember, at most twice that (default: 1M)"},
        {.option = OPT_FPR,
         .help = "target false-positive rate of each of the two filters (default: 0.1%)"},
        {.option = OPT_HASH}, {.option = OPT_SPEC,
         .help = "specification of both filters: classic:capacity=1M,fpr=1e-4"},
        {.option = OPT_INVERT, .help = "print first requests instead"},
        {.option = OPT_COUNT}, {.option = OPT_JSON,
         .help = "write the summary on standard error as JSON"},
        KEY_OPTIONS, {.option = OPT_SECRET_FILE}, THREADS_OPTION, {.option = OPT_SAVE_EVERY},
        {.option = OPT_WAIT}),
    .examples =
        EXAMPLES({"Count the requests in a log that a cache would keep",
                  "tamis admit -c --field 7 -d ' ' access.log"},
                 {"Remember requests from one day to the next",
                  "tamis admit --image seen.admit -n 10M today.log"},
                 {"Print what is requested for the first time", "tamis admit -v urls.log"}),
    .about = "Three quarters of what a cache is asked for is never requested again. A cache that "
             "stores only what is requested a second time writes half as much and serves more. "
             "Each line is a request: it is printed if its key was requested recently, and then "
             "remembered.\n\n"
             "The memory is two filters. A key is always recognised until --capacity other keys "
             "have been requested after it, and forgotten after at most twice as many; requesting "
             "it again makes it recent. A new key is mistaken for a known one at a rate of at "
             "most twice --fpr; the summary on standard error reports the current rate.\n\n"
             "\"tamis uniq\" prints what occurs for the first time ever, \"tamis uniq --window\" "
             "what did not occur recently. The --image file is not an image of a set: only this "
             "command reads it. It is written atomically at the end of input and, if requests "
             "come through a pipe, also every minute (see --save-every) and on a signal.\n\n"
             "--json writes one object to standard error: lines, printed, recognised, "
             "without_key, capacity, turns, fpr_now, filter_bytes.",
    .exits = "0 a line was printed or counted, 1 none was, 2 error.",
};
