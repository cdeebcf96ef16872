/* SPDX-License-Identifier: MIT */
/* uniq.c: `tamis uniq`, the first occurrence of every line. */
#include "cli/verbs/uniq.h"

#include <inttypes.h>
#include <math.h>

/* ---- What is printed ---- */

void uniq_print(struct uniq *uniq, struct batch *batch, size_t i) {
    uniq->printed++;
    if (!given(uniq->args, OPT_TOTAL)) print_line(batch, i);
}

static int take_batch(void *with, struct batch *batch) {
    struct uniq *uniq = with;
    const bool wants_repeats = given(uniq->args, OPT_REPEATS);
    int code;
    if (uniq->sieve) {
        const struct tamis_key *last = &batch->line[batch->n - 1];
        const char *end = (const char *)last->bytes + last->len + 1;
        uniq->sieve->read_bytes += (uint64_t)(end - batch->start);
        code = sieve_take(uniq->sieve, batch->hash, batch->n, batch->hit);
    } else {
        code = window_take(uniq->window, batch);
    }
    uniq->has_failed = code != 0;
    if (code) return code;
    uniq->lines += batch->n;
    for (size_t i = 0; i < batch->n; i++)
        if (batch->hit[i] == wants_repeats) uniq_print(uniq, batch, i);
    return 0;
}

static void find_times(void *with, struct batch *batch) {
    const struct uniq *uniq = with;
    line_times_find(&uniq->window->times, batch);
}

/* ---- What is said ---- */

static void tell_lines(const struct uniq *uniq) {
    const bool is_one = uniq->printed == 1;
    fprintf(stderr, "%s, %s %s", human_number(uniq->lines, "line").text,
            human_count(uniq->printed).text,
            given(uniq->args, OPT_REPEATS) ? "repeats"
            : given(uniq->args, OPT_REPEATED)
                ? is_one ? "occurs more than once" : "occur more than once"
            : given(uniq->args, OPT_UNIQUE) ? is_one ? "occurs once" : "occur once"
            : given(uniq->args, OPT_WINDOW) ? "not in their window"
                                            : "distinct");
}

/* Where more new lines are lost than printed, what was printed says little about the rest. */
static bool is_hopeless(const struct loss *loss) {
    return loss->odds > 1;
}

/* "about 3 lines (at most 9 with 99.9 % confidence) may have been taken for repeats" */
static void tell_loss(const struct loss *loss, uint64_t repeats) {
    const uint64_t max = loss_at_most(loss, repeats);
    if (is_hopeless(loss))
        fprintf(stderr, "; up to %s may have been mistaken for repeats", human_count(max).text);
    else if (max == 0)
        fputs("; none was mistaken for a repeat, with 99.9 % confidence", stderr);
    else
        fprintf(stderr,
                "; about %s %s (at most %s with 99.9 %% confidence) may have been mistaken for "
                "repeats",
                human_expected(loss->about).text, loss->about == 1 ? "line" : "lines",
                human_count(max).text);
}

static void tell_exact(const struct uniq *uniq) {
    fprintf(stderr, "; exact, in %s", human_bytes(uniq->exact_bytes).text);
    if (uniq->rounds > 1)
        fprintf(stderr, " and %s rounds, %s on disk", human_count(uniq->rounds).text,
                human_bytes(uniq->spilled_bytes).text);
    putc('\n', stderr);
}

/* Filters that had to take more than they were planned for. */
static void warn_if_full(const struct uniq *uniq) {
    const struct sieve *sieve = uniq->sieve;
    const double rate = sieve ? sieve->rate : uniq->window->rate;
    if (rate <= 2 * rate_or(uniq->args, OPT_FPR, uniq_usual_fpr)) return;
    warn(uniq->args, NULL,
         "the filters are too full: the false-positive rate is now %s; use %s, or --exact",
         human_rate(rate).text, sieve ? "a larger --memory" : "a larger --capacity");
}

