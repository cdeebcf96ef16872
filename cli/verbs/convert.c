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
                    "its keys have a form that this tamis does not know");
    if (kept.encoding && strcmp(kept.encoding, said.encoding) != 0)
        return fail(args, input_name(image->path), "its keys are %s, not %s", kept.encoding,
                    said.encoding);
    return form_record(args, image->filter, NULL);
}

/* ---- What is said ---- */

static void tell_image(const struct args *args, const struct image *image) {
    char what[160];
    const char *from = args->setting[OPT_FROM].text;
    struct tamis_info info;
    if (given(args, OPT_QUIET)) return;
    tamis_measure(image->filter, &info, sizeof info);
    if (from)
        snprintf(what, sizeof what, "%s from %.100s", info.kind, from);
    else
        snprintf(what, sizeof what, "%s, the same image, checked", info.kind);
    info_summary(args, &info, args->operand[1], what, AFTER_CHANGE);
    const bool has_keys = !(info.abilities & TAMIS_CAN_SEARCH);
    if (from && has_keys && !tamis_note(image->filter, "encoding"))
        warn(args, output_name(args->operand[1]),
             "how its keys became bytes is not in it; --keys would remember it");
}

static void tell_file(const struct args *args, uint64_t written) {
    if (given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: %s, %s\n", output_name(args->operand[1]), args->setting[OPT_TO].text,
            human_bytes(written).text);
}

static void write_json(const struct args *args, const struct image *image, uint64_t written) {
    struct json json = {.out = stdout};
    struct tamis_info info;
    tamis_measure(image->filter, &info, sizeof info);
    json_open(&json, NULL, '{');
    json_text(&json, "file", args->operand[0]);
    json_text(&json, "from", args->setting[OPT_FROM].text);
    json_text(&json, "result", args->operand[1]);
    json_text(&json, "to", args->setting[OPT_TO].text);
    json_text(&json, "kind", info.kind);
    json_text(&json, "keys", tamis_note(image->filter, "encoding"));
    json_count(&json, "result_bytes",
               given(args, OPT_TO) ? written : tamis_image_size(image->filter));
    json_close(&json, '}');
    json_end(&json);
}

/* ---- The verb ---- */

static int check_options(const struct args *args) {
    struct tamis_format_info format;
    const char *to = args->setting[OPT_TO].text;
    const bool keeps = given(args, OPT_NOTE) || given(args, OPT_KEYS);
    if (given(args, OPT_JSON) && is_dash(args->operand[1]))
        return fail(args, NULL, "--json and the result - both want standard output");
    if (to && format_exists(args, "--to", to, &format)) return EXIT_TROUBLE;
    if (to && keeps)
        return fail(args, NULL, "--%s is kept in images; %s has no place for it",
                    given(args, OPT_NOTE) ? "note" : "keys", format.name);
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

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_convert = {
    .name = "convert",
    .also = "import export translate transform",
    .summary = "turn another system's filter into an image, or back",
    .run = run,
    .operands = OPERANDS({"IN", EXACTLY_ONE, READS_STDIN}, {"OUT", EXACTLY_ONE, WRITES_STDOUT}),
    .uses = USES({.option = OPT_FROM,
                  .help = "what IN is: guava, parquet:column=id, ...; otherwise an image"},
                 {.option = OPT_TO, .help = "what OUT becomes; otherwise an image"},
                 {.option = OPT_KEYS,
                  .help = "how keys became bytes there; the image remembers it"},
                 {.option = OPT_NOTE}, {.option = OPT_DECOMPRESS}, {.option = OPT_MEMORY,
                  .help = "the most that IN may have unpacked, otherwise a quarter of the "
                          "machine's"},
                 {.option = OPT_JSON, .help = "print one JSON object"},
                 {.option = OPT_FORCE}, {.option = OPT_WAIT}, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES(
        {"A filter that a Java program wrote, of numbers",
         "tamis convert orders.bin --from guava --keys int64 orders.tamis"},
        {"And back, the same bytes", "tamis convert orders.tamis orders.bin --to guava"},
        {"One made here, for a Java program",
         "tamis build - -k guava names.txt | tamis convert - names.bin --to guava"},
        {"Compressed on the way out", "tamis convert f.tamis - --to guava | gzip >f.bin.gz"}),
    .about = "Nothing is guessed: --from names the format, and a file that is not exactly that is "
             "refused. What comes in becomes a kind of its own, which answers as its system does "
             "and can be kept, mapped, examined, added to and merged with its like; written back "
             "it is the same bytes. \"tamis formats\" lists the formats, \"tamis formats NAME\" "
             "tells the parameters of one. Every verb that only reads an image takes --from "
             "too.\n\n"
             "What hashes keys in another way cannot become that without the keys: such a "
             "conversion is refused. No format tells how keys became bytes, unless it says so; "
             "--keys remembers it in the image, and then every verb reads its keys so (see \"tamis "
             "help build\").\n\n"
             "A file that is gzip or zstd inside is unpacked first; --decompress never takes it as "
             "it is. Without --from and --to OUT is a copy of IN that was checked whole.\n\n"
             "The names in the JSON do not change: file, from, result, to (null for an image), "
             "kind, keys (the encoding, or null), result_bytes.",
};
