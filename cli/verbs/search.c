/* SPDX-License-Identifier: MIT */
/* search.c: `tamis search`, prints that are similar to others, or contain them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/images/foreign_files.h"
#include "tamis_special.h"

enum { USUAL_PERCENT = 70, QUERIES_EACH = 16 };

/* ---- What is asked ---- */

struct search {
    const struct args *args;
    const tamis *rows;    /* what is searched */
    const tamis *queries; /* of one file */
    size_t query_bytes;
    double min;
    size_t top; /* 0: all */
    struct json *json;
    uint64_t asked, found;
    struct tamis_search_stats total;
};

/* What one query found. */
struct answer {
    struct tamis_match *match;
    size_t n, room;
    struct tamis_search_stats searched;
    tamis_status status;
    char why[256]; /* of a status that another thread met */
};

/* Of --min-similarity: a rate, or one of both ends, which are no rates. */
static int read_least(const struct args *args, double *min) {
    const char *text = args->setting[OPT_MIN_SIMILARITY].text;
    *min = given(args, OPT_TOP) || given(args, OPT_SCREEN) ? 0 : USUAL_PERCENT / 100.0;
    if (!text) return 0;
    const bool is_one = strcmp(text, "100%") == 0 || strcmp(text, "1") == 0 ||
                        (strncmp(text, "1.", 2) == 0 && strspn(text + 2, "0") == strlen(text + 2));
    const bool is_zero = *text && strspn(text, "0.%") == strlen(text);
    if (is_one || is_zero)
        *min = is_one ? 1 : 0;
    else if (!tamis_parse_rate(text, min))
        return fail(args, NULL,
                    "--min-similarity: \"%s\" is not a similarity (allowed: 0 to 1, such as 0.7 "
                    "or 70%%)",
                    text);
    return 0;
}

static int read_params(struct search *search) {
    const struct args *args = search->args;
    const uint64_t top = args->setting[OPT_TOP].number;
    const char *apart = FIRST_GIVEN(args, OPT_TOP, OPT_MIN_SIMILARITY);
    if (given(args, OPT_SCREEN) && apart)
        return fail(args, NULL, "--screen cannot be combined with --%s", apart);
    if (given(args, OPT_TOP) && top == 0) return fail(args, NULL, "--top must be at least 1");
    const uint64_t rows = tamis_fingerprint_count(search->rows);
    search->top = (size_t)(top < rows ? top : rows);
    return read_least(args, &search->min);
}

/* ---- One query ---- */

static bool keep(void *with, const struct tamis_match *match) {
    struct answer *answer = with;
    if (!list_grow(&answer->match, &answer->room, answer->n + 1, sizeof *match)) return false;
    answer->match[answer->n++] = *match;
    return true;
}