static uint64_t filter_bytes(const struct uniq *uniq) {
    if (uniq->sieve) return uniq->sieve->bytes;
    uint64_t bytes = 0;
    if (uniq->window) tamis_payload(uniq->window->filter, &bytes);
    return bytes;
}

static void write_json(const struct uniq *uniq, const struct loss *loss, uint64_t repeats) {
    struct json json = json_start(stderr);
    json_count(&json, "lines", uniq->lines);
    json_count(&json, "printed", uniq->printed);
    json_count(&json, "repeats", repeats);
    json_count(&json, "without_key", uniq->keyless);
    json_count(&json, "without_time", uniq->window ? uniq->window->times.untimed : 0);
    json_count(&json, "late", uniq->window ? uniq->window->late : 0);
    json_bool(&json, "is_exact", !loss);
    json_real(&json, "lost_expected", !loss ? 0 : is_hopeless(loss) ? NAN : loss->about);
    json_count(&json, "lost_at_most", loss ? loss_at_most(loss, repeats) : 0);
    json_real(&json, "confidence", loss ? 0.999 : 1);
    json_count(&json, "filter_bytes", loss ? filter_bytes(uniq) : uniq->exact_bytes);
    json_count(&json, "rounds", loss ? 1 : uniq->rounds);
    json_count(&json, "spilled_bytes", uniq->spilled_bytes);
    json_end(&json);
}

static void tell(struct uniq *uniq) {
    struct loss *loss = NULL;
    if (uniq->sieve) sieve_account(uniq->sieve), loss = &uniq->sieve->loss;
    if (uniq->window) window_account(uniq->window), loss = &uniq->window->loss;
    const uint64_t repeats = uniq_has_tally(uniq->args)       ? uniq->lines - uniq->distinct
                             : given(uniq->args, OPT_REPEATS) ? uniq->printed
                                                              : uniq->lines - uniq->printed;
    /* No more can be lost than was held back. */
    if (loss && loss->about > (double)repeats) loss->about = (double)repeats;
    if (given(uniq->args, OPT_QUIET)) return;
    if (given(uniq->args, OPT_JSON)) {
        write_json(uniq, loss, repeats);
        return;
    }
    fputs("tamis: uniq: ", stderr);
    tell_lines(uniq);
    if (!loss) {
        tell_exact(uniq);
        return;
    }
    tell_loss(loss, repeats);
    fprintf(stderr, "; filters take %s\n", human_bytes(filter_bytes(uniq)).text);
    warn_if_full(uniq);
    if (uniq->window) window_warn(uniq->window, repeats);
}

/* ---- The verb ---- */

static int check_options(const struct args *args) {
    static const enum option_id apart[][2] = {{OPT_EXACT, OPT_WINDOW},   {OPT_EXACT, OPT_FPR},
                                              {OPT_EXACT, OPT_REPEATS},  {OPT_REPEATED, OPT_UNIQUE},
                                              {OPT_EXACT, OPT_CAPACITY}, {OPT_WINDOW, OPT_HASH}};
    /* Counts are exact, and about the whole input. */
    const char *other = FIRST_GIVEN(args, OPT_WINDOW, OPT_FPR, OPT_CAPACITY, OPT_REPEATS);
    if (uniq_has_tally(args) && other)
        return fail(args, NULL,
                    "--%s and --%s cannot be combined: how often a line occurs is "
                    "counted exactly, over the whole input",
                    FIRST_GIVEN(args, OPT_COUNT, OPT_REPEATED, OPT_UNIQUE), other);
    enum { MIN_MEMORY = 64 * 1024 };
    if (options_apart(args, apart, sizeof apart / sizeof apart[0])) return EXIT_TROUBLE;
    if (given(args, OPT_TIME_FIELD) && !given(args, OPT_WINDOW))
        return fail(args, "--time-field", "needs --window (10m, 2h)");
    if (given(args, OPT_TIME_FORMAT) && !given(args, OPT_TIME_FIELD))
        return fail(args, "--time-format", "needs --time-field");
    if (given(args, OPT_MEMORY) && args->setting[OPT_MEMORY].number < MIN_MEMORY)
        return fail(args, "--memory", "%s is too small (minimum: %s)",
                    args->setting[OPT_MEMORY].text, human_bytes(MIN_MEMORY).text);
    return 0;
}

