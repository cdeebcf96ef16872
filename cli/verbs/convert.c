/* SPDX-License-Identifier: MIT */
/* convert.c: `tamis convert`, filters of other systems to images and back. */
#include "cli/images/foreign_files.h"

#include <string.h>

#include "cli/cli.h"

/* ---- What the keys are ---- */

/* --keys is a promise about all keys that were ever added: it may be made once. */
static int record_keys(const struct args *args, struct image *image) {
    struct form said, kept;
    if (form_given(args, &said)) return EXIT_TROUBLE;
    if (!said.encoding) return 0;
    if (!form_of(image->filter, &kept))
        return fail(args, input_name(image->path),
                    "its key encoding is unknown to this version of tamis");
    if (kept.encoding && strcmp(kept.encoding, said.encoding) != 0)
        return fail(args, input_name(image->path), "its keys are %s, not %s", kept.encoding,
                    said.encoding);
    return form_record(args, image->filter, NULL);
}

/* ---- What is said ---- */

static void tell_image(const struct args *args, const struct image *image) {
    const char *from = args->setting[OPT_FROM].text;
    if (given(args, OPT_QUIET)) return;
    const struct tamis_info info = info_measured(image->filter);
    const struct human what = from ? human_words("%s from %.100s", info.kind, from)
                                   : human_words("%s, the same image, checked", info.kind);
    info_summary(args, &info, args->operand[1], what.text, AFTER_CHANGE);
    const bool has_keys = !(info.abilities & TAMIS_CAN_SEARCH);
    if (from && has_keys && !tamis_note(image->filter, "encoding"))
        warn(args, output_name(args->operand[1]),
             "the file does not record its key encoding; use --keys to store it in the image");
}

static void tell_file(const struct args *args, uint64_t written) {
    if (given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: %s, %s\n", output_name(args->operand[1]), args->setting[OPT_TO].text,
            human_bytes(written).text);
}

static void write_json(const struct args *args, const struct image *image, uint64_t written) {
    struct json json = json_start(stdout);
    const struct tamis_info info = info_measured(image->filter);
    json_text(&json, "file", args->operand[0]);
    json_text(&json, "from", args->setting[OPT_FROM].text);
    json_text(&json, "result", args->operand[1]);
    json_text(&json, "to", args->setting[OPT_TO].text);
    json_text(&json, "kind", info.kind);
    json_text(&json, "keys", tamis_note(image->filter, "encoding"));
    json_count(&json, "result_bytes",
               given(args, OPT_TO) ? written : tamis_image_size(image->filter));
    json_end(&json);
}

/* ---- The verb ---- */

static int check_options(const struct args *args) {
    struct tamis_format_info format;
    const char *to = args->setting[OPT_TO].text;
    const char *kept = FIRST_GIVEN(args, OPT_NOTE, OPT_KEYS);
    if (given(args, OPT_JSON) && is_dash(args->operand[1]))
        return fail(args, NULL,
                    "--json cannot be combined with - as the result: both use standard output");
    if (to && format_exists(args, "--to", to, &format)) return EXIT_TROUBLE;
    if (to && kept)
        return fail(args, NULL, "--%s is stored only in images; %s cannot hold it", kept,
                    format.name);
    return file_may_write(args, args->operand[1], to ? "a filter" : "an image");
}

static int write_result(const struct args *args, struct image *image) {
    uint64_t written = 0;
    const int code = given(args, OPT_TO) ? foreign_write(args, image, args->operand[1], &written)
                                         : image_write(args, image->filter, args->operand[1]);
    if (code) return code;
    if (given(args, OPT_JSON))
        write_json(args, image, written);
    else if (given(args, OPT_TO))
        tell_file(args, written);
    else
        tell_image(args, image);
    return 0;
}

static int run(const struct args *args) {
    struct image image = {0};
    const bool changes = given(args, OPT_NOTE) || given(args, OPT_KEYS);
    int code = check_options(args);
    if (!code) code = image_open(&image, args, args->operand[0], changes ? TO_CHANGE : TO_ASK);
    if (!code) code = record_keys(args, &image);
    if (!code) code = set_notes(args, image.filter);
    if (!code) code = write_result(args, &image);
    image_close(&image);
    return code;
}

/* clang-format off */

const struct verb verb_convert = {
    .name = "convert",
    .also = "import export translate transform",
    .summary = "convert another system's filter to an image, or back",
    .run = run,
    .operands = OPERANDS({"IN", EXACTLY_ONE, READS_STDIN}, {"OUT", EXACTLY_ONE, WRITES_STDOUT}),
    .uses = USES({.option = OPT_FROM,
                  .help = "input format: guava, parquet:column=id, ... (default: image)"},
                 {.option = OPT_TO, .help = "output format (default: image)"},
                 {.option = OPT_KEYS,
                  .help = "key encoding used there; stored in the image"},
                 {.option = OPT_NOTE}, {.option = OPT_DECOMPRESS}, {.option = OPT_MEMORY,
                  .help = "maximum decompressed size of IN (default: a quarter of RAM)"},
                 {.option = OPT_JSON, .help = "print one JSON object"},
                 {.option = OPT_FORCE}, {.option = OPT_WAIT}, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES(
        {"Import a filter of numbers written by a Java program",
         "tamis convert orders.bin --from guava --keys int64 orders.tamis"},
        {"Export it again, with the same bytes",
         "tamis convert orders.tamis orders.bin --to guava"},
        {"Build one for a Java program",
         "tamis build - -k guava names.txt | tamis convert - names.bin --to guava"},
        {"Compress the output", "tamis convert f.tamis - --to guava | gzip >f.bin.gz"}),
    .about = "Nothing is guessed: --from names the format, and a file that does not match it "
             "exactly is refused. An imported filter becomes a kind of its own, which answers as "
             "its system does and can be stored, mapped, examined, added to and merged with "
             "others of its kind; exporting it gives the same bytes. \"tamis formats\" lists the "
             "formats, \"tamis formats NAME\" the parameters of one. Every command that only "
             "reads an image also takes --from.\n\n"
             "A filter cannot be converted to a format that hashes keys differently, because that "
             "needs the keys; such a conversion is refused. Few formats record the key encoding; "
             "--keys stores it in the image, and then every command uses it (see \"tamis help "
             "build\").\n\n"
             "A file compressed with gzip or zstd is decompressed first; --decompress never reads "
             "it as it is. Without --from and --to, OUT is a fully checked copy of IN.\n\n"
             "The names in the JSON do not change: file, from, result, to (null for an image), "
             "kind, keys (the encoding, or null), result_bytes.",
};
