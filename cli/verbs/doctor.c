/* SPDX-License-Identifier: MIT */
/* doctor.c: `tamis doctor`, what is wrong with an image, in plain words.
 *
 * Each finding has a grade and a sentence. What cannot be opened is damaged (exit 2); what can, but
 * does not do what was asked, is sick (exit 1).
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/measure/numbers.h"
#include "cli/measure/occupancy.h"
#include "cli/measure/statistics.h"

enum grade { GRADE_OK, GRADE_NOTE, GRADE_SICK, GRADE_DAMAGED };
enum { MAX_FINDINGS = 12 };

struct finding {
    const char *about;
    enum grade grade;
    char words[240];
};

/* Everything that was found out about one image. What was not measured is NaN. */
struct diagnosis {
    const struct args *args;
    const char *file;
    struct image image;
    struct tamis_info info;
    struct finding finding[MAX_FINDINGS];
    size_t count;
    uint64_t probes, wrong; /* non-members queried, and those answered yes */
    struct interval rate;
    struct occupancy occupancy;
    bool has_occupancy;
    uint64_t members, missing;
    struct human first_missing;
};

static const char *const grade_names[] = {"ok", "note", "sick", "damaged"};
static const enum role grade_roles[] = {ROLE_NAME, ROLE_CAUTION, ROLE_TROUBLE, ROLE_TROUBLE};

PRINTF_LIKE(4, 5)
static void find(struct diagnosis *d, const char *about, enum grade grade, const char *format,
                 ...) {
    struct finding *finding = &d->finding[d->count++];
    va_list values;
    finding->about = about;
    finding->grade = grade;
    va_start(values, format);
    vsnprintf(finding->words, sizeof finding->words, format, values);
    va_end(values);
}

static enum grade worst(const struct diagnosis *d) {
    enum grade grade = GRADE_OK;
    for (size_t i = 0; i < d->count; i++)
        if (d->finding[i].grade > grade) grade = d->finding[i].grade;
    return grade;
}

/* ---- What the image says of itself ---- */

static void look_at_hash(struct diagnosis *d) {
    const struct tamis_info *info = &d->info;
    if (info->abilities & TAMIS_OWN_HASH)
        find(d, "hash", GRADE_OK,
             "that of another system; the distribution of bits is not examined");
    else if (given(d->args, OPT_FROM))
        find(d, "hash", GRADE_OK, "%s, as in its system", info->hash);
    else if (info->key_id == 0)
        find(d, "hash", GRADE_OK, "%s gives the same values as where the image was made",
             info->hash);
    else
        find(d, "hash", GRADE_OK, "%s with the right secret, stored %s the image", info->hash,
             info->key_place);
}

static void look_at_items(struct diagnosis *d) {
    const struct tamis_info *info = &d->info;
    const struct human items = human_count(info->items);
    if (info->is_saturated)
        find(d, "items", GRADE_SICK, "saturated: it answers yes to %s of non-members; rebuild it",
             human_share(info->fpr_now).text);
    else if (has_too_many(info))
        find(d, "items", info->is_degraded ? GRADE_SICK : GRADE_NOTE,
             "overfilled: %s added, planned for %s", items.text, human_count(info->capacity).text);
    else if (info->abilities & TAMIS_IS_SKETCH)
        find(d, "items", GRADE_OK, "%s added", items.text);
    else if (info->items > info->capacity && info->capacity == 0)
        find(d, "items", GRADE_OK, "%s; no capacity was planned", items.text);
    else
        find(d, "items", GRADE_OK, "%s of %s planned", items.text,
             human_count(info->capacity).text);
    if (*info->caveat) find(d, "promises", GRADE_NOTE, "%s", info->caveat);
}

/* ---- How the bits lie ---- */

static void look_at_fill(struct diagnosis *d) {
    const struct tamis_info *info = &d->info;
    find(d, "fill", GRADE_OK, "%s of its space is in use, as expected for %s distinct keys",
         human_share(info->fill).text,
         isfinite(info->items_now.value) ? human_count((uint64_t)(info->items_now.value + 0.5)).text
                                         : "countless");
}

static const double unlikely = 1e-9; /* One in a billion healthy images is called sick. */

