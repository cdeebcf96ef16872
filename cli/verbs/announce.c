/* SPDX-License-Identifier: MIT */
/* announce.c: `tamis announce`, what neighbours do not know yet of a set. */
#include "cli/images/patches.h"
#include "tamis_jobs.h"

static const double usual_threshold = 0.01;

/* Outgoing messages, contiguous. */
struct outgoing {
    const struct args *args;
    struct new_file file;
    bool is_begun;
};

static bool put_message(void *ctx, const void *bytes, size_t size) {
    struct outgoing *out = ctx;
    if (!out->is_begun) {
        const char *path = out->args->setting[OPT_OUTPUT].text;
        if (file_begin(&out->file, out->args, path, TAMIS_READERS_USUAL)) return false;
        out->is_begun = true;
    }
    return file_put(&out->file, bytes, size);
}

/* ---- Words ---- */

static void tell_not_due(const struct args *args, const struct tamis_staleness *stale,
                         double threshold) {
    const double documents = stale->documents ? (double)stale->documents : 1;
    if (given(args, OPT_QUIET)) return;
    if (stale->set + stale->cleared == 0)
        fprintf(stderr, "%s: nothing changed since the last announcement\n", args->operand[0]);
    else
        fprintf(stderr,
                "%s: about %s of %s documents (+/- %s) are not announced yet: %s, below %s\n",
                args->operand[0], human_count((uint64_t)(stale->unknown.value + 0.5)).text,
                human_count(stale->documents).text, human_margin(stale->unknown.error).text,
                human_share(stale->unknown.value / documents).text, human_share(threshold).text);
}

static void tell(const struct args *args, const struct tamis_announced *a,
                 const struct tamis_staleness *stale) {
    if (given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: %s in %s up to number %lu, ", output_name(args->setting[OPT_OUTPUT].text),
            human_bytes(a->bytes).text, human_number(a->messages, "message").text,
            (unsigned long)a->sequence);
    if (a->is_whole)
        fprintf(stderr, "all %s bits\n", human_count(stale->positions).text);
    else
        fprintf(stderr, "%s of %s bits\n", human_count(a->changes).text,
                human_count(stale->positions).text);
}

static void print_json(const struct args *args, const struct tamis_staleness *stale, bool is_due,
                       const struct tamis_announced *a) {
    struct json json = json_start(stdout);
    json_text(&json, "image", args->operand[0]);
    json_bool(&json, "is_due", is_due);
    json_count(&json, "documents", stale->documents);
    json_real(&json, "unknown", stale->unknown.value);
    json_real(&json, "unknown_error", stale->unknown.error);
    json_count(&json, "positions", stale->positions);
    json_count(&json, "bits_set", stale->set);
    json_count(&json, "bits_cleared", stale->cleared);
    json_text(&json, "messages_in", a ? args->setting[OPT_OUTPUT].text : NULL);
    json_count(&json, "messages", a ? a->messages : 0);
    json_count(&json, "message_bytes", a ? a->bytes : 0);
    json_count_if(&json, "sequence", a, a ? a->sequence : 0);
    json_bool(&json, "is_whole", a && a->is_whole);
    json_end(&json);
}

/* ---- The verb ---- */

/* The image remembers what was told only when the messages are where they belong. */
static int announce(const struct args *args, struct image *image, struct tamis_announced *a) {
    const struct setting *packet = &args->setting[OPT_MAX_MESSAGE];
    const struct tamis_announce_options options = {
        .struct_size = sizeof options,
        .message_bytes = packet->number > UINT32_MAX ? UINT32_MAX : (uint32_t)packet->number,
        .is_whole = given(args, OPT_FULL)};
    struct outgoing out = {.args = args};
    const tamis_status status = tamis_announce(image->filter, &options, a, put_message, &out);
    if (status && !out.is_begun)
        return status == TAMIS_CANCELLED ? EXIT_TROUBLE : fail_why(args, image->path, status);
    const int code = file_end(&out.file, status == TAMIS_OK);
    return code ? code : image_save(args, image);
}

