/* SPDX-License-Identifier: MIT */
/* topics.c: the pages that are about no single verb.
 *
 * What several verbs share is explained once, here; their pages only refer to it. Whoever adds an
 * option, an encoding or a step that concerns every reader of keys adds a line below.
 */
#include "cli/cli.h"

#include <string.h>

/* clang-format off */

static const struct topic_line keys[] = {
    {.text = "A key is a line without its newline: of FILE, or of standard input if there is no "
             "FILE or FILE is -. A CR before the newline, and a byte-order mark, are no part of "
             "it. These options say otherwise:"},
    {.heading = "Lines"},
    {.term = "-0, -z, --null", .text = "keys end in a NUL byte, as \"find -print0\" and \"sort "
                                       "-z\" write them"},
    {.term = "--comment TEXT", .text = "skip lines that start with TEXT, and cut off what follows "
                                       "a blank and TEXT: --comment '#'"},
    {.term = "--keep-empty", .text = "an empty line of a list is the empty key; empty lines of "
                                     "lists are skipped otherwise"},
    {.term = "--skip-empty", .text = "skip empty lines also where they count, as in questions"},
    {.term = "--decompress", .text = "files are what their contents say, whatever their name: "
                                     "gzip, zstd, xz and bzip2 are decompressed, UTF-16 is read as "
                                     "UTF-8, images and archives are refused as lists; \"never\" "
                                     "reads all of them as they are"},
    {.heading = "Fields"},
    {.term = "-F, --field LIST", .text = "use these fields of each line as the key, like cut -f "
                                         "but in the order given: 2, or 1,3 joined by the "
                                         "separator, or 2-4, or 2- to the end of the line"},
    {.term = "-t, -d BYTE", .text = "the field separator, as sort -t and cut -d name it (default: "
                                    "tab); \\t is a tab, \\x7c a byte in hex"},
    {.term = "--csv", .text = "lines are CSV (RFC 4180): quoted fields may hold separators, quotes "
                              "and line ends; the separator is a comma, or -t"},
    {.term = "--jsonl LIST", .text = "lines are JSON objects, and these fields are the key: email, "
                                     "or user.id,time; a backslash before a dot or a comma makes "
                                     "it a part of the name"},
    {.term = "--whitespace", .text = "any number of blanks separates fields, as in awk"},
    {.term = "--header",
     .text = "the first line of each file is a header, not a key, and not printed; check, uniq "
             "and semijoin print it with --keep-header"},
    {.text = "Fields may also be named: --field email,city finds them in the first line of each "
             "file, in any order and in any case. Several fields of CSV, JSON or columns make the "
             "key that CSV would write for them: (a,b; c) is \"a,b\",c. With --values the value "
             "is removed first."},
    {.heading = "Lines that are not keys"},
    {.text = "A line that lacks a field, or cannot be brought to the form of keys, has no key. It "
             "is skipped, and standard error reports how many were, with the first of them; "
             "--strict makes it an error. If no line of a list is a key nothing is made; if no "
             "line of a query is one, that is reported even with --quiet."},
    {.heading = "Encodings"},
    {.text = "--keys ENCODING says what the text of a key stands for. It matters for filters that "
             "are shared with other systems, and for keys that are not text."},
    {.term = "utf8", .text = "text, checked to be valid UTF-8"},
    {.term = "bytes", .text = "the same, unchecked"},
    {.term = "utf16, utf16be", .text = "the same text, as Java and .NET store it"},
    {.term = "int32, int64, uint32, uint64", .text = "a whole number of 4 or 8 bytes, "
                                                     "little-endian, as in Guava, Parquet and "
                                                     "Spark; append be for the big-endian ones of "
                                                     "Cassandra and Java: int64be"},
    {.term = "float, double", .text = "a number with a fraction, of 4 or 8 bytes; also floatbe, "
                                      "doublebe"},
    {.term = "uuid", .text = "16 bytes"},
    {.term = "hex, base64", .text = "any bytes, written in hex digits or base64; --hex and "
                                    "--base64 are short forms"},
    {.heading = "One form of many spellings"},
    {.text = "--canon STEP,... brings each key to one form, by steps in the order given, before "
             "it is encoded or, with hex and base64, after it is decoded."},
    {.term = "lower, upper", .text = "ASCII letters in one case"},
    {.term = "trim", .text = "no blanks at both ends"},
    {.term = "domain", .text = "the host of a name, URL, email address or AdBlock rule in lower "
                               "case and, for other scripts, in its xn-- form; *.x is x"},
    {.term = "email", .text = "the part after the @ in the same way"},
    {.term = "url", .text = "scheme and host in lower case, no default port, no fragment"},
    {.term = "ip", .text = "IPv4 and IPv6 addresses in their shortest form"},
    {.term = "hash", .text = "hex digests in lower case, also from HASH:COUNT and from the output "
                             "of sha256sum"},
    {.term = "mac", .text = "hardware addresses as 00:1a:2b:3c:4d:5e"},
    {.term = "uuid", .text = "UUIDs with their four hyphens, in lower case"},
    {.text = "evil[.]com, hxxp://, quotes around a name, \"Bob <bob@evil.com>\" and ports after "
             "addresses are understood. Three steps answer "
             "questions by several keys:"},
    {.term = "domain,parents", .text = "www.evil.com is in the set if evil.com is"},
    {.term = "cidr", .text = "lists have addresses, blocks (10.0.0.0/8) and ranges "
                             "(10.0.0.5-10.0.0.77); an address or a block is in the set if "
                             "one of them covers it"},
    {.term = "url-prefix", .text = "lists have hosts with or without a path (evil.com/bad/); a URL "
                                   "is in the set if its host, or a parent, is listed with its "
                                   "path or a directory above it"},
    {.text = "The rate is that of a question: each key gets an eighth of it, and the summary of a "
             "build reports what comes out."},
    {.heading = "What an image remembers"},
    {.text = "An image remembers --keys and --canon, and what several fields are joined by: adds "
             "and queries use them without being told, and others are refused. How lines are cut "
             "(--field, --csv, -0, ...) may differ from file to file and is not remembered."},
    {0},
};

