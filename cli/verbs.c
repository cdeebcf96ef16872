/* verbs.c: the table of verbs and options.
 *
 * This is the one place that says what the command understands. The parser, the help, and
 * whatever is generated later (manual pages, completions) read it and nothing else: a new verb is
 * one function and one entry here.
 */
#include "cli.h"

#include <string.h>

/* Tables are set by hand. */
/* clang-format off */
#define OPERANDS(...) (const struct operand[]) { __VA_ARGS__, {0} }
#define USES(...) (const struct use[]) { __VA_ARGS__, {0} }
#define EXAMPLES(...) (const struct example[]) { __VA_ARGS__, {0} }

/* Lists that several verbs share. */
#define KEY_OPTIONS {.option = OPT_NULL}, {.option = OPT_CRLF}
#define CHANGE_OPTIONS {.option = OPT_OUTPUT, \
                        .help = "write the new image here and leave IMAGE as it is"}, \
                       {.option = OPT_FORCE}
#define ASK_OPTIONS {.option = OPT_COUNT}, {.option = OPT_LINE_NUMBER}, \
                    {.option = OPT_WITH_FILENAME}, \
                    {.option = OPT_QUIET, \
                     .help = "print nothing, stop at the first line that would be"}, \
                    KEY_OPTIONS, {.option = OPT_SECRET_FILE}
#define BUILDER_OPTIONS {.option = OPT_MEMORY}, {.option = OPT_TEMP}, {.option = OPT_THREADS}, \
                        {.option = OPT_VERIFY}
#define OUTPUT_OPTIONS {.option = OPT_OUTPUT, .is_required = true}, {.option = OPT_FORCE}

