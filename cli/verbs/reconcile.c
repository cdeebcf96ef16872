/* SPDX-License-Identifier: MIT */
/* reconcile.c: `tamis reconcile`, what differs between two sets, here or on two hosts. */
#include "cli/net/reconcile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- The list ---- */

int list_begin(struct list *list, const struct args *args) {
    *list = (struct list){.args = args, .line_end = given(args, OPT_NULL) ? '\0' : '\n'};
    const char *path = text_or(args, OPT_OUTPUT, "-");
    const int code = file_begin(&list->file, args, path, TAMIS_READERS_USUAL);
    list->is_begun = !code;
    return code;
}

static bool list_flush(struct list *list) {
    if (list->text.len == 0) return !list->text.is_short_of_memory;
    const bool is_good =
        !list->text.is_short_of_memory && file_put(&list->file, list->text.bytes, list->text.len);
    list->text.len = 0;
    return is_good;
}

int list_end(struct list *list, int code) {
    if (!list->is_begun) return code;
    const bool is_short = list->text.is_short_of_memory;
    const bool is_good = !code && list_flush(list);
    const int end = file_end(&list->file, is_good);
    text_free(&list->text);
    list->is_begun = false;
    if (!code && is_short) return fail_memory(list->args);
    return code ? code : end;
}

bool list_wants(const struct list *list, enum side side) {
    const struct args *args = list->args;
    return list->is_bare || !given(args, OPT_ONLY) ||
           (args->setting[OPT_ONLY].text[0] == '1') == (side == FIRST);
}

static bool is_marked(const struct list *list) {
    return !list->is_bare && !given(list->args, OPT_ONLY);
}

static int list_rest(struct list *list) {
    enum { ENOUGH = 64 * 1024 };
    text_byte(&list->text, list->line_end);
    if (list->text.len < ENOUGH || list_flush(list)) return 0;
    return EXIT_TROUBLE;
}

int list_line(struct list *list, enum side side, const struct tamis_key *line) {
    enum { LONG_LINE = 64 * 1024 };
    if (is_marked(list)) text_words(&list->text, side == FIRST ? "< " : "> ");
    if (line->len < LONG_LINE)
        text_add(&list->text, line->bytes, line->len);
    else if (!list_flush(list) || !file_put(&list->file, line->bytes, line->len))
        return EXIT_TROUBLE;
    return list_rest(list);
}

int list_hash(struct list *list, enum side side, uint64_t hash) {
    if (!list_wants(list, side)) return 0;
    if (is_marked(list)) text_words(&list->text, side == FIRST ? "<#" : ">#");
    text_words(&list->text, human_words("%016" PRIx64, hash).text);
    return list_rest(list);
}

int list_hashes(struct list *list, enum side side, const struct hashes *wanted) {
    int code = 0;
    for (size_t i = 0; i < wanted->n && !code; i++) code = list_hash(list, side, wanted->at[i]);
    return code;
}

struct side_of_list {
    struct list *list;
    enum side side;
};

static int take_line(void *with, uint64_t hash, const struct tamis_key *line,
                     const struct tamis_key *key) {
    const struct side_of_list *to = with;
    (void)hash, (void)key;
    return list_line(to->list, to->side, line);
}

int list_set(struct list *list, enum side side, struct set *set, const struct hashes *wanted) {
    struct side_of_list to = {.list = list, .side = side};
    struct line_taker taker = {.take = take_line, .with = &to};
    return list_wants(list, side) ? set_lines(set, wanted, &taker) : 0;
}

/* ---- What is said ---- */

void outcome_free(struct outcome *outcome) {
    hashes_free(&outcome->only[FIRST]);
    hashes_free(&outcome->only[SECOND]);
}

int refuse_partial(const struct args *args, const struct outcome *outcome, const char *advice) {
    if (!outcome->is_partial) return 0;
    const uint64_t known = outcome->only[FIRST].n + outcome->only[SECOND].n;
    const char *way = outcome->has_session ? "symbols" : "cells";
    if (!given(args, OPT_PARTIAL))
        return fail(args, NULL, "more differences than these %s can list: %s", way, advice);
    warn(args, NULL, "the list is partial (%s of the differences); these %s cannot list more: %s",
         human_count(known).text, way, advice);
    return 0;
}

