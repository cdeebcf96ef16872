/* SPDX-License-Identifier: MIT */
/* trace.c: `tamis trace`, which recorded payload had this excerpt, and where. */
#include "cli/cli.h"
#include "cli/images/flows.h"
#include "tamis_formats.h"
#include "tamis_special.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tracing {
    const struct args *args;
    const struct image *image;
    struct flows flows;
    uint64_t max_offset;
    double fpr;
    const char *name;   /* of the excerpt */
    uint64_t found;     /* of this excerpt */
    double wrong_flows; /* of them, expected at most */
    bool is_any_found;
    struct json json;
};

/* ---- What is found ---- */

/* Other flows that are named at a place where one of them truly had the excerpt. */
static double wrong_flows(const struct tracing *tracing, const struct tamis_traced *traced) {
    if (tracing->flows.count == 0) return 0;
    return (double)(tracing->flows.count - 1) * pow(tracing->fpr, (double)traced->blocks);
}

static const char *flow_name(const struct tracing *tracing, const struct tamis_traced *traced) {
    return traced->flow == SIZE_MAX ? NULL : tracing->flows.key[traced->flow].bytes;
}

static void write_found(struct tracing *tracing, const struct tamis_traced *traced) {
    struct json *json = &tracing->json;
    json_open(json, NULL, '{');
    json_text(json, "flow", flow_name(tracing, traced));
    json_count(json, "offset", traced->offset);
    json_count(json, "blocks", traced->blocks);
    json_real(json, "wrong_flows_expected", wrong_flows(tracing, traced));
    json_close(json, '}');
}

static bool take(void *with, const struct tamis_traced *traced) {
    struct tracing *tracing = with;
    const struct args *args = tracing->args;
    const double wrong = wrong_flows(tracing, traced);
    tracing->found++;
    tracing->is_any_found = true;
    if (wrong > tracing->wrong_flows) tracing->wrong_flows = wrong;
    if (given(args, OPT_JSON)) {
        write_found(tracing, traced);
    } else if (!given(args, OPT_QUIET)) {
        const char *flow = flow_name(tracing, traced);
        if (given(args, OPT_WITH_FILENAME) || args->operand_count > 2)
            printf("%s\t", tracing->name);
        printf("%s\t%" PRIu64 "\n", flow ? flow : "-", traced->offset);
    }
    return !ferror(stdout);
}

/* ---- One excerpt ---- */

static void tell(const struct tracing *tracing, size_t len, double expected) {
    if (given(tracing->args, OPT_QUIET) || given(tracing->args, OPT_JSON)) return;
    progress_hold(stderr);
    fprintf(stderr, "%s: %s bytes, %s; %s expected by chance", tracing->name, human_count(len).text,
            human_number(tracing->found, "place").text, human_expected(expected).text);
    if (tracing->found && tracing->flows.count > 1)
        fprintf(stderr, ", and %s wrong flows per right one",
                human_expected(tracing->wrong_flows).text);
    fprintf(stderr, "\n");
    progress_release(stderr);
    if (tracing->found && expected + tracing->wrong_flows > 0.5)
        warn(tracing->args, tracing->name,
             "some of these are probably false; a longer excerpt gives fewer");
}

static int trace_bytes(struct tracing *tracing, const void *bytes, size_t len) {
    const tamis *filter = tracing->image->filter;
    const double expected =
        tamis_false_traces(filter, len, tracing->flows.count, tracing->max_offset);
    struct json *json = &tracing->json;
    const bool is_json = given(tracing->args, OPT_JSON) && !isnan(expected);
    tracing->found = 0;
    tracing->wrong_flows = 0;
    if (is_json) {
        json_open(json, NULL, '{');
        json_text(json, "excerpt", tracing->name);
        json_count(json, "bytes", len);
        json_real(json, "false_expected", expected);
        json_open(json, "places", '[');
    }
    const tamis_status status =
        tamis_trace(filter, bytes, len, tracing->flows.key, tracing->flows.count,
                    tracing->max_offset, take, tracing);
    if (is_json) {
        json_close(json, ']');
        json_close(json, '}');
    }
    if (status == TAMIS_CANCELLED) return EXIT_TROUBLE; /* finish_output says why */
    if (status) return fail_why(tracing->args, tracing->name, status);
    tell(tracing, len, expected);
    return 0;
}

/* With --hex the bytes are written as digits, with blanks and newlines anywhere. */
static int trace_one(struct tracing *tracing, const void *bytes, size_t len) {
    if (!given(tracing->args, OPT_HEX)) return trace_bytes(tracing, bytes, len);
    char *digits = malloc(len + 1);
    uint8_t *decoded = malloc(len + 16);
    size_t n = 0;
    int code = digits && decoded ? 0 : fail_memory(tracing->args);
    for (size_t i = 0; i < len && !code; i++)
        if (!strchr(" \t\r\n", ((const char *)bytes)[i])) digits[n++] = ((const char *)bytes)[i];
    const size_t size = code ? 0 : tamis_encode("hex", digits, n, decoded, len + 16);
    if (!code && size == SIZE_MAX) code = fail(tracing->args, tracing->name, "%s", tamis_why());
    if (!code) code = trace_bytes(tracing, decoded, size);
    free(digits);
    free(decoded);
    return code;
}