static const struct option options[OPTIONS] = {
    [OPT_BY] = {.name = "by", .letters = "", .type = VALUE_COUNT, .value = "N",
                .help = "how many times smaller"},
    [OPT_CAPACITY] = {.name = "capacity", .letters = "n", .type = VALUE_COUNT, .value = "N",
                      .help = "how many keys to plan for"},
    [OPT_COUNT] = {.name = "count", .letters = "c",
                   .help = "print only how many lines there are"},
    [OPT_CRLF] = {.name = "crlf", .letters = "",
                  .help = "lines end in CR LF: the CR is no part of the key"},
    [OPT_FORCE] = {.name = "force", .letters = "f",
                   .help = "replace an existing file, or write to a terminal"},
    [OPT_FPR] = {.name = "fpr", .letters = "p", .type = VALUE_RATE, .value = "P",
                 .help = "wanted false-positive rate: 1%, 0.01, 1e-6, 1/1000"},
    [OPT_GOOD] = {.name = "good", .letters = "", .type = VALUE_TEXT, .value = "FILE",
                  .repeats = true, .stream = READS_STDIN,
                  .help = "keys in FILE are known to be good: answered no for certain; "
                          "repeatable"},
    [OPT_HASH] = {.name = "hash", .letters = "", .type = VALUE_WORD, .value = "NAME",
                  .help = "how keys are hashed: xxh3, xxh64, or sip13 (keyed)"},
    [OPT_HELP] = {.name = "help", .letters = "h",
                  .help = "-h prints this list, --help the whole page"},
    [OPT_INVERT] = {.name = "invert-match", .letters = "v",
                    .help = "print the lines that are certainly not in the set"},
    [OPT_JSON] = {.name = "json", .letters = "", .help = "print JSON"},
    [OPT_KIND] = {.name = "kind", .letters = "k", .type = VALUE_WORD, .value = "NAME",
                  .help = "which structure, see \"tamis kinds\""},
    [OPT_LABEL] = {.name = "label", .letters = "", .type = VALUE_TEXT, .value = "NAME FILE",
                   .is_pair = true, .repeats = true, .stream = READS_INSTEAD,
                   .help = "keys in FILE make the set NAME; repeatable"},
    [OPT_LABELS] = {.name = "labels", .letters = "",
                    .help = "print a tab and its labels behind each key"},
    [OPT_LINE_NUMBER] = {.name = "line-number", .letters = "n",
                         .help = "print the number of each line before it"},
    [OPT_MEMORY] = {.name = "memory", .letters = "", .type = VALUE_BYTES, .value = "SIZE",
                    .help = "memory to build in, otherwise half of the machine's; what does not "
                            "fit goes to disk"},
    [OPT_NEW] = {.name = "new", .letters = "",
                 .help = "add only keys that are not there yet, and print them"},
    [OPT_NOTE] = {.name = "note", .letters = "", .type = VALUE_TEXT, .value = "NAME=TEXT",
                  .repeats = true,
                  .help = "keep a text in the image: source=feed-a; repeatable"},
    [OPT_NULL] = {.name = "null", .also = "zero-terminated", .letters = "0z",
                  .help = "keys end in a NUL byte instead of a newline"},
    [OPT_OUTPUT] = {.name = "output", .letters = "o", .type = VALUE_TEXT, .value = "OUT",
                    .help = "where the new image goes, - for standard output"},
    [OPT_QUIET] = {.name = "quiet", .letters = "q", .help = "no summary and no warnings"},
    [OPT_SECRET_FILE] = {.name = "secret-file", .letters = "", .type = VALUE_TEXT,
                         .value = "FILE",
                         .help = "the secret of a keyed hash: 16 bytes or 32 hex digits"},
    [OPT_SEED] = {.name = "seed", .letters = "", .type = VALUE_COUNT, .value = "N",
                  .help = "another hash function of the same family"},
    [OPT_SIZE] = {.name = "size", .letters = "", .type = VALUE_BYTES, .value = "BYTES",
                  .help = "room for the bits: 4096, 64KiB, 2G"},
    [OPT_SPEC] = {.name = "spec", .letters = "s", .type = VALUE_TEXT, .value = "SPEC",
                  .help = "the wish in one sentence: blocked:capacity=1M,fpr=1%"},
    [OPT_STRICT] = {.name = "strict", .letters = "",
                    .help = "a key that is not there is an error: nothing is written"},
    [OPT_TABLE] = {.name = "table", .letters = "",
                   .help = "print the classic tables of rates instead"},
    [OPT_TEMP] = {.name = "temp", .letters = "", .type = VALUE_TEXT, .value = "DIR",
                  .help = "where that goes, otherwise $TMPDIR or /tmp"},
    [OPT_THREADS] = {.name = "threads", .letters = "T", .type = VALUE_COUNT, .value = "N",
                     .help = "threads to build with, otherwise one for each processor"},
    [OPT_VALUES] = {.name = "values", .letters = "",
                    .help = "lines are KEY TAB VALUE, a whole number"},
    [OPT_VERIFY] = {.name = "verify", .letters = "",
                    .help = "ask every key again before the image gets its name"},
    [OPT_WITH_FILENAME] = {.name = "with-filename", .letters = "H",
                           .help = "print the name of the file before each line"},
};

/* What every verb understands. */
static const struct use common[] = {
    {.option = OPT_QUIET},
    {.option = OPT_HELP},
    {0},
};