/* Keys of different sides that share a hash hide each other; the expected number of pairs. */
static double hidden_expected(const struct outcome *outcome) {
    return ldexp((double)outcome->keys[FIRST] * (double)outcome->keys[SECOND], -64);
}

static double bound_bytes(const struct outcome *outcome) {
    return outcome->session.bound_bits > 0 ? ceil(outcome->session.bound_bits / 8) : 0;
}

static void write_json(const struct outcome *outcome) {
    struct json json = json_start(stderr);
    const double bound = outcome->has_session ? bound_bytes(outcome) : 0;
    const bool has_size = outcome->size.value > 0;
    json_text(&json, "first", outcome->name[FIRST]);
    json_text(&json, "second", outcome->name[SECOND]);
    json_count(&json, "first_keys", outcome->keys[FIRST]);
    json_count(&json, "second_keys", outcome->keys[SECOND]);
    json_count(&json, "first_only", outcome->only[FIRST].n);
    json_count(&json, "second_only", outcome->only[SECOND].n);
    json_bool(&json, "is_whole", !outcome->is_partial);
    json_real(&json, "hidden_expected", hidden_expected(outcome));
    json_count_if(&json, "symbols", outcome->has_session, outcome->session.symbols);
    json_count_if(&json, "symbols_needed", outcome->has_session, outcome->session.symbols_needed);
    json_count_if(&json, "session_bytes", outcome->has_session, outcome->session_bytes);
    json_real(&json, "bound_bytes", outcome->has_session ? bound : NAN);
    json_real(&json, "ratio", bound > 0 ? (double)outcome->session_bytes / bound : NAN);
    json_count_if(&json, "bytes_sent", outcome->has_wire, outcome->sent);
    json_count_if(&json, "bytes_received", outcome->has_wire, outcome->received);
    json_real(&json, "differences_estimated", has_size ? outcome->size.value : NAN);
    json_real(&json, "differences_error", has_size ? outcome->size.error : NAN);
    json_end(&json);
}

static void tell_side(const struct outcome *outcome, enum side side) {
    const char *name = outcome->has_wire ? outcome->name[side] : input_name(outcome->name[side]);
    fprintf(stderr, "%s of %s only %s%s", human_count(outcome->only[side].n).text,
            human_number(outcome->keys[side], "key").text, outcome->has_wire ? "" : "in ", name);
}

static void tell_cost(const struct outcome *outcome) {
    const double bound = bound_bytes(outcome);
    if (!outcome->has_session) return;
    fprintf(stderr, "; %s", human_number(outcome->session.symbols, "symbol").text);
    if (outcome->has_wire)
        fprintf(stderr, "; sent %s, received %s, of which the session",
                human_bytes(outcome->sent).text, human_bytes(outcome->received).text);
    else
        fputs(",", stderr);
    fprintf(stderr, " %s", human_bytes(outcome->session_bytes).text);
    if (bound > 0)
        fprintf(stderr, ", %s times the lower bound of %s",
                human_decimal((double)outcome->session_bytes / bound).text,
                human_bytes((uint64_t)bound).text);
}

static void tell(const struct args *args, const struct outcome *outcome) {
    const double hidden = hidden_expected(outcome), worth_telling = 1e-6;
    if (given(args, OPT_JSON)) {
        write_json(outcome);
        return;
    }
    /* Whoever asked through --over has the same to say. */
    if (given(args, OPT_QUIET) || (given(args, OPT_STDIO) && !given(args, OPT_OUTPUT))) return;
    fputs("tamis: reconcile: ", stderr);
    if (outcome->only[FIRST].n + outcome->only[SECOND].n == 0 && !outcome->is_partial) {
        fprintf(stderr, "the same %s", human_number(outcome->keys[FIRST], "key").text);
    } else {
        tell_side(outcome, FIRST);
        fputs(", ", stderr);
        tell_side(outcome, SECOND);
    }
    tell_cost(outcome);
    if (hidden > worth_telling)
        fprintf(stderr, "; probability %s that a hash hides a key", human_rate(hidden).text);
    putc('\n', stderr);
}

/* ---- The verb ---- */

