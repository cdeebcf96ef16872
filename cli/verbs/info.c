/* SPDX-License-Identifier: MIT */
/* info.c: `tamis info`, what an image is and how full. */
#include "cli/cli.h"
#include "cli/images/foreign_files.h"
#include "cli/verbs/info_patches.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Everything there is to tell about one image. */
struct facts {
    const char *file;
    const tamis *filter;
    struct tamis_info info;
    char *spec;
    double bits_per_key; /* NaN for a capacity of 0 */
    uint64_t value_bits; /* 0 for kinds without values */
    struct questions questions;
};

static void gather(struct facts *facts, const tamis *filter, const char *file) {
    *facts = (struct facts){
        .file = file, .filter = filter, .spec = spec_of(filter), .info = info_measured(filter)};
    const struct tamis_info *info = &facts->info;
    facts->bits_per_key = bits_per_key(info);
    facts->questions = questions_of(filter, info->fpr_now);
    if (info->abilities & TAMIS_CAN_GET) /* Every kind with values names their width so. */
        facts->value_bits = shape_word(info->word_name, info->word, "value");
}

/* ---- For people ---- */

enum { LABEL_WIDTH = 16, LABEL_END = 2 + LABEL_WIDTH };

static void print_label(const char *label) {
    const enum role role = strcmp(label, "warning") == 0 ? ROLE_CAUTION : ROLE_NAME;
    printf("  %s%-*s%s", color(stdout, role), LABEL_WIDTH, label, color(stdout, ROLE_TEXT));
}

PRINTF_LIKE(2, 3)
static void print_fact(const char *label, const char *format, ...) {
    va_list values;
    va_start(values, format);
    print_label(label);
    vprintf(format, values);
    putchar('\n');
    va_end(values);
}

static void print_size(const struct facts *facts) {
    const struct tamis_info *info = &facts->info;
    print_label("size");
    printf("%s", human_bytes(info->stored_bytes).text);
    if (info->stored_bytes >= 1024) printf(" (%s bytes)", human_count(info->stored_bytes).text);
    printf(", payload %s\n", human_bytes(info->payload_bytes).text);
    if (isnan(facts->bits_per_key)) return;
    print_fact("bits per key", "%s", human_decimal(facts->bits_per_key).text);
}

static void print_estimate(const struct tamis_info *info) {
    const struct tamis_estimate items = info->items_now;
    if (!isfinite(items.value)) return;
    /* A builder has counted the distinct ones; but those of labels may be in several. */
    if (info->abilities & TAMIS_IS_BUILT && !(info->abilities & TAMIS_CAN_LABEL)) return;
    printf(", %s %s %s", info->has_stray_bits ? "fewer than" : "about",
           human_count((uint64_t)(items.value + 0.5)).text,
           info->abilities & TAMIS_AGES ? "still inside" : "distinct");
    if (items.error >= 0.5 && !info->has_stray_bits)
        printf(" (+/- %s)", human_margin(items.error).text);
}

/* What its options size was planned for no number of keys. */
static bool is_planned(const struct tamis_info *info) {
    return info->capacity > 0 || info->fpr_asked > 0;
}

static void print_items(const struct facts *facts) {
    const struct tamis_info *info = &facts->info;
    if (is_planned(info))
        print_fact("capacity", "%s%s", human_count(info->capacity).text,
                   info->abilities & TAMIS_CAN_LABEL ? " per label" : "");
    print_label("items");
    printf("%s %s", human_count(info->items).text,
           info->abilities & TAMIS_IS_BUILT     ? "built in"
           : info->abilities & TAMIS_CAN_REMOVE ? "added and not removed"
                                                : "added");
    print_estimate(info);
    putchar('\n');
}

static void print_rates(const struct facts *facts) {
    const struct tamis_info *info = &facts->info;
    if (info->abilities & TAMIS_IS_SKETCH) {
        print_fact("fpr", "none: it describes sets, not single keys");
        print_fact("fill", "%s", human_share(info->fill).text);
        return;
    }
    if (info->fpr_asked > 0) print_fact("target fpr", "%s", human_rate(info->fpr_asked).text);
    if (is_planned(info)) {
        const bool has_grown = info->abilities & TAMIS_CAN_GROW && info->items > info->capacity;
        print_fact("expected fpr", "%s %s", human_rate(info->fpr_expected).text,
                   info->abilities & TAMIS_AGES ? "in the long run"
                   : has_grown                  ? "at this size"
                                                : "at capacity");
    }
    print_fact("fpr now", "%s", human_rate(info->fpr_now).text);
    if (facts->questions.has_several && info->fpr_now > 0)
        print_fact("questions", "ask for up to %s, fpr at most %s",
                   human_number(facts->questions.keys, "key").text,
                   human_rate(facts->questions.fpr).text);
    print_fact("fill", "%s", human_share(info->fill).text);
}