static int trace_file(struct tracing *tracing, const char *path) {
    struct bytes bytes;
    int code = bytes_open(&bytes, tracing->args, path);
    tracing->name = input_name(path);
    if (!code) code = trace_one(tracing, bytes.at, bytes.size);
    bytes_close(&bytes);
    return code;
}

/* One that cannot be traced is reported, and the others still are. */
static int trace_all(struct tracing *tracing) {
    const struct args *args = tracing->args;
    int code = 0;
    if (given(args, OPT_TEXT)) {
        const char *text = args->setting[OPT_TEXT].text;
        tracing->name = "--text";
        code = trace_one(tracing, text, strlen(text));
    } else if (args->operand_count == 1) {
        code = trace_file(tracing, "-");
    }
    for (size_t i = 1; i < args->operand_count; i++)
        if (trace_file(tracing, args->operand[i])) code = EXIT_TROUBLE;
    return code ? code : tracing->is_any_found ? EXIT_FOUND : EXIT_NOTHING;
}

/* ---- All of it ---- */

static int find_flows(struct tracing *tracing) {
    const struct args *args = tracing->args;
    if (given(args, OPT_FLOWS))
        return flows_from_file(&tracing->flows, args, args->setting[OPT_FLOWS].text);
    const int code = flows_of_image(&tracing->flows, args, tracing->image);
    if (!code && tracing->flows.count == 0)
        warn(args, input_name(args->operand[0]),
             "the image holds no flow names, so only offsets can be reported; name them with "
             "--flows");
    return code;
}

static int trace_and_write(struct tracing *tracing) {
    struct json *json = &tracing->json;
    const bool is_json = given(tracing->args, OPT_JSON);
    const struct tamis_info info = info_measured(tracing->image->filter);
    tracing->fpr = info.fpr_now;
    if (is_json) {
        *json = json_start(stdout);
        json_text(json, "image", input_name(tracing->image->path));
        json_real(json, "fpr_now", info.fpr_now);
        json_count(json, "flows", tracing->flows.count);
        json_open(json, "excerpts", '[');
    }
    const int code = trace_all(tracing);
    if (is_json) {
        json_close(json, ']');
        json_end(json);
    }
    return code;
}

/* The list of flows and the excerpt cannot both come through a pipe. */
static int check_inputs(const struct args *args) {
    const bool is_text = given(args, OPT_TEXT);
    if (is_text && args->operand_count > 1)
        return fail(args, NULL, "--text and excerpt files cannot be combined");
    size_t uses = given(args, OPT_FLOWS) && is_dash(args->setting[OPT_FLOWS].text);
    uses += args->operand_count == 1 && !is_text;
    for (size_t i = 1; i < args->operand_count; i++) uses += is_dash(args->operand[i]);
    return uses > 1 ? fail(args, NULL, "standard input can be read only once") : 0;
}

static int run(const struct args *args) {
    struct image image = {0};
    struct tracing tracing = {
        .args = args, .image = &image, .max_offset = number_or(args, OPT_MAX_OFFSET, UINT64_MAX)};
    int code = check_inputs(args);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_TRACE, "trace excerpts");
    if (!code) code = find_flows(&tracing);
    if (!code) code = trace_and_write(&tracing);
    flows_free(&tracing.flows);
    image_close(&image);
    return code;
}

/* clang-format off */

const struct verb verb_trace = {
    .name = "trace",
    .also = "attribute whence excerpt find locate",
    .summary = "find which recorded file or line contained an excerpt, and where",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, NO_STREAM},
                         {"EXCERPT", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_TEXT},
                 {.option = OPT_HEX, .help = "excerpts are written in hex digits"},
                 {.option = OPT_FLOWS}, {.option = OPT_MAX_OFFSET}, {.option = OPT_WITH_FILENAME,
                  .help = "print the name of the excerpt before each line, even for a single one"},
                 {.option = OPT_JSON},
                 {.option = OPT_QUIET, .help = "print nothing"},
                 {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"Find who sent this, and where in the stream",
                          "tamis trace traffic.tamis excerpt.bin"},
                         {"Trace bytes from a report",
                          "tamis trace traffic.tamis --hex --text \"$(cat bytes.hex)\""},
                         {"Find the number of a line",
                          "tail -c 80 found.txt | tamis trace log.tamis"}),
    .about = "Each output line is the name of a flow, a tab, and the offset of the excerpt in it. "
             "What was recorded is always found: if an excerpt is not found, it was in none of "
             "the payloads. A match may be false if all blocks of the excerpt happen to be in the "
             "image; standard error reports how many false matches an excerpt of that length has "
             "on average, and how many wrong flows to expect per right one. Long excerpts have "
             "more blocks and are as good as certain.\n\n"
             "An excerpt must be at least twice the block size, less 1: 127 bytes by default. It "
             "must be exactly as recorded, byte for byte; a newline at the end counts. The time "
             "taken grows with the longest payload, which --max-offset limits, and a little with "
             "the number of flows.\n\n"
             "--json prints one object: image, fpr_now, flows, and excerpts, each with excerpt, "
             "bytes, false_expected and places, each of those with flow, offset, blocks and "
             "wrong_flows_expected.",
    .exits = "0 the excerpt was found, 1 it was not, 2 error.",
};