/* The ways exclude each other; each needs this number of operands. */
static const struct way {
    enum option_id option;
    size_t operands;
} ways[] = {{OPT_WRITE_STREAM, 1}, {OPT_READ_STREAM, 1}, {OPT_HASHES, 2}, {OPT_LISTEN, 1},
            {OPT_CONNECT, 1},      {OPT_OVER, 1},        {OPT_STDIO, 1}};

static int find_way(const struct args *args, const struct way **found) {
    *found = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (!given(args, ways[i].option)) continue;
        if (*found)
            return fail(args, NULL, "--%s and --%s cannot be combined",
                        option_named((*found)->option)->name, option_named(ways[i].option)->name);
        *found = &ways[i];
    }
    return 0;
}

static int check_ways(const struct args *args, const struct way *way) {
    const char *wire_only = FIRST_GIVEN(args, OPT_KEY, OPT_TIMEOUT);
    const size_t operands = way ? way->operands : 2;
    if (args->operand_count < operands)
        return fail(args, NULL, operands == 2 ? "needs two sets" : "needs a file");
    if (args->operand_count > operands)
        return fail(args, NULL, "%s: unexpected argument; --%s takes one file",
                    args->operand[operands], option_named(way->option)->name);
    if (wire_only && !wire_is_wanted(args))
        return fail(args, NULL, "--%s needs --listen, --connect, --over or --stdio", wire_only);
    if (wire_is_wanted(args) && given(args, OPT_SEED))
        return fail(args, NULL, "--seed is only for local sets; two hosts draw a secret");
    return 0;
}

/* Standard input can be read once; with --stdio it is the other side. */
static int check_inputs(const struct args *args) {
    size_t uses = given(args, OPT_STDIO);
    for (size_t i = 0; i < args->operand_count; i++) uses += is_dash(args->operand[i]);
    if (given(args, OPT_READ_STREAM)) uses += is_dash(args->setting[OPT_READ_STREAM].text);
    if (given(args, OPT_HASHES)) uses += is_dash(args->setting[OPT_HASHES].text);
    return uses > 1 ? fail(args, NULL, "standard input can be read only once") : 0;
}

static int check(const struct args *args, const struct way *way) {
    int code = check_ways(args, way);
    if (!code) code = check_inputs(args);
    if (!code && given(args, OPT_OUTPUT) && !given(args, OPT_WRITE_STREAM))
        code = file_may_write(args, args->setting[OPT_OUTPUT].text, NULL);
    if (!code && given(args, OPT_STDIO) && given(args, OPT_OUTPUT) &&
        is_dash(args->setting[OPT_OUTPUT].text))
        code = fail(args, NULL, "--output: standard output is in use by --stdio");
    return code;
}

static int compare(const struct args *args, struct outcome *outcome) {
    if (wire_is_wanted(args)) return reconcile_there(args, outcome);
    if (given(args, OPT_READ_STREAM) || is_stream_file(args->operand[0]))
        return reconcile_stream(args, outcome);
    if (has_image_operand(args)) return reconcile_images(args, outcome);
    return reconcile_here(args, outcome);
}

static int run(const struct args *args) {
    struct outcome outcome = {0};
    const struct way *way;
    int code = find_way(args, &way);
    if (!code) code = check(args, way);
    if (code) return code;
    if (given(args, OPT_WRITE_STREAM)) return reconcile_tell(args);
    if (given(args, OPT_HASHES)) return reconcile_hashes(args);
    code = compare(args, &outcome);
    if (!code) {
        tell(args, &outcome);
        const bool is_same = outcome.only[FIRST].n + outcome.only[SECOND].n == 0;
        code = outcome.is_partial ? EXIT_TROUBLE : is_same ? EXIT_FOUND : EXIT_NOTHING;
    }
    outcome_free(&outcome);
    return code;
}

/* clang-format off */