static int run(const struct args *args) {
    const char *output = args->setting[OPT_OUTPUT].text;
    const double threshold = rate_or(args, OPT_THRESHOLD, usual_threshold);
    struct tamis_announced a = TAMIS_ANNOUNCED_INIT;
    struct tamis_staleness stale = TAMIS_STALENESS_INIT;
    struct image image = {0};
    bool is_due = false;
    int code = check_outputs(args, output);
    if (!code) code = file_may_write(args, output, "messages");
    if (!code) code = image_open_held(&image, args, args->operand[0], HOLD_TO_CHANGE);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_LOG, "record what changed");
    if (!code) {
        (void)tamis_get_staleness(image.filter, &stale);
        is_due = tamis_is_due(image.filter, threshold);
        const bool is_wanted = is_due || given(args, OPT_NOW) || given(args, OPT_FULL);
        if (is_wanted) code = announce(args, &image, &a);
        if (!code && given(args, OPT_JSON)) print_json(args, &stale, is_due, is_wanted ? &a : NULL);
        if (!code && !given(args, OPT_JSON)) {
            if (is_wanted)
                tell(args, &a, &stale);
            else
                tell_not_due(args, &stale, threshold);
        }
        if (!code && !is_wanted) code = EXIT_NOTHING;
    }
    image_close(&image);
    return code;
}

/* clang-format off */

const struct verb verb_announce = {
    .name = "announce",
    .also = "publish advertise summary digest",
    .summary = "send neighbours what changed in a set",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_OUTPUT, .is_required = true,
                  .help = "where to write the messages (-: standard output)"},
                 {.option = OPT_FORCE}, {.option = OPT_WAIT}, {.option = OPT_THRESHOLD},
                 {.option = OPT_NOW},
                 {.option = OPT_FULL}, {.option = OPT_MAX_MESSAGE}, {.option = OPT_JSON}),
    .examples = EXAMPLES(
        {"Notify neighbours when 1 % is new",
         "tamis announce cache.tamis -o to-all.msg && send-to-all to-all.msg"},
        {"Before that, update the set as documents come and go",
         "tamis add cache.tamis stored.txt; tamis remove cache.tamis dropped.txt"},
        {"Create it, with 16 bits for each of 10,000 documents",
         "tamis create cache.tamis -s counting:capacity=10k,bits=960k,log=yes"},
        {"Send everything to a neighbour that is new or missed messages",
         "tamis announce --full cache.tamis -o to-b.msg"}),
    .about = "IMAGE is a counting filter with log=yes, or of kind icp, kept up to date by \"tamis "
             "add\" and \"tamis remove\". This command writes messages that update the "
             "neighbours' copies (\"tamis neighbours\"), and IMAGE remembers what was sent. A "
             "message states what bits are now, so a lost or repeated one does no other harm. The "
             "first announcement sends all bits, as does any later one for which that takes fewer "
             "bytes.\n\n"
             "Nothing is written until messages are due: when the share of documents that "
             "neighbours do not know of, estimated from the bits, reaches the threshold. A low "
             "threshold costs messages; a high one makes neighbours send useless queries and miss "
             "documents. 1 % to 10 % is usual.\n\n"
             "Counting filters use compact messages; those of icp are ICP_OP_DIRUPDATE of the "
             "Internet Cache Protocol. Both are described in docs/caches.md. --max-message splits "
             "them so that each fits in a datagram; in the output they are contiguous.\n\n"
             "--json prints one object: image, is_due, documents, unknown (documents, with "
             "unknown_error, a standard error), positions, bits_set and bits_cleared since the "
             "last time; messages_in, messages, message_bytes, sequence (the number of the last "
             "one) and is_whole.",
    .exits = "0 messages were written, 1 nothing is due, 2 error.",
};