static int by_row(const void *a, const void *b) {
    const struct tamis_match *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* By similarity, the same way as the library does it: the first added of equals first. */
static int by_similarity(const void *a, const void *b) {
    const struct tamis_match *x = a, *y = b;
    if (x->similarity != y->similarity) return x->similarity < y->similarity ? 1 : -1;
    return by_row(a, b);
}

static tamis_status find_nearest(const struct search *search, const void *print,
                                 struct answer *answer) {
    answer->match = malloc((search->top ? search->top : 1) * sizeof *answer->match);
    if (!answer->match) return TAMIS_CANCELLED;
    return tamis_fingerprints_nearest(search->rows, print, search->query_bytes, search->min,
                                      answer->match, search->top, &answer->n, &answer->searched);
}

static void find(const struct search *search, uint64_t row, struct answer *answer) {
    const size_t bytes = search->query_bytes;
    const void *print;
    *answer = (struct answer){0};
    tamis_fingerprint_at(search->queries, row, &print);
    if (given(search->args, OPT_SCREEN))
        answer->status =
            tamis_fingerprints_screen(search->rows, print, bytes, keep, answer, &answer->searched);
    else if (given(search->args, OPT_TOP))
        answer->status = find_nearest(search, print, answer);
    else
        answer->status = tamis_fingerprints_similar(search->rows, print, bytes, search->min, keep,
                                                    answer, &answer->searched);
    if (answer->status) snprintf(answer->why, sizeof answer->why, "%s", tamis_why());
    if (answer->n && !given(search->args, OPT_TOP))
        qsort(answer->match, answer->n, sizeof *answer->match,
              given(search->args, OPT_SCREEN) ? by_row : by_similarity);
}

/* ---- What is said ---- */

static void print_lines(const struct search *search, const char *query,
                        const struct answer *answer) {
    for (size_t i = 0; i < answer->n; i++)
        printf("%s\t%s\t%.6g\n", query,
               tamis_fingerprint_at(search->rows, answer->match[i].row, NULL),
               answer->match[i].similarity);
}

static void write_answer(struct json *json, const struct search *search, const char *query,
                         const struct answer *answer) {
    json_open(json, NULL, '{');
    json_text(json, "id", query);
    json_open(json, "matches", '[');
    for (size_t i = 0; i < answer->n; i++) {
        const struct tamis_match *match = &answer->match[i];
        json_open(json, NULL, '{');
        json_text(json, "id", tamis_fingerprint_at(search->rows, match->row, NULL));
        json_count(json, "row", match->row);
        json_count(json, "common", match->common);
        json_count(json, "either", match->either);
        json_real(json, "similarity", match->similarity);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_count(json, "rows_compared", answer->searched.rows_compared);
    json_count(json, "rows_skipped", answer->searched.rows_skipped);
    json_count(json, "rows_folded", answer->searched.rows_folded);
    json_close(json, '}');
}

static int tell_answer(struct search *search, uint64_t row, const struct answer *answer) {
    char number[32];
    const char *query = tamis_fingerprint_at(search->queries, row, NULL);
    if (!*query) { /* It gets a number, as Open Babel does it. */
        snprintf(number, sizeof number, "#%llu", (unsigned long long)search->asked + 1);
        query = number;
    }
    if (answer->status == TAMIS_CANCELLED) return fail_memory(search->args);
    if (answer->status)
        return fail(search->args, NULL, "fingerprint \"%s\": %s", query, answer->why);
    if (search->json)
        write_answer(search->json, search, query, answer);
    else
        print_lines(search, query, answer);
    search->asked++;
    search->found += answer->n;
    search->total.rows_compared += answer->searched.rows_compared;
    search->total.rows_skipped += answer->searched.rows_skipped;
    search->total.rows_folded += answer->searched.rows_folded;
    return 0;
}

static double share_skipped(const struct search *search) {
    const double all = (double)search->total.rows_compared + (double)search->total.rows_skipped +
                       (double)search->total.rows_folded;
    return all > 0 ? (double)search->total.rows_skipped / all : 0;
}

static void tell_summary(const struct search *search) {
    const struct args *args = search->args;
    if (given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: %s %s, %s found; rows skipped %s (%s), folded %s, compared %s\n",
            input_name(args->operand[0]), human_count(search->asked).text,
            search->asked == 1 ? "query" : "queries", human_count(search->found).text,
            human_count(search->total.rows_skipped).text, human_share(share_skipped(search)).text,
            human_count(search->total.rows_folded).text,
            human_count(search->total.rows_compared).text);
}

/* ---- Many queries, on several threads ---- */

struct round {
    const struct search *search;
    uint64_t from, n;
    struct answer *answer;
    _Atomic uint64_t next;
};

static void *work(void *with) {
    struct round *round = with;
    for (uint64_t i; (i = atomic_fetch_add(&round->next, 1)) < round->n;)
        find(round->search, round->from + i, &round->answer[i]);
    return NULL;
}

/* Where the system has no thread to give, the others do its work. */
static void run_round(struct round *round, unsigned threads, pthread_t *helper) {
    unsigned started = 0;
    atomic_init(&round->next, 0);
    while (started + 1 < threads && started + 1 < round->n &&
           pthread_create(&helper[started], NULL, work, round) == 0)
        started++;
    work(round);
    while (started > 0) pthread_join(helper[--started], NULL);
}

static int answer_all(struct search *search) {
    enum { MAX_THREADS = 1024 };
    const unsigned wanted = given(search->args, OPT_THREADS) ? threads_wanted(search->args) : 1;
    const unsigned threads = wanted < MAX_THREADS ? wanted : MAX_THREADS;
    const uint64_t all = tamis_fingerprint_count(search->queries);
    const uint64_t each = threads > 1 ? threads * (uint64_t)QUERIES_EACH : 1;
    struct answer *answer = calloc((size_t)each, sizeof *answer);
    pthread_t *helper = calloc(threads, sizeof *helper);
    int code = answer && helper ? 0 : fail_memory(search->args);
    for (uint64_t from = 0; !code && from < all; from += each) {
        struct round round = {search, from, all - from < each ? all - from : each, answer, 0};
        run_round(&round, threads, helper);
        for (uint64_t i = 0; i < round.n; i++) {
            if (!code) code = tell_answer(search, from + i, &answer[i]);
            free(answer[i].match);
        }
        progress_show("searching", from + round.n, all);
    }
    free(answer);
    free(helper);
    return code;
}

/* ---- The verb ---- */

/* What the head of an FPS file says the prints are; its length, 0 when it says nothing. */
static const char *type_of(const tamis *filter, size_t *len) {
    const char *head = tamis_note(filter, "head");
    const char *type = head ? strstr(head, "#type=") : NULL;
    *len = type ? strcspn(type, "\r\n") : 0;
    return type;
}

/* Prints of two types have bits that mean different things. */
static void warn_of_types(const struct search *search, const char *path) {
    size_t own_len, len;
    const char *own = type_of(search->rows, &own_len), *type = type_of(search->queries, &len);
    if (!len || !own_len || (len == own_len && memcmp(own, type, len) == 0)) return;
    warn(search->args, path, "its fingerprints are %.*s, those of %s %.*s", (int)(len - 6),
         type + 6, input_name(search->args->operand[0]), (int)(own_len - 6), own + 6);
}

static int search_for(struct search *search, const char *path) {
    const struct args *args = search->args;
    struct bytes bytes = {0};
    tamis *queries = NULL;
    int code = foreign_open(&bytes, args, path);
    if (!code)
        code = check_status(args, bytes.path, tamis_import(&queries, "fps", bytes.at, bytes.size));
    bytes_close(&bytes);
    if (code) return code;
    search->queries = queries;
    search->query_bytes = (size_t)((tamis_fingerprint_bits(queries) + 7) / 8);
    if (search->query_bytes != (tamis_fingerprint_bits(search->rows) + 7) / 8)
        code = fail(args, input_name(path), "its fingerprints have %s bits, those of %s %s",
                    human_count(tamis_fingerprint_bits(queries)).text, input_name(args->operand[0]),
                    human_count(tamis_fingerprint_bits(search->rows)).text);
    if (!code) warn_of_types(search, input_name(path));
    if (!code) code = answer_all(search);
    tamis_free(queries);
    return code;
}

static int search_all(struct search *search) {
    const struct args *args = search->args;
    struct json json;
    int code = 0;
    if (given(args, OPT_JSON)) {
        json = json_start(stdout);
        search->json = &json;
        json_text(&json, "file", args->operand[0]);
        json_count(&json, "rows", tamis_fingerprint_count(search->rows));
        json_count(&json, "bits", tamis_fingerprint_bits(search->rows));
        json_open(&json, "queries", '[');
    }
    if (args->operand_count == 1) code = search_for(search, "-");
    for (size_t i = 1; !code && i < args->operand_count; i++)
        code = search_for(search, args->operand[i]);
    if (given(args, OPT_JSON)) {
        json_close(&json, ']');
        json_count(&json, "found", search->found);
        json_real(&json, "skipped", share_skipped(search));
        json_end(&json);
    }
    return code;
}

static int run(const struct args *args) {
    struct search search = {.args = args};
    struct image image = {0};
    int code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code) code = image_needs(args, &image, TAMIS_CAN_SEARCH, "be searched");
    search.rows = image.filter;
    if (!code) code = read_params(&search);
    if (!code) code = search_all(&search);
    if (!code) tell_summary(&search);
    image_close(&image);
    return code ? code : search.found ? EXIT_FOUND : EXIT_NOTHING;
}

/* clang-format off */

const struct verb verb_search = {
    .name = "search",
    .also = "similar-prints tanimoto nearest neighbours screen substructure simsearch",
    .summary = "find fingerprints that are similar to others, or contain them",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                         {"QUERIES", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses =
        USES({.option = OPT_MIN_SIMILARITY,
              .help = "minimum similarity, 0 to 1: 0.7, 85% (default: 0.7)"},
              {.option = OPT_TOP,
               .help = "find only the K most similar, whatever their similarity unless "
                       "--min-similarity is given"},
             {.option = OPT_SCREEN},
             {.option = OPT_JSON, .help = "print one JSON object"},
             {.option = OPT_QUIET, .help = "no summary and no warnings"},
             {.option = OPT_THREADS,
              .help = "search threads, 0: one per CPU (default: 1)"},
             {.option = OPT_DECOMPRESS}, FROM_OPTION, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES(
        {"Find what is at least 80 % similar to these",
         "tamis search all.tamis new.fps --min-similarity 0.8"},
        {"Make an image of molecules, with fingerprints by Open Babel",
         "obabel all.smi -ofps -xfFP2 | tamis convert - all.tamis --from fps"},
        {"Find the ten nearest of each, on all CPUs",
         "tamis search all.tamis new.fps --top 10 -T 0"},
        {"Find what may contain a substructure",
         "obabel -:c1ccncc1 -ofps -xfFP2 | tamis search all.tamis --screen"}),
    .about = "QUERIES are FPS files, or lines of hex digits, optionally followed by a tab and an "
             "id. Each is compared with the fingerprints in IMAGE. Each match is a line: the id "
             "of the query, the id of the match, and their similarity (Tanimoto's coefficient: "
             "bits set in both, divided by bits set in either), most similar first. The default "
             "is all matches of at least 0.7. --screen finds the fingerprints that have all bits "
             "of the query, in file order: with fingerprints of substructures, all that contain "
             "it, and some that do not.\n\n"
             "The answer is exact. Rows whose number of bits rules them out are skipped unread; "
             "most others are ruled out by a fold of their bits, at most an eighth as long, and "
             "the rest are compared. Standard error reports how many. With --from fps, an FPS "
             "file is searched directly; the image that \"tamis convert\" makes of it is mapped, "
             "not read. A warning appears if the headers of two files name different types of "
             "fingerprints.\n\n"
             "The names in the JSON do not change: file, rows, bits, queries (each with id, "
             "matches, rows_compared, rows_skipped, rows_folded; each match with id, row, common, "
             "either, similarity), found, skipped (a share).",
    .exits = "0 something was found, 1 nothing was, 2 error.",
};