const struct verb verb_reconcile = {
    .name = "reconcile",
    .also = "sync difference compare synchronize rsync comm",
    .summary = "list the differences of two sets, here or on two hosts",
    .run = run,
    .operands = OPERANDS({"A", EXACTLY_ONE, READS_STDIN}, {"B", AT_MOST_ONE, READS_STDIN}),
    .uses = USES(
        {.option = OPT_CONNECT}, {.option = OPT_LISTEN}, {.option = OPT_OVER},
        {.option = OPT_STDIO},
        {.option = OPT_KEY}, {.option = OPT_TIMEOUT}, {.option = OPT_LIMIT},
        {.option = OPT_WRITE_STREAM}, {.option = OPT_READ_STREAM}, {.option = OPT_HASHES},
        {.option = OPT_SYMBOLS}, {.option = OPT_PARTIAL}, {.option = OPT_ONLY},
        {.option = OPT_OUTPUT, .help = "where to write the list, or the stream of --write-stream"},
        {.option = OPT_FORCE}, {.option = OPT_WAIT},
        {.option = OPT_JSON, .help = "write the summary on standard error as JSON"},
        {.option = OPT_SEED,
         .help = "hash seed instead of a random one: gives the same symbols each time"},
        KEY_OPTIONS, {.option = OPT_SECRET_FILE}, THREADS_OPTION,
        {.option = OPT_TEMP_DIR,
         .help = "where to copy standard input (default: $TMPDIR or /tmp)"}),
    .examples = EXAMPLES(
        {"Print what only one of two files has, marked like diff",
         "tamis reconcile old.txt new.txt"},
        {"Print only what the second has", "tamis reconcile --only 2 old.txt new.txt"},
        {"Compare with a file on another host",
         "tamis reconcile names.txt --over 'ssh host tamis reconcile --stdio names.txt'"},
        {"Listen on a port, with a shared secret",
         "tamis reconcile names.txt --listen 10.0.0.1:7000 --key shared.key"},
        {"Connect from the other host",
         "tamis reconcile names.txt --connect 10.0.0.1:7000 --key shared.key"},
        {"Write a stream for hosts that cannot be reached",
         "tamis reconcile --write-stream names.txt --symbols 2000 -o names.tell"},
        {"Print the differences there", "tamis reconcile names.tell names.txt"}),
    .about = "A set is the distinct keys of a file; order and repetition do not matter. What only "
             "A has is printed after \"< \", what only B has after \"> \": the first line of each "
             "key, in file order. --only 1 or 2 prints one side without marks. If lines are not "
             "available, their hash is printed, after \"<#\" or \">#\".\n\n"
             "Traffic depends only on the difference, not on the sets: about 1.4 coded symbols of "
             "20 bytes for each differing key, and then the lines that the other side lacks. "
             "Neither side needs to know the number of differences beforehand. The summary "
             "compares the bytes with the lower bound for any method.\n\n"
             "With another host, A is the local file. --over runs a command and uses it as the "
             "peer; its other end is --stdio. --listen accepts one peer, prints the port on "
             "standard error and ends after the session; --connect connects to it. Both ends "
             "print the differences. Without --key, anyone who reaches the port learns what "
             "differs, and anyone on the path can read it: use ssh, one machine, or --key. The "
             "key is a file of 32 random bytes (head -c 32 /dev/urandom >shared.key) that both "
             "ends have; frames are then encrypted and authenticated by libsodium, and a peer "
             "without the key is refused before it learns anything about the set. A session in "
             "which nothing is received for --timeout seconds, or more than --limit bytes are, "
             "ends with an error, and nothing is printed.\n\n"
             "Without a connection, use files. \"tamis sketch\" makes an image of kind iblt, "
             "--write-stream a stream of --symbols symbols; either may be A. It then prints the "
             "lines of B that the other side lacks, and hashes of those that B lacks. Back on the "
             "other host, --hashes LIST A FILE prints the lines of FILE whose hashes are in that "
             "list. Two images of the same shape are compared without any file. If a sketch or "
             "stream is too small, the error says how large it should be; --partial prints what "
             "is known.\n\n"
             "Keys are compared by 64-bit hashes under a random secret: 10^6 keys on each side "
             "hide a difference with a probability of 1 in 18 million. Memory is 8 bytes per key, "
             "and some 60 more while the sets are compared; files are read twice, and standard "
             "input is copied to an unnamed file.\n\n"
             "--json writes one object to standard error: first, second, first_keys, second_keys, "
             "first_only, second_only, is_whole, hidden_expected; for a session symbols, "
             "symbols_needed, session_bytes, bound_bytes, ratio; for two hosts bytes_sent, "
             "bytes_received; for sketches that are too small differences_estimated, "
             "differences_error.",
    .exits = "0 the sets are equal, 1 they differ (like diff), 2 error or incomplete list. With "
             "--hashes, 0 if every hash has its line, otherwise 1; with --write-stream, 0.",
};