static int uniq_by_filter(struct uniq *uniq, const tamis *hasher) {
    const bool has_times = uniq->window && uniq->window->has_times;
    const struct handler handler = {
        .ask = has_times ? find_times : NULL, .take = take_batch, .goes_on = true, .with = uniq};
    keys_hash_by(uniq->keys, hasher);
    const int code = keys_run(uniq->keys, &handler);
    uniq->keyless = uniq->keys->keyless;
    return code;
}

static int run(const struct args *args) {
    struct keys keys;
    struct sieve sieve = {0};
    struct window window = {0};
    struct uniq uniq = {.args = args, .keys = &keys};
    uniq.memory = memory_wanted(args);
    int code = keys_open(&keys, args, 0);
    if (!code) code = keys_are_single(&keys);
    if (!code) code = check_options(args);
    if (code) goto done;

    if (uniq_has_tally(args)) {
        code = uniq_tally(&uniq);
    } else if (given(args, OPT_EXACT)) {
        code = uniq_exact(&uniq);
    } else if (given(args, OPT_WINDOW)) {
        uniq.window = &window;
        code = window_open(&window, &keys);
        if (code) goto done;
        code = uniq_by_filter(&uniq, window.filter);
    } else {
        uniq.sieve = &sieve;
        code = sieve_open(&sieve, args, uniq.memory, keys_bytes(&keys));
        if (code) goto done;
        code = uniq_by_filter(&uniq, sieve.stage[0]);
    }
    if (uniq.has_failed || ferror(stdout)) goto done;
    if (given(args, OPT_TOTAL)) printf("%" PRIu64 "\n", uniq.printed);
    tell(&uniq);
    if (!code) code = uniq.printed > 0 ? EXIT_FOUND : EXIT_NOTHING;

done:
    sieve_close(&sieve);
    window_close(&window);
    keys_close(&keys);
    return code;
}

/* clang-format off */