static const struct topic_line spec[] = {
    {.text = "A spec describes a filter in one line, here, in the library and in the server "
             "module: KIND:OPTION=VALUE,... Kind and options may be left out: the default is a "
             "blocked filter with a false-positive rate of 1 %, for as many keys as there are."},
    {.text = "Give two of capacity, fpr and size; the third follows. The single options "
             "--capacity, --fpr, --size, --hash and --seed say the same as a spec and cannot be "
             "combined with one."},
    {.heading = "Options of every kind"},
    {.term = "capacity", .text = "number of keys to plan for"},
    {.term = "fpr", .text = "false-positive rate at that capacity (default: 1%)"},
    {.term = "size, bits", .text = "size of the filter, in bytes or in bits"},
    {.term = "hash", .text = "hash function: xxh3 (default), xxh64, mix8, which is faster "
                             "for one integer at a time, or sip13, which is keyed against "
                             "attackers who choose keys"},
    {.term = "seed", .text = "another hash function of the same family (default: 0)"},
    {.term = "key", .text = "with sip13: inside (default) stores the secret in the image, outside "
                            "keeps it in --secret-file"},
    {.text = "\"tamis kinds\" lists the kinds, \"tamis kinds KIND\" the options of one, and "
             "\"tamis plan\" compares what they cost."},
    {0},
};

static const struct topic_line numbers[] = {
    {.term = "counts", .text = "1000000, 10M (k, M, G: powers of 1000), 64Ki (powers of 1024), "
                               "1e6, 2^20"},
    {.term = "sizes", .text = "4096, 64KiB, 2G (K, M, G: powers of 1024), 10MB (powers of 1000)"},
    {.term = "rates", .text = "1%, 0.01, 1e-6, 1/1000, 2^-16"},
    {.term = "durations", .text = "30s, 10min, 2h; --window also takes 500ms, 10m and 1d"},
    {.text = "In a count M is a million; in a duration m is minutes. Summaries print sizes in KiB, "
             "MiB and GiB, which are powers of 1024; JSON has plain bytes."},
    {0},
};

static const struct topic_line status[] = {
    {.text = "The exit statuses are those of grep, so that \"if tamis check ...\" reads well in "
             "scripts."},
    {.term = "0", .text = "success, or a match"},
    {.term = "1", .text = "no match: nothing was found, printed or changed"},
    {.term = "2", .text = "error: one line on standard error names the file and the cause; a file "
                          "that was to be written is as it was before"},
    {.term = "130, 141, 143", .text = "ended by Ctrl-C, by a closed pipe, by SIGTERM"},
    {.text = "The page of a command says what 0 and 1 mean for it. Warnings and summaries go to "
             "standard error and change nothing; -q silences them, never an error."},
    {0},
};

const struct topic topics[] = {
    {.name = "keys", .also = "fields encodings encoding canon forms form lines input",
     .summary = "how lines become keys: fields, encodings, spellings",
     .examples = EXAMPLES({"Use column 3 of a compressed table, host names in any spelling",
                           "tamis build hosts.tamis log.csv.gz -t, -F 3 --canon domain"},
                          {"Ask about keys written in hex",
                           "tamis check hashes.tamis --hex sha1.txt"}),
     .lines = keys},
    {.name = "spec", .also = "specs specification options",
     .summary = "how to describe a filter in one line",
     .examples = EXAMPLES({"Ten million keys, one false positive in a thousand",
                           "tamis create seen.tamis --spec 'blocked:capacity=10M,fpr=0.1%'"}),
     .lines = spec},
    {.name = "numbers", .also = "number sizes counts rates units durations",
     .summary = "how to write counts, sizes, rates and durations",
     .examples = EXAMPLES({"Half a million keys in 1 MiB",
                           "tamis plan --capacity 500k --size 1MiB"}),
     .lines = numbers},
    {.name = "exit", .also = "status code codes exits errors",
     .summary = "exit statuses for scripts",
     .examples = EXAMPLES({"Act on an answer",
                           "if tamis check -q seen.tamis url.txt; then echo seen; fi"}),
     .lines = status},
};

/* clang-format on */

const size_t number_of_topics = sizeof topics / sizeof topics[0];

const struct topic *topic_named(const char *name) {
    for (size_t i = 0; i < number_of_topics; i++)
        if (strcmp(topics[i].name, name) == 0) return &topics[i];
    return NULL;
}

const struct topic *verb_topic(const struct verb *verb, size_t i) {
    static const struct {
        enum option_id option;
        const char *topic;
    } about[] = {{OPT_FIELD, "keys"}, {OPT_SPEC, "spec"}};
    for (size_t j = 0; j < sizeof about / sizeof about[0]; j++)
        if (verb_has(verb, about[j].option) && i-- == 0) return topic_named(about[j].topic);
    return NULL;
}