static void print_counts(const struct tamis_info *info) {
    if (info->reliable_count > 0 && info->reliable_count < UINT64_MAX)
        print_fact("counts", "never too low up to %s", human_count(info->reliable_count).text);
    if (info->count_error > 0)
        print_fact("", "too high by at most %s, except in %s of cases",
                   human_expected(info->count_error).text,
                   human_share(info->count_error_prob).text);
}

static void print_values(const struct facts *facts) {
    if (facts->value_bits > 0)
        print_fact("values", "%s each", human_number(facts->value_bits, "bit").text);
    if (facts->info.abilities & TAMIS_CAN_LABEL)
        print_fact("labels", "%s", human_count(tamis_label_count(facts->filter)).text);
}

static void print_shape(const struct tamis_info *info) {
    print_label("shape");
    for (size_t i = 0; i < TAMIS_WORDS; i++)
        if (info->word_name[i]) printf("%s %" PRIu64 ", ", info->word_name[i], info->word[i]);
    printf("probes %" PRIu64 "\n", info->probes);
}

static void print_hash(const struct tamis_info *info) {
    if (info->abilities & TAMIS_OWN_HASH) {
        print_fact("hash", "%s: keys are hashed as in its system", info->hash);
    } else if (info->key_id == 0) {
        print_fact("hash", "%s, seed %" PRIu64, info->hash, info->seed);
    } else { /* The secret takes the place of a seed. */
        print_fact("hash", "%s", info->hash);
        print_fact("secret", "%s the image, key id %016" PRIx64, info->key_place, info->key_id);
    }
}

static void print_notes(const tamis *filter) {
    const char *name, *value;
    for (size_t i = 0; tamis_note_at(filter, i, &name, &value); i++) {
        print_label("note");
        human_text(stdout, name);
        putchar('=');
        human_text(stdout, value);
        putchar('\n');
    }
}

static void print_kind(const struct tamis_info *info) {
    const struct human words = human_words("%s: %s", info->kind, info->contract);
    print_label("kind");
    print_paragraph(stdout, words.text, LABEL_END, LABEL_END);
}

static void print_warnings(const struct tamis_info *info) {
    if (*info->caveat) print_fact("warning", "%s", info->caveat);
    if (info->is_saturated)
        print_fact("warning", "full: it answers yes to %s of non-members",
                   human_share(info->fpr_now).text);
    else if (info->is_degraded)
        print_fact("warning", "%sthe false-positive rate is more than twice the target",
                   has_too_many(info) ? "more keys than planned: " : "");
}

static void print_facts(const struct facts *facts) {
    color_words(stdout, ROLE_HEADING, input_name(facts->file));
    putchar('\n');
    print_fact("spec", "%s", facts->spec);
    print_kind(&facts->info);
    print_size(facts);
    print_items(facts);
    print_rates(facts);
    print_counts(&facts->info);
    print_values(facts);
    print_shape(&facts->info);
    print_hash(&facts->info);
    print_notes(facts->filter);
    print_warnings(&facts->info);
}

/* ---- For programs ---- */

/* What it can do, and what of that no longer. */
static void write_promises(struct json *json, const struct tamis_info *info) {
    write_abilities(json, info->abilities);
    json_count_if(json, "reliable_count", info->reliable_count > 0, info->reliable_count);
    json_real(json, "count_error", info->count_error > 0 ? info->count_error : NAN);
    json_real(json, "count_error_prob", info->count_error > 0 ? info->count_error_prob : NAN);
    json_count(json, "affected", info->affected);
    json_text(json, "caveat", *info->caveat ? info->caveat : NULL);
}

static void write_facts(const struct facts *facts) {
    const struct tamis_info *info = &facts->info;
    struct json json = json_start(stdout);
    json_text(&json, "file", facts->file);
    json_text(&json, "spec", facts->spec);
    json_text(&json, "kind", info->kind);
    json_text(&json, "contract", info->contract);
    write_shape(&json, info->word_name, info->word);
    json_count(&json, "payload_bytes", info->payload_bytes);
    json_count(&json, "stored_bytes", info->stored_bytes);
    json_real(&json, "bits_per_key", facts->bits_per_key);
    json_count(&json, "capacity", info->capacity);
    json_count(&json, "items", info->items);
    json_real(&json, "items_now", info->items_now.value);
    json_real(&json, "items_now_error", info->items_now.error);
    json_count(&json, "probes", info->probes);
    const bool has_rate = !(info->abilities & TAMIS_IS_SKETCH);
    json_real(&json, "fpr_asked", has_rate && info->fpr_asked > 0 ? info->fpr_asked : NAN);
    json_real(&json, "fpr_expected", has_rate ? info->fpr_expected : NAN);
    json_real(&json, "fpr_now", has_rate ? info->fpr_now : NAN);
    json_count(&json, "question_keys", facts->questions.keys);
    json_real(&json, "question_fpr", has_rate ? facts->questions.fpr : NAN);
    json_real(&json, "fill", info->fill);
    json_text(&json, "hash", info->hash);
    json_count(&json, "seed", info->seed);
    json_text(&json, "key_place", info->key_place);
    /* Text, because many readers of JSON round whole numbers from 2^53 on. */
    const struct human key_id = human_words("%016" PRIx64, info->key_id);
    json_text(&json, "key_id", info->key_id ? key_id.text : NULL);
    json_bool(&json, "is_saturated", info->is_saturated);
    json_bool(&json, "is_degraded", info->is_degraded);
    write_promises(&json, info);
    json_count_if(&json, "value_bits", facts->value_bits > 0, facts->value_bits);
    json_count_if(&json, "labels", info->abilities & TAMIS_CAN_LABEL,
                  tamis_label_count(facts->filter));
    write_notes(&json, facts->filter);
    json_end(&json);
}