static void look_at_blocks(struct diagnosis *d) {
    struct blocks blocks;
    const double keys = d->info.items_now.value;
    if (!blocks_of(d->image.filter, &blocks) || !isfinite(keys)) return;
    const struct occupancy *o = &d->occupancy;
    occupancy_of(&blocks, keys, &d->occupancy);
    d->has_occupancy = true;

    const bool is_odd = o->chance < unlikely && o->apart > 0.02;
    find(d, "blocks", is_odd ? GRADE_SICK : GRADE_OK,
         "%s of %u bits have %.1f set (+/- %.1f); expected %.1f (+/- %.1f)%s",
         human_count(blocks.count).text, blocks.bits, o->mean, o->deviation, o->mean_expected,
         o->deviation_expected,
         is_odd ? ": keys are not spread at random, or it is an intersection" : "");
    const bool is_biased = o->bias_chance < unlikely && o->bias > 0.02;
    if (is_biased)
        find(d, "positions", GRADE_SICK,
             "some of the %u bits of a block are set %.0f %% more or less often than the rest",
             blocks.bits, 100 * o->bias);
    else
        find(d, "positions", GRADE_OK, "all %u bits of a block are used evenly, within chance",
             blocks.bits);
}

/* ---- Strangers ---- */

enum { ROW = 16, ROWS = 4096 };

/* Keys that are in no set: numbers of a counter, well mixed. */
static void make_nonmembers(uint8_t *rows, uint64_t first) {
    for (uint64_t i = 0; i < ROWS; i++) {
        const uint64_t words[2] = {number_at(2 * (first + i) + 1), number_at(2 * (first + i) + 2)};
        memcpy(rows + i * ROW, words, ROW);
    }
}

static void ask_nonmembers(struct diagnosis *d) {
    static uint8_t rows[ROWS * ROW], hit[ROWS];
    /* Enough to see some hundred wrong answers, where there are any. */
    const double enough = fmax(1000 / fmax(d->info.fpr_now, 1e-4), 1e5);
    const uint64_t wanted = number_or(d->args, OPT_PROBES, (uint64_t)enough);
    for (; d->probes < wanted; d->probes += ROWS) {
        make_nonmembers(rows, d->probes);
        tamis_has_packed(d->image.filter, rows, ROW, ROWS, hit);
        for (size_t i = 0; i < ROWS; i++) d->wrong += hit[i] != 0;
    }
    d->rate = rate_interval(d->wrong, d->probes, 1e-3);
}

static void look_at_rate(struct diagnosis *d) {
    if (d->info.abilities & TAMIS_IS_SKETCH) {
        find(d, "rate", GRADE_OK, "none: it describes sets, not single keys");
        return;
    }
    ask_nonmembers(d);
    const struct tamis_info *info = &d->info;
    const double measured = (double)d->wrong / (double)d->probes;
    const bool is_off = d->rate.low > 1.25 * info->fpr_now;
    /* Where the probes of a key depend on each other, a small filter says yes more often. */
    const bool is_by_nature = is_off && info->abilities & TAMIS_OWN_HASH;
    const bool is_above = info->fpr_asked > 0 && d->rate.low > 2 * info->fpr_asked;
    const struct human asked = info->fpr_asked > 0
                                   ? human_words(", target %s", human_share(info->fpr_asked).text)
                                   : (struct human){""};
    const enum grade grade = is_above || (is_off && !is_by_nature) ? GRADE_SICK
                             : is_off                              ? GRADE_NOTE
                                                                   : GRADE_OK;
    find(d, "rate", grade, "%s of %s non-members answered yes (%s to %s); expected %s%s%s",
         human_share(measured).text, human_count(d->probes).text, human_share(d->rate.low).text,
         human_share(d->rate.high).text, human_share(info->fpr_now).text, asked.text,
         is_by_nature ? ": more than its bits explain, because of how its system hashes"
         : is_off     ? ": more than its bits explain"
         : is_above   ? ": more than twice the target"
                      : "");
}

/* ---- Members ---- */

static void ask_members(void *with, struct batch *batch) {
    const struct diagnosis *d = with;
    batch_has(d->image.filter, batch);
}

static int count_missing(void *with, struct batch *batch) {
    struct diagnosis *d = with;
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->hit[i]) continue;
        if (d->missing++ == 0) d->first_missing = human_key(&batch->key[i]);
    }
    d->members += batch->n;
    return 0;
}