const struct verb verbs[] = {
    {
        .name = "build",
        .also = "create make new init",
        .summary = "make an image from keys",
        .run = verb_build,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, WRITES_STDOUT},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES({.option = OPT_SPEC}, {.option = OPT_KIND},
                     {.option = OPT_CAPACITY,
                      .help = "how many keys to plan for; otherwise they are counted"},
                     {.option = OPT_FPR}, {.option = OPT_SIZE}, {.option = OPT_HASH},
                     {.option = OPT_SEED},
                     {.option = OPT_SECRET_FILE,
                      .help = "a secret of 16 bytes or 32 hex digits: keys are hashed with it "
                              "(sip13) and the image holds only its id"},
                     {.option = OPT_VALUES}, {.option = OPT_LABEL}, {.option = OPT_GOOD},
                     {.option = OPT_NOTE}, KEY_OPTIONS, BUILDER_OPTIONS, {.option = OPT_FORCE}),
        .examples = EXAMPLES(
            {"A filter from a list, sized by counting it, wrong for 1 key in 100",
             "tamis build blocklist.tamis blocklist.txt"},
            {"One wrong answer in a million, keys from a pipe",
             "cut -f1 users.tsv | tamis build users.tamis --fpr 1e-6"},
            {"Room for what will be added later, described in one sentence",
             "tamis build seen.tamis --spec 'blocked:capacity=10M,fpr=0.1%' </dev/null"},
            {"A billion breached passwords, small and final, in 2 GiB of memory",
             "cut -d: -f1 pwned.txt | tamis build pwned.tamis -k fuse -p 1/65536 --memory 2G"},
            {"Revoked certificates, and no valid one answered yes",
             "tamis build revoked.tamis revoked.txt --kind cascade --good valid.txt"},
            {"Which feed has it? One image of many lists",
             "tamis build feeds.tamis --label spam spam.txt --label malware malware.txt"},
            {"A table of keys and numbers, without the keys",
             "tamis build country.tamis addresses.tsv --kind bloomier --values"}),
        .about =
            "Keys are lines without their newline. Without FILE, or where FILE is -, they come "
            "from standard input. An empty line is an empty key.\n\n"
            "A capacity that neither the spec nor the options tell is counted. Kinds that are "
            "built once, and keys that must be counted first, pass through memory as 8 bytes for "
            "each line (16 with a value or a label), and through an unnamed file in --temp when "
            "memory is used up. The wish is one --spec or the single options, not both.\n\n"
            "--values makes a map from keys to numbers (bloomier unless told otherwise): what "
            "follows the last tab of a line is the value, as 7, 10k or 0xff. --label makes sets "
            "with names (labels); with that kind, files without --label are named after "
            "themselves. --good makes a set that says no to every known-good key (cascade). A key "
            "with two values, or on both lists, is an error that names its lines.\n\n"
            "The image is written beside IMAGE and then takes its name, so that IMAGE is at any "
            "time the old file or the whole new one, also after Ctrl-C.",
    },
    {
        .name = "add",
        .also = "insert append",
        .summary = "add keys to an image",
        .run = verb_add,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES({.option = OPT_NEW}, CHANGE_OPTIONS, {.option = OPT_NOTE}, KEY_OPTIONS,
                     {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES(
            {"Add today's list", "tamis add blocklist.tamis today.txt"},
            {"Add one key", "echo evil.example | tamis add blocklist.tamis"},
            {"Keep the old image", "tamis add monday.tamis tuesday.txt -o tuesday.tamis"},
            {"Which addresses were never here before? They are from now on",
             "tamis add --new seen.tamis addresses.txt"}),
        .about =
            "All keys are added, or IMAGE stays as it was. Most kinds take more keys than they "
            "were planned for, but then give more wrong answers; a warning says so when the rate "
            "is more than twice what was asked. Kinds of fixed room refuse what has no room, and "
            "those without adds-once (see \"tamis kinds KIND\") need room for each add, also of a "
            "key that is inside. Kinds that are built once take none: build them again, or use "
            "\"tamis label\" for sets with names.\n\n"
            "--new prints the lines that were not there yet, each once and in their order, as "
            "awk '!seen[$0]++' does in much more memory. A new line is taken for an old one, and "
            "left out, as often as the filter says yes wrongly. With kinds that age it answers "
            "whether a line is new among the last ones, and a line that was there counts as "
            "just seen. Where keys are removed later, add them without --new: a key that a wrong "
            "yes kept out would be lost as soon as the other one is removed. The image is "
            "written at the end, after all lines are printed.",
        .exits = "0 when done, 2 after an error; with --new 1 when no key was new.",
    },
    {
        .name = "remove",
        .also = "delete rm del erase",
        .summary = "take keys out of an image",
        .run = verb_remove,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES({.option = OPT_STRICT}, CHANGE_OPTIONS, {.option = OPT_NOTE}, KEY_OPTIONS,
                     {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES(
            {"These are good again", "tamis remove blocklist.tamis pardoned.txt"},
            {"One key", "echo good.example | tamis remove blocklist.tamis"},
            {"All of them or none", "tamis remove --strict sessions.tamis ended.txt"}),
        .about =
            "Remove only what was added, and only as often as it was added: each line takes back "
            "one add. A filter does not know its keys, only marks that they left. For a key that "
            "was never added but is answered yes, these are the marks of other keys: removing it "
            "would take them away, and a key that is in the set would be answered no.\n\n"
            "A key whose marks are not there is left out and counted as not found; with --strict "
            "it is an error. Only some kinds can remove: \"tamis kinds\" tells which. IMAGE is "
            "changed whole or not at all.",
        .exits = "0 when a key was removed, 1 when none was, 2 after an error.",
    },
    {
        .name = "check",
        .also = "test query has grep contains",
        .summary = "print the keys that are in the set",
        .run = verb_check,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES({.option = OPT_INVERT}, {.option = OPT_LABELS}, ASK_OPTIONS,
                     {.option = OPT_THREADS,
                      .help = "threads to ask with about large files, otherwise one"}),
        .examples = EXAMPLES(
            {"Which requests are on the list?", "tamis check blocklist.tamis requests.txt"},
            {"How many are not?", "tamis check -vc blocklist.tamis requests.txt"},
            {"Is this one?",
             "if echo evil.example | tamis check -q blocklist.tamis; then echo blocked; fi"},
            {"On which lists?", "tamis check --labels feeds.tamis requests.txt"}),
        .about =
            "Lines that are in the set are printed as they came. A few others are printed too, at "
            "the rate that \"tamis info\" tells; what -v prints is certainly not in the set, "
            "except with kinds that may forget, whose contract says when.\n\n"
            "With --labels a key is followed by a tab and the names of the sets that have it, "
            "with commas between them; a comma or a backslash in a name comes behind a "
            "backslash.\n\n"
            "A file that cannot be read is reported and left out; the others are still "
            "checked. With -c and -H there is one number for each file.",
        .exits = "0 when a line was printed or counted, 1 when none was, 2 after an error.",
    },
    {
        .name = "count",
        .also = "freq frequency times",
        .summary = "tell how often each key was added",
        .run = verb_count,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES({.option = OPT_LINE_NUMBER}, {.option = OPT_WITH_FILENAME},
                     {.option = OPT_QUIET,
                      .help = "print nothing, stop at the first key that was added"},
                     KEY_OPTIONS, {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES(
            {"How often?", "echo evil.example | tamis count requests.tamis"},
            {"The ten most frequent of these",
             "tamis count requests.tamis names.txt | sort -rn | head"}),
        .about =
            "Each line is printed as it came, behind its count and a tab: how often the key was "
            "added and not removed. A count is never too low, and too high as rarely as the "
            "filter says yes wrongly. Kinds with small counters are sure only up to a limit; "
            "where a count reaches it a line on standard error says so.\n\n"
            "Only some kinds can count: \"tamis kinds\" tells which. To count lines that are in "
            "the set use \"tamis check -c\". A file that cannot be read is reported and left "
            "out; the others are still counted.",
        .exits = "0 when a count is above 0, 1 when none is, 2 after an error.",
    },
    {
        .name = "get",
        .also = "value values lookup map",
        .summary = "print the values of keys",
        .run = verb_get,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES({.option = OPT_INVERT, .help = "print the lines that have no value"},
                     ASK_OPTIONS),
        .examples = EXAMPLES(
            {"Where are these from?", "tamis get country.tamis addresses.txt"},
            {"Which are unknown?", "tamis get -v country.tamis addresses.txt"},
            {"One key", "echo 192.0.2.7 | tamis get country.tamis | cut -f2"}),
        .about =
            "A key that has a value is printed with a tab and that value behind it. The value of "
            "a key that is in the map is right (with approximator it is an upper bound); a key "
            "that is not in it gets some value as rarely as the filter says yes wrongly, and "
            "always where the map was built without guard bits.\n\n"
            "Only some kinds have values: \"tamis kinds\" tells which. A file that cannot be "
            "read is reported and left out.",
        .exits = "0 when a line was printed or counted, 1 when none was, 2 after an error.",
    },
    {
        .name = "put",
        .also = "set update assign",
        .summary = "set the values of keys",
        .run = verb_put,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES(CHANGE_OPTIONS, {.option = OPT_NOTE}, KEY_OPTIONS,
                     {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES(
            {"New values from a table", "tamis put country.tamis moved.tsv"},
            {"One of them", "printf '192.0.2.7\\t49\\n' | tamis put country.tamis"}),
        .about =
            "Lines are KEY TAB VALUE; what follows the last tab is the value, as 7, 10k or 0xff. "
            "bloomier built with update=yes changes the values of keys that it was built with: "
            "put no others, for only some of them can be told, and are an error. approximator "
            "takes any key and keeps the larger value. All values are set, or IMAGE stays as it "
            "was.\n\n"
            "Only some kinds can: \"tamis kinds\" tells which.",
    },
    {
        .name = "label",
        .also = "tag name labels tags",
        .summary = "list the labels of an image, or add to one",
        .run = verb_label,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"NAME", AT_MOST_ONE, NO_STREAM},
                             {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
        .uses = USES(CHANGE_OPTIONS, {.option = OPT_NOTE}, KEY_OPTIONS,
                     {.option = OPT_SECRET_FILE}, BUILDER_OPTIONS),
        .examples = EXAMPLES(
            {"Which labels, with how many keys?", "tamis label feeds.tamis"},
            {"One more list", "tamis label feeds.tamis phishing phishing.txt"},
            {"More keys for one of them",
             "echo evil.example | tamis label feeds.tamis malware -o new.tamis"}),
        .about =
            "With NAME, the keys are added to that label, which may be new. The image is built "
            "again from what it holds, the keys themselves are not needed. Its fingerprints keep "
            "their size, so that an image that becomes much larger than it was built for says yes "
            "wrongly more often.\n\n"
            "Without NAME each line is a number of keys, a tab and a label.",
        .exits = "0 when done, 1 when there are no labels to list, 2 after an error.",
    },
    {
        .name = "info",
        .also = "show stat stats describe inspect",
        .summary = "tell what an image is and how full",
        .run = verb_info,
        .operands = OPERANDS({"IMAGE", ONE_OR_MORE, READS_STDIN}),
        .uses = USES({.option = OPT_JSON, .help = "print one JSON object per image and line"},
                     {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES({"For people", "tamis info blocklist.tamis"},
                             {"For programs", "tamis info --json *.tamis | jq .fpr_now"}),
        .about =
            "The names in the JSON do not change: file, spec, kind, contract, shape (an object), "
            "payload_bytes, stored_bytes, bits_per_key, capacity, items, items_now, "
            "items_now_error, probes, fpr_asked, fpr_expected, fpr_now, fill, hash, seed, "
            "key_place, key_id (16 hex digits), is_saturated, is_degraded, abilities (an array "
            "of words), sure_count, worn, caveat, value_bits, labels (how many), notes (an object). "
            "Rates are fractions; what does not apply or is infinite is null.\n\n"
            "items counts what was added and not removed, items_now estimates how many distinct "
            "keys that were. Up to sure_count the counts of \"tamis count\" are never too low. "
            "caveat is a sentence about what the kind promises and this image can no longer "
            "keep, worn how many of its counters, cells or keys that is about. "
            "fpr_expected is the rate with as many keys as planned, fpr_now the rate with those "
            "that are inside.",
    },
    {
        .name = "plan",
        .also = "size estimate calc compare",
        .summary = "tell what a wish costs with each kind",
        .run = verb_plan,
        .operands = OPERANDS({"SPEC", AT_MOST_ONE, NO_STREAM}),
        .uses = USES({.option = OPT_CAPACITY}, {.option = OPT_FPR}, {.option = OPT_SIZE},
                     {.option = OPT_KIND, .help = "only this kind"}, {.option = OPT_TABLE},
                     {.option = OPT_JSON, .help = "print one JSON object"}),
        .examples = EXAMPLES(
            {"How large for ten million keys at one wrong answer in a thousand?",
             "tamis plan --capacity 10M --fpr 1/1000"},
            {"How good in 64 KiB?", "tamis plan --capacity 50k --size 64KiB"},
            {"One kind, from a spec", "tamis plan 'blocked:capacity=1e6'"}),
        .about =
            "Two of capacity, fpr and size fix the third; capacity alone means a rate of 1%. A "
            "SPEC that names its kind is about that kind only. Nothing is allocated, however "
            "large the plan.\n\n"
            "The JSON has an array plans, each with kind, fits, capacity, payload_bytes, "
            "stored_bytes, bits_per_key, probes, fpr_asked, fpr_expected, abilities and shape, or, "
            "where fits is false, the sentence why.\n\n"
            "--table prints (1-e^(-k*n/m))^k: how often a filter of m bits with n keys and k "
            "probes per key says yes wrongly. The last column of cells in a row is a little "
            "beyond the best k, which is ln 2 times m/n.",
        .exits = "0 when a kind fits the wish, 1 when none does, 2 after an error.",
    },
    {
        .name = "kinds",
        .also = "types families list",
        .summary = "list the kinds, or the options of one",
        .run = verb_kinds,
        .operands = OPERANDS({"KIND", AT_MOST_ONE, NO_STREAM}),
        .uses = USES({.option = OPT_JSON, .help = "print one JSON object"}),
        .examples = EXAMPLES({"What is there?", "tamis kinds"},
                             {"What can I wish for?", "tamis kinds blocked"}),
        .about = "Each kind has a line with what it promises and one with what it can do; KIND "
                 "tells what those words mean and which options it takes.\n\n"
                 "The JSON has an array kinds, each with name, id, contract, abilities (an array "
                 "of words) and options (an array with name, choices, min, max, preset, help).",
    },
    {
        .name = "union",
        .also = "merge join or",
        .summary = "make the image of all sets together",
        .run = verb_union,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"IMAGE", ONE_OR_MORE, READS_STDIN}),
        .uses = USES(OUTPUT_OPTIONS, {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES({"One image of a week",
                              "tamis union mon.tamis tue.tamis wed.tamis -o week.tamis"}),
        .about = "The result is, bit for bit, what adding all keys to one filter would have "
                 "given. The images must be of one kind, shape and hash: build them with the "
                 "same spec. Notes are those of the first.",
    },
    {
        .name = "intersect",
        .also = "and common",
        .summary = "make the image of what all sets share",
        .run = verb_intersect,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                             {"IMAGE", ONE_OR_MORE, READS_STDIN}),
        .uses = USES(OUTPUT_OPTIONS, {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES({"Who came on both days?",
                              "tamis intersect mon.tamis tue.tamis -o both.tamis"}),
        .about = "The result has every key that is in all of the sets, and says yes wrongly a "
                 "little more often than a filter made from those keys alone. The images must be "
                 "of one kind, shape and hash. Notes are those of the first.",
    },
    {
        .name = "fold",
        .also = "shrink halve",
        .summary = "make an image smaller without its keys",
        .run = verb_fold,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"BY", AT_MOST_ONE, NO_STREAM}),
        .uses = USES({.option = OPT_BY, .help = "how many times smaller, the same as BY"},
                     {.option = OPT_FPR,
                      .help = "halve it as often as its rate stays at or below P"},
                     OUTPUT_OPTIONS, {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES(
            {"Four times smaller", "tamis fold big.tamis 4 -o small.tamis"},
            {"As small as one wrong answer in a hundred allows",
             "tamis fold big.tamis --fpr 1% -o small.tamis"}),
        .about = "What was planned too large is cut to size: every key stays in, and the rate "
                 "rises. BY must divide the number of blocks or bits, which \"tamis info\" tells "
                 "as the shape: what was built with a --size of 2^N can be folded by any power of "
                 "two.",
    },
    {
        .name = "resize",
        .also = "grow expand enlarge",
        .summary = "make room for more keys, or for fewer",
        .run = verb_resize,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}),
        .uses = USES({.option = OPT_CAPACITY, .is_required = true,
                      .help = "how many keys there is to be room for, in all"},
                     CHANGE_OPTIONS, {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES({"It became more than planned", "tamis resize users.tamis -n 20M"},
                             {"It stayed below the plan",
                              "tamis resize users.tamis -n 1M -o small.tamis"}),
        .about = "The keys themselves are not needed, and no answer changes by it. But what "
                 "tells keys apart does not grow: an image with twice the room, when it is full, "
                 "says yes wrongly twice as often. Only some kinds can be resized: \"tamis "
                 "kinds\" tells which; to make images of others smaller use \"tamis fold\".",
    },
    {
        .name = "tick",
        .also = "age step advance",
        .summary = "let time pass, so that old keys leave",
        .run = verb_tick,
        .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}),
        .uses = USES({.option = OPT_BY, .help = "how many steps of time; one without it"},
                     CHANGE_OPTIONS, {.option = OPT_SECRET_FILE}),
        .examples = EXAMPLES({"A step every hour, from cron", "tamis tick -q recent.tamis"},
                             {"A day later", "tamis tick recent.tamis --by 24"}),
        .about = "For kinds that know time: a key leaves when it is older than what the kind "
                 "promises to remember, in steps. How long a step is, you decide by how often "
                 "you tick. \"tamis kinds\" tells which kinds can.",
    },
};

/* clang-format on */

const size_t number_of_verbs = sizeof verbs / sizeof verbs[0];

const struct option *option_named(enum option_id id) {
    return &options[id];
}

static size_t own_uses(const struct verb *verb) {
    size_t n = 0;
    while (verb->uses[n].option != OPT_NONE) n++;
    return n;
}

static bool has_own(const struct verb *verb, enum option_id id) {
    for (const struct use *use = verb->uses; use->option != OPT_NONE; use++)
        if (use->option == id) return true;
    return false;
}

const struct use *verb_use(const struct verb *verb, size_t i) {
    const size_t own = own_uses(verb);
    if (i < own) return &verb->uses[i];
    i -= own;
    for (const struct use *use = common; use->option != OPT_NONE; use++) {
        if (has_own(verb, use->option)) continue; /* The verb has its own words for it. */
        if (i-- == 0) return use;
    }
    return NULL;
}

const struct verb *verb_named(const char *name) {
    for (size_t i = 0; i < number_of_verbs; i++)
        if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
    return NULL;
}

/* Whether `word` is one of the words in a text that separates them by single spaces. */
static bool is_among(const char *words, const char *word) {
    const size_t len = strlen(word);
    for (const char *at = words; len > 0 && (at = strstr(at, word)) != NULL; at += len) {
        const bool starts = at == words || at[-1] == ' ';
        const bool ends = at[len] == '\0' || at[len] == ' ';
        if (starts && ends) return true;
    }
    return false;
}

const struct verb *verb_meant(const char *name) {
    const struct verb *nearest = NULL;
    size_t least = 0;
    for (size_t i = 0; i < number_of_verbs; i++) {
        if (is_among(verbs[i].also, name)) return &verbs[i];
        const size_t distance = word_distance(name, verbs[i].name);
        if (nearest && distance >= least) continue;
        nearest = &verbs[i];
        least = distance;
    }
    return nearest && is_slip(least, name) ? nearest : NULL;
}