const struct verb verb_uniq = {
    .name = "uniq",
    .also = "unique distinct dedup deduplicate",
    .summary = "print the first occurrence of every line",
    .run = run,
    .operands = OPERANDS({"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_EXACT, .help = "lose no line: keep keys, on disk beyond --memory"},
        {.option = OPT_WINDOW,
         .help = "look back N lines, or a duration: 1M, 30s, 10m, 2h"},
        {.option = OPT_TIME_FIELD}, {.option = OPT_TIME_FORMAT},
        {.option = OPT_FPR,
         .help = "maximum rate at which new lines are mistaken for repeats (default: 1e-6)"},
        {.option = OPT_CAPACITY,
         .help = "number of distinct lines to plan for (default: filters grow as needed)"},
        {.option = OPT_MEMORY,
         .help = "memory for filters or keys (default: a quarter of RAM)"},
        {.option = OPT_COUNT,
         .help = "print how often each line occurs before it, at the end of input"},
        {.option = OPT_REPEATED}, {.option = OPT_UNIQUE}, {.option = OPT_REPEATS},
        {.option = OPT_TOTAL}, {.option = OPT_KEEP_HEADER},
        {.option = OPT_JSON, .help = "write the summary on standard error as JSON"},
        KEY_OPTIONS, {.option = OPT_HASH},
        THREADS_OPTION,
        {.option = OPT_TEMP_DIR,
         .help = "spill directory of --exact (default: $TMPDIR or /tmp)"}),
    .habits = (const struct habit[]){{'i', "--canon lower"}, {'D', "--repeats"},
                                     {'f', "--field 2-"}, {'s', "--field"}, {'w', "--field"}, {0}},
    .examples =
        EXAMPLES({"Print every line once, in input order", "tamis uniq names.txt"},
                 {"Read several files and a pipe", "zcat old.gz | tamis uniq - new.txt"},
                 {"Print exactly what awk '!seen[$0]++' does", "tamis uniq --exact names.txt"},
                 {"Count distinct lines", "tamis uniq -q --total names.txt"},
                 {"Print how often each line occurs, without sorting",
                  "tamis uniq -c names.txt"},
                 {"Repeat an alarm only after ten minutes of silence",
                  "tail -f alarms.log | tamis uniq --window 10m"},
                 {"The same for a log of last week, by the times in it",
                  "tamis uniq --window 10m --time-field 1 --field 2- alarms.log"},
                 {"Print the first request of each visit in a web server's log",
                  "tamis uniq --window 30m -d ' ' --time-field 4-5 --field 1 access.log"},
                 {"Print lines that are not among the last million",
                  "tamis uniq --window 1M events.txt"}),
    .about = "Prints each line at its first occurrence. The lines seen so far are kept in filters "
             "of some 40 bits per distinct line, which grow as they fill, up to --memory. So a "
             "new line may be mistaken for a repeat and not printed: at the rate --fpr at worst, "
             "usually far less. The summary on standard error always reports how many: the "
             "expected number, from the rate of the filters when each line was read, and an upper "
             "bound. When --memory is used up, the filters accept more than planned, and a "
             "warning says so. The result is the same with any number of threads.\n\n"
             "--exact prints what awk '!seen[$0]++' prints, byte for byte: keys are kept in "
             "memory and compared. While they fit in --memory, each line is printed at once. "
             "Beyond that, lines that may still be new go to an unnamed file in --temp-dir, and "
             "the next round over that file begins at the end of input; filters show which of "
             "them never occur again and need no memory. Any number of lines takes no more than "
             "--memory, or the longest line.\n\n"
             "-c, -d and -u are those of uniq(1), for lines in any order: they print how often "
             "each line occurs, the lines that occur more than once, or those that occur once, in "
             "the order of their first occurrence. That is known only at the end of input, so "
             "every distinct line is held in --memory until then; where that does not suffice, "
             "nothing is printed and the command fails. --repeats prints every occurrence after "
             "the first as it comes, and needs only filters.\n\n"
             "--window N prints a line unless it is among the N lines before it; --window TIME "
             "(30s, 10m, 2h, 1d, 500ms: m is minutes, M is a million) unless it was read within "
             "that time, by the clock. Repeats within the window are always found; a line from "
             "slightly before it (up to some 5 %, rarely up to half as much again) may still be "
             "taken for a repeat. A repeat makes a line recent again, so a line that keeps coming "
             "is printed once. With a time, --capacity is the maximum number of lines per window "
             "(default: what fits in 64 MiB, or --memory).\n\n"
             "With --time-field, the time comes from the line: the result is what the clock would "
             "have given when the log was written, and the same every time. --time-format auto "
             "takes a number below 10^11 as seconds since 1970, below 10^14 as milliseconds, below "
             "10^17 as microseconds, and beyond as nanoseconds; or ISO 8601 "
             "(2026-11-18T07:15:00.5+01:00, or with a space, without zone or time of day); or the "
             "log format of web servers (18/Nov/2026:07:15:00 +0000); brackets around it are "
             "skipped. Times without a zone are UTC. The times of syslog (Nov 18 07:15:00) have no "
             "year and are not understood. A line whose time cannot be read counts at the time of "
             "the line before; these are counted and reported, and --strict makes the first an "
             "error. Time only goes forward: a line that comes late counts at the newest time "
             "before it, and lines later than a whole window are reported.\n\n"
             "Keys chosen by an attacker could be made to collide with others: --hash sip13 "
             "hashes with a secret drawn for this run, and --exact compares bytes.\n\n"
             "--json writes one object to standard error: lines, printed, repeats, without_key, "
             "without_time, late, is_exact, lost_expected, lost_at_most, confidence, filter_bytes, "
             "rounds, spilled_bytes.",
    .exits = "0 a line was printed or counted, 1 none was, 2 error.",
};