static int open_members(struct keys *keys, const struct args *args) {
    struct source *sources = calloc(args->repeated_count + 1, sizeof *sources);
    size_t n = 0;
    for (size_t i = 0; sources && i < args->repeated_count; i++)
        if (args->repeated[i].option == OPT_MEMBERS) sources[n++].name = args->repeated[i].text;
    return keys_open_sources(keys, args, sources, n);
}

static int look_at_members(struct diagnosis *d) {
    const struct handler handler = {.ask = ask_members, .take = count_missing, .with = d};
    struct keys keys;
    int code = open_members(&keys, d->args);
    if (!code) code = form_is_that_of(d->args, input_name(d->file), d->image.filter);
    keys_hash_by(&keys, d->image.filter);
    keys.several.use = TAKES_SEVERAL;
    if (!code) code = keys_run(&keys, &handler);
    keys_close(&keys);
    if (code) return code;

    const bool may_forget = d->info.abilities & (TAMIS_MAY_FORGET | TAMIS_AGES);
    if (d->missing == 0)
        find(d, "members", GRADE_OK, "all %s are found", human_count(d->members).text);
    else
        find(d, "members", may_forget ? GRADE_NOTE : GRADE_SICK,
             "%s of %s are not found, the first is \"%s\"%s", human_count(d->missing).text,
             human_count(d->members).text, d->first_missing.text,
             may_forget ? "; this kind may forget keys" : ": they were never added, or were lost");
    return 0;
}

/* ---- For people ---- */

static const char *const verdicts[] = {"healthy", "healthy, with a note", "sick", "damaged"};

enum { WORDS_COLUMN = 22 };

static void print_diagnosis(const struct diagnosis *d) {
    fputs(color(stdout, ROLE_HEADING), stdout);
    human_text(stdout, input_name(d->file));
    printf(":%s ", color(stdout, ROLE_TEXT));
    color_words(stdout, grade_roles[worst(d)], verdicts[worst(d)]);
    putchar('\n');
    for (size_t i = 0; i < d->count; i++) {
        const struct finding *finding = &d->finding[i];
        printf("  %s%-8s%s %-10s ", color(stdout, grade_roles[finding->grade]),
               grade_names[finding->grade], color(stdout, ROLE_TEXT), finding->about);
        print_paragraph(stdout, finding->words, WORDS_COLUMN, WORDS_COLUMN);
    }
}

/* ---- For programs ---- */

static void write_measured(struct json *json, const struct diagnosis *d) {
    const bool is_asked = d->probes > 0;
    json_count(json, "probes", d->probes);
    json_real(json, "fpr_measured", is_asked ? (double)d->wrong / (double)d->probes : NAN);
    json_real(json, "fpr_low", is_asked ? d->rate.low : NAN);
    json_real(json, "fpr_high", is_asked ? d->rate.high : NAN);
    json_real(json, "fpr_now", is_asked ? d->info.fpr_now : NAN);
    json_real(json, "fpr_asked", d->info.fpr_asked > 0 ? d->info.fpr_asked : NAN);
    json_real(json, "fill", is_asked ? d->info.fill : NAN);
    json_real(json, "blocks_chance", d->has_occupancy ? d->occupancy.chance : NAN);
    json_real(json, "positions_chance", d->has_occupancy ? d->occupancy.bias_chance : NAN);
    const bool has_members = given(d->args, OPT_MEMBERS) && d->image.filter;
    json_count_if(json, "members", has_members, d->members);
    json_count_if(json, "members_missing", has_members, d->missing);
}

static void write_diagnosis(const struct diagnosis *d) {
    struct json json = json_start(stdout);
    json_text(&json, "file", d->file);
    json_text(&json, "kind", d->image.filter ? d->info.kind : NULL);
    json_text(&json, "verdict", grade_names[worst(d)]);
    json_open(&json, "findings", '[');
    for (size_t i = 0; i < d->count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "about", d->finding[i].about);
        json_text(&json, "grade", grade_names[d->finding[i].grade]);
        json_text(&json, "words", d->finding[i].words);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    write_measured(&json, d);
    json_end(&json);
}

/* ---- The verb ---- */

