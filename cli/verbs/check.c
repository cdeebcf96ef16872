/* SPDX-License-Identifier: MIT */
/* check.c: `tamis check`, grep with filters for patterns. */
#include "cli/verbs/check.h"

void check_ask(void *with, struct batch *batch) {
    const struct checking *checking = with;
    filters_ask(&checking->filters, batch);
    show_hits(&checking->hits, batch);
}

/* ---- Which sets? ---- */

struct naming {
    struct text *text;
    bool is_later; /* a name stands there already */
};

/* A backslash goes before what separates names. */
static void add_escaped(struct text *text, const char *name, const char *special) {
    for (; *name; name++) {
        if (strchr(special, *name)) text_byte(text, '\\');
        text_byte(text, *name);
    }
}

static void add_set(void *with, const char *name, const char *label) {
    struct naming *naming = with;
    if (naming->is_later) text_byte(naming->text, ',');
    naming->is_later = true;
    if (name) add_escaped(naming->text, name, label ? ",\\:" : ",\\");
    if (name && label) text_byte(naming->text, ':');
    if (label) add_escaped(naming->text, label, ",\\");
}

static void print_sets(void *with, struct batch *batch, size_t i) {
    struct checking *checking = with;
    struct naming naming = {.text = &batch->out};
    print_pair_start(batch, i);
    if (!filters_tell(&checking->filters, batch, i, add_set, &naming))
        checking->is_short_of_memory = true;
    print_pair_end(batch);
}

/* ---- JSON ---- */

static void write_set(void *with, const char *name, const char *label) {
    struct json *json = with;
    struct text whole = {0};
    if (name) text_words(&whole, name);
    if (name && label) text_byte(&whole, ':');
    if (label) text_words(&whole, label);
    json_bytes(json, NULL, whole.bytes ? whole.bytes : "", whole.len);
    text_free(&whole);
}

enum { MAX_SHOWN = 1024 };

static void write_hit(void *with, struct batch *batch, size_t i) {
    struct checking *checking = with;
    struct json json = json_start(stdout);
    char match[MAX_SHOWN];
    bool is_whole = write_line(&json, batch, i);
    const size_t len = batch_match(batch, i, match, sizeof match - 1);
    match[len] = '\0';
    if (len > 0)
        json_bytes(&json, "match", match, len);
    else
        json_text(&json, "match", NULL);
    json_open(&json, "sets", '[');
    is_whole = filters_tell(&checking->filters, batch, i, write_set, &json) && is_whole;
    json_close(&json, ']');
    json_end(&json);
    if (!is_whole) checking->is_short_of_memory = true;
}

/* ---- The verb ---- */

static int check_options(const struct args *args) {
    static const enum option_id apart[][2] = {
        {OPT_COUNT, OPT_WHICH},
        {OPT_COUNT, OPT_ONLY_MATCHING},
        {OPT_COUNT, OPT_FILES_WITH_MATCHES},
        {OPT_COUNT, OPT_FILES_WITHOUT_MATCH},
        {OPT_FILES_WITH_MATCHES, OPT_FILES_WITHOUT_MATCH},
        {OPT_FILES_WITH_MATCHES, OPT_WHICH},
        {OPT_FILES_WITHOUT_MATCH, OPT_WHICH},
        {OPT_FILES_WITH_MATCHES, OPT_ONLY_MATCHING},
        {OPT_FILES_WITHOUT_MATCH, OPT_ONLY_MATCHING},
        {OPT_ONLY_MATCHING, OPT_CONTEXT},
        {OPT_ONLY_MATCHING, OPT_BEFORE_CONTEXT},
        {OPT_ONLY_MATCHING, OPT_AFTER_CONTEXT},
        {OPT_WITH_FILENAME, OPT_NO_FILENAME},
        {OPT_JSON, OPT_ONLY_MATCHING},
        {OPT_JSON, OPT_FILES_WITH_MATCHES},
        {OPT_JSON, OPT_FILES_WITHOUT_MATCH},
        {OPT_JSON, OPT_CONTEXT},
        {OPT_JSON, OPT_BEFORE_CONTEXT},
        {OPT_JSON, OPT_AFTER_CONTEXT},
        {OPT_JSON, OPT_QUIET},
        {OPT_KEEP_HEADER, OPT_JSON},
        {OPT_KEEP_HEADER, OPT_QUIET},
        {OPT_KEEP_HEADER, OPT_ONLY_MATCHING},
        {OPT_KEEP_HEADER, OPT_FILES_WITH_MATCHES},
        {OPT_KEEP_HEADER, OPT_FILES_WITHOUT_MATCH},
    };
    struct form form; /* a typo in it is told before any file is opened */
    const int code = options_apart(args, apart, sizeof apart / sizeof apart[0]);
    return code ? code : form_given(args, &form);
}