static int tell(const struct args *args, const char *path, bool is_first) {
    struct image image;
    struct facts facts = {0};
    if (foreign_is_list(args)) return foreign_list(args, path, is_first);
    if (!given(args, OPT_FROM) && info_is_patches(path)) return info_patches(args, path, is_first);
    int code = image_open(&image, args, path, TO_ASK);
    if (!code) gather(&facts, image.filter, path);
    if (!code && !facts.spec) code = fail_memory(args);
    if (!code && given(args, OPT_JSON)) {
        write_facts(&facts);
    } else if (!code) {
        if (!is_first) putchar('\n');
        print_facts(&facts);
    }
    free(facts.spec);
    image_close(&image);
    return code;
}

static int run(const struct args *args) {
    int code = 0;
    bool is_first = true;
    for (size_t i = 0; i < args->operand_count; i++) {
        /* Like ls: what can be told is told, the rest is reported. */
        if (tell(args, args->operand[i], is_first))
            code = EXIT_TROUBLE;
        else
            is_first = false;
    }
    if (!code && !given(args, OPT_FROM)) code = info_chain(args);
    return code;
}

/* clang-format off */

const struct verb verb_info = {
    .name = "info",
    .also = "stat stats describe inspect",
    .aliases = "show",
    .summary = "describe an image and its fill, or patches",
    .run = run,
    .operands = OPERANDS({"IMAGE", ONE_OR_MORE, READS_STDIN}),
    .uses = USES({.option = OPT_JSON, .help = "print one JSON object per image and line"},
                 {.option = OPT_SECRET_FILE}, {.option = OPT_DECOMPRESS}, FROM_OPTION,
                 {.option = OPT_VERIFY_KEY,
                  .help = "accept only patches signed with this public key"}),
    .examples = EXAMPLES({"Describe an image", "tamis info blocklist.tamis"},
                         {"Print JSON for programs", "tamis info --json *.tamis | jq .fpr_now"},
                         {"Describe a patch, and who signed it", "tamis info tue.patch"},
                         {"See which of many patches follows which", "tamis info patches/"},
                         {"Describe a filter written by a Java program",
                          "tamis info --from guava orders.bin"}),
    .about =
        "The names in the JSON do not change: file, spec, kind, contract, shape (an object), "
        "payload_bytes, stored_bytes, bits_per_key, capacity, items, items_now, items_now_error, "
        "probes, fpr_asked, fpr_expected, fpr_now, question_keys, question_fpr, fill, hash, "
        "seed, key_place, key_id (16 hex "
        "digits), is_saturated, is_degraded, abilities (an array of words), reliable_count, "
        "count_error, count_error_prob, affected, caveat, value_bits, labels (how many), notes "
        "(an object). Rates are fractions; what does not apply or is infinite is null.\n\n"
        "items counts what was added and not removed; items_now estimates the number of distinct "
        "keys. Counts of \"tamis count\" are never too low up to reliable_count; the probability "
        "that they exceed the truth by more than count_error is count_error_prob. caveat is a "
        "sentence about what the kind promises and this image can no longer keep; affected is the "
        "number of counters, cells or keys concerned. fpr_expected is the rate at capacity, "
        "fpr_now the rate with the current keys.\n\n"
        "A patch is described by the size and the checksum of the images it is for and makes, and "
        "the key that signed it. Several patches, or a directory of them, are also put in order: "
        "a line per step, and whether they are one chain. As JSON a patch has patch, base_bytes, "
        "result_bytes, patch_bytes, base_sum, result_sum, is_same, is_whole, is_signed, signer "
        "(the public key, 64 hex digits), is_verified; a chain has file, is_chain, steps, "
        "patch_bytes and patches, an array of these with is_step.\n\n"
        "With --from, the files are those of another system. If a format holds several filters, "
        "they are listed, unless parameters select one; the JSON then has file, from and filters, "
        "an array with name, choose, kind, keys, offset, size_bytes.",
};