static int examine(struct diagnosis *d) {
    d->info = info_measured(d->image.filter);
    if (given(d->args, OPT_FROM))
        find(d, "file", GRADE_OK, "%s; its bytes are valid for %s", d->info.kind,
             d->args->setting[OPT_FROM].text);
    else
        find(d, "file", GRADE_OK, "%s, %s; header and checksums are correct", d->info.kind,
             human_bytes(d->info.stored_bytes).text);
    look_at_hash(d);
    look_at_items(d);
    look_at_fill(d);
    look_at_blocks(d);
    look_at_rate(d);
    if (!given(d->args, OPT_MEMBERS)) return 0;
    const int code = image_knows_keys(d->args, &d->image);
    return code ? code : look_at_members(d);
}

/* An image that the gate refuses is a finding; a file that cannot be read is an error. */
static int open_patient(struct diagnosis *d) {
    tamis_status status;
    const int code = image_try(&d->image, d->args, d->file, TO_ASK, &status);
    if (code || !status) return code;
    if (status != TAMIS_CORRUPT && status != TAMIS_TOO_NEW)
        return fail_why(d->args, input_name(d->file), status);
    find(d, "file", GRADE_DAMAGED, "%s", why_without_file(d->file));
    return 0;
}

static int tell(const struct args *args, const char *file) {
    struct diagnosis d = {.args = args, .file = file};
    int code = open_patient(&d);
    if (!code && d.image.filter) code = examine(&d);
    if (!code && given(args, OPT_JSON))
        write_diagnosis(&d);
    else if (!code && !given(args, OPT_QUIET))
        print_diagnosis(&d);
    image_close(&d.image);
    if (code) return code;
    const enum grade grade = worst(&d);
    return grade == GRADE_DAMAGED ? EXIT_TROUBLE : grade == GRADE_SICK ? EXIT_NOTHING : 0;
}

static int run(const struct args *args) {
    int code = 0;
    if (given(args, OPT_MEMBERS) && args->operand_count > 1)
        return fail(args, NULL, "--members needs exactly one image");
    for (size_t i = 0; i < args->operand_count; i++) {
        const int one = tell(args, args->operand[i]);
        if (one > code) code = one;
    }
    return code;
}

/* clang-format off */

const struct verb verb_doctor = {
    .name = "doctor",
    .also = "verify audit diagnose health test",
    .summary = "examine an image and report what is wrong",
    .run = run,
    .operands = OPERANDS({"IMAGE", ONE_OR_MORE, READS_STDIN}),
    .uses = USES({.option = OPT_MEMBERS}, {.option = OPT_PROBES},
                 {.option = OPT_JSON, .help = "print one JSON object per image and line"},
                 {.option = OPT_QUIET, .help = "print nothing; only set the exit status"},
                 KEY_OPTIONS, THREADS_OPTION,
                 {.option = OPT_SECRET_FILE}, FROM_OPTION),
    .examples = EXAMPLES({"Examine an image", "tamis doctor blocklist.tamis"},
                         {"Check that all of these keys are found",
                          "tamis doctor blocklist.tamis --members blocklist.txt"},
                         {"Run it every night, from cron",
                          "tamis doctor -q *.tamis || mail -s sick ops"}),
    .about =
        "file and hash: header and checksums, and whether the hash gives the same values as "
        "before. items: whether more keys were added than planned, and what the kind can no "
        "longer promise. blocks and positions, for kinds made of bits (classic, blocked, split, "
        "universal): how many bits are set in each block, compared with randomly spread keys, and "
        "whether every position is used. rate: queries with random keys that were never added; "
        "the share answered yes, with a 99.9 % confidence interval, next to the rate expected "
        "from the bits and the target. members: with --members, every key of a file must be "
        "found.\n\n"
        "A note is worth knowing; sick means that the image does not meet its spec, damaged that "
        "it cannot be used. An intersection of images naturally has unusual blocks.\n\n"
        "The names in the JSON do not change: file, kind, verdict (ok, note, sick, damaged), "
        "findings (an array with about, grade, words), probes, fpr_measured, fpr_low, fpr_high, "
        "fpr_now, fpr_asked, fill, blocks_chance and positions_chance (how likely blocks and "
        "positions are as uneven by chance), members, members_missing. What was not measured is "
        "null.",
    .exits = "0 all is well, 1 an image is sick, 2 an image is damaged, or error.",
};