void check_printing(struct checking *checking, const struct args *args) {
    struct hits *hits = &checking->hits;
    hits->with = checking;
    if (given(args, OPT_JSON))
        hits->write = write_hit;
    else if (checking->filters.tells_which)
        hits->print = print_sets;
    /* The names of labels are found once for all lines. */
    hits->prints_in_order = hits->print && filters_have_labels(&checking->filters);
}

static int run(const struct args *args) {
    struct checking checking = {0};
    struct keys keys = {0};
    int code = check_options(args);
    if (code) return code;
    code = filters_open(&checking.filters, args);
    if (!code) code = keys_open(&keys, args, checking.filters.operands);
    if (!code) {
        check_printing(&checking, args);
        filters_hash(&checking.filters, &keys);
        code = query_keys(&keys, &checking.hits, check_ask);
    }
    if (checking.is_short_of_memory) code = fail_memory(args);
    filters_close(&checking.filters);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_check = {
    .name = "check",
    .also = "test query has grep contains",
    .summary = "print the keys that are in the set",
    .run = run,
    .operands = OPERANDS({"IMAGE", ONE_OR_MORE, READS_STDIN},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_INVERT,
         .help = "print the lines that are certainly not in any of the sets"},
        {.option = OPT_WHICH},
        {.option = OPT_LABELS, .help = "same as --which, for images with labels"},
        {.option = OPT_IMAGES}, {.option = OPT_ONLY_MATCHING}, {.option = OPT_MAX_COUNT},
        {.option = OPT_COUNT, .help = "print only the number of lines, of each FILE"},
        {.option = OPT_FILES_WITH_MATCHES}, {.option = OPT_FILES_WITHOUT_MATCH},
        {.option = OPT_LINE_NUMBER},
        {.option = OPT_WITH_FILENAME,
         .help = "print the file name before each line (default with several FILEs)"},
        {.option = OPT_NO_FILENAME}, {.option = OPT_AFTER_CONTEXT}, {.option = OPT_BEFORE_CONTEXT},
        {.option = OPT_CONTEXT}, {.option = OPT_KEEP_HEADER},
        {.option = OPT_JSON, .help = "print one JSON object per line; with -c, per file"},
        {.option = OPT_QUIET, .help = "print nothing, stop at the first match"},
        KEY_OPTIONS, {.option = OPT_SECRET_FILE}, THREADS_OPTION, FROM_OPTION),
    .examples =
        EXAMPLES({"Print the requests that are on the list",
                  "tamis check blocklist.tamis requests.txt"},
                 {"Count those that are not", "tamis check -vc blocklist.tamis requests.txt"},
                 {"Test a single key",
                  "if echo evil.example | tamis check -q blocklist.tamis; then echo blocked; fi"},
                 {"Print the requests that are on any list of a directory, and on which",
                  "tamis check --which feeds/ requests.txt"},
                 {"Print the log files with a request that is on one of two lists",
                  "tamis check -l spam.tamis malware.tamis logs/*.txt"},
                 {"Print the first hit of each log with two lines around it",
                  "tamis check -m1 -C2 -n blocklist.tamis logs/*.txt"},
                 {"Print the files of a data lake that may have a key",
                  "echo 4711 | tamis check --which --from parquet:column=id,group=all lake/"},
                 {"Query a filter of numbers written by a Java program",
                  "tamis check --from guava --keys int64 orders.bin numbers.txt"}),
    .about = "Prints each line whose key is in the set, unchanged. A few others pass too, at the "
             "rate that \"tamis info\" reports. What -v prints is certainly not in the set, except "
             "with kinds that may forget; their contract says when.\n\n"
             "There may be several sets: a line is printed if any of them has its key, and by -v "
             "if none has; their false-positive rates add up. The first operand is a set; those "
             "after it are sets too as long as they are images by content, or directories. All "
             "others are FILEs. A directory stands for the images in it, by name, without "
             "subdirectories. With --from, files in that format are sets too, if the format can "
             "hold several filters (parquet, orc, leveldb-table, rocksdb-sst). With --image, no "
             "operand is a set. All sets must have been made with the same --keys and "
             "--canon; kind, rate, hash and seed may differ.\n\n"
             "With --which, each line ends in a tab and the names of the sets that have its key, "
             "separated by commas. An image is named by its file, without directory and "
             "\".tamis\"; an image with labels by these, and by NAME:LABEL if there are several "
             "sets. Commas and backslashes in names are escaped with a backslash.\n\n"
             "Options are those of grep. -m stops reading a file after N lines. -A, -B and -C "
             "print lines around those found, with a dash after the line number, and \"--\" "
             "where lines are left out. -o with -v prints the keys that are not in the set. "
             "On a terminal, keys that were found are coloured.\n\n"
             "--json prints one object per line: file, line_number, line, key, match (what "
             "of the set answered, where a question asks for several keys), sets; with -c one "
             "per file: file, count.\n\n"
             "A file that cannot be read is reported and skipped; the others are still checked."
             ABOUT_FORM,
    .exits = "0 a line was printed or counted (with -l or -L: would be), 1 none was, 2 error.",
};
