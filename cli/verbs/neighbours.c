/* SPDX-License-Identifier: MIT */
/* neighbours.c: `tamis neighbours`, who of them may have it?
 *
 * The table is a directory with an image for each neighbour, NAME.tamis, which is a filter like any
 * other.
 */
#include "cli/cli.h"
#include "cli/files/files.h"
#include "tamis_jobs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ending[] = ".tamis";
enum { ENDING = sizeof ending - 1 };

/* "DIR/NAME.tamis" */
static int path_of(const struct args *args, const char *name, char path[PATH_MAX]) {
    const int len = snprintf(path, PATH_MAX, "%s/%s%s", args->operand[0], name, ending);
    const bool fits = len > 0 && len < PATH_MAX;
    return fits ? 0 : fail(args, args->operand[0], "the name is too long");
}

/* ---- Hearing ---- */

static int check_name(const struct args *args, const char *name) {
    if (*name && *name != '.' && !strchr(name, '/') && strlen(name) <= TAMIS_MAX_NEIGHBOUR_NAME)
        return 0;
    return fail(args, NULL,
                "'%s' is not a neighbour's name (allowed: 1 to %d characters without /, the first "
                "not a dot)",
                name, TAMIS_MAX_NEIGHBOUR_NAME);
}

/* A copy on its way to be newer. */
struct receiving {
    struct image copy;
    struct tamis_receive_info last;
    uint64_t taken, late;
};

static void tell_received(const struct args *args, const char *peer,
                          const struct receiving *receiving) {
    const struct tamis_receive_info *h = &receiving->last;
    if (given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: %s up to number %lu", peer, human_number(receiving->taken, "message").text,
            (unsigned long)h->sequence);
    if (receiving->late)
        fprintf(stderr, ", %s arrived too late", human_count(receiving->late).text);
    if (h->missing)
        fprintf(stderr, "; %s %s: ask for a full announcement", human_count(h->missing).text,
                h->missing == 1 ? "is missing" : "are missing");
    fputc('\n', stderr);
}

/* All messages of a file go into the copy in memory; it is written when all were good. */
static int take_messages(const struct args *args, const struct bytes *from,
                         struct receiving *receiving) {
    const struct tamis_options options = image_options(args);
    for (size_t at = 0; at < from->size;) {
        const size_t size = tamis_message_size(from->at + at, from->size - at);
        tamis_status status = TAMIS_CORRUPT;
        struct tamis_receive_info *last = &receiving->last;
        *last = (struct tamis_receive_info)TAMIS_RECEIVE_INFO_INIT;
        if (size)
            status = tamis_receive(&receiving->copy.filter, from->at + at, size, &options, last);
        if (status) return fail_why(args, input_name(from->path), status);
        receiving->late += last->is_late;
        receiving->taken += !last->is_late;
        at += size;
    }
    if (from->size == 0) return fail(args, input_name(from->path), "contains no message");
    return 0;
}

/* What is there already, unless it is something else. */
static int open_copy(const struct args *args, const char *path, struct image *copy) {
    struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
    const int code = image_open_held(copy, args, path, HOLD_TO_CHANGE_OR_MAKE);
    if (!code && copy->filter && !tamis_was_received(copy->filter, &h))
        return fail(args, path, "not a copy of a neighbour's announcement");
    return code;
}

static int receive(const struct args *args, const char *peer, const char *message) {
    char path[PATH_MAX];
    struct bytes from = {0};
    struct receiving receiving = {0};
    int code = check_name(args, peer);
    if (!code) code = path_of(args, peer, path);
    if (!code) code = bytes_open(&from, args, message);
    if (!code) code = open_copy(args, path, &receiving.copy);
    if (!code) code = take_messages(args, &from, &receiving);
    if (!code) code = dir_make(args, args->operand[0]);
    if (!code) code = image_save(args, &receiving.copy);
    if (!code) tell_received(args, peer, &receiving);
    image_close(&receiving.copy);
    bytes_close(&from);
    return code;
}

static int receive_all(const struct args *args) {
    int code = 0;
    for (size_t i = 0; i < args->repeated_count && !code; i++)
        if (args->repeated[i].option == OPT_RECEIVE)
            code = receive(args, args->repeated[i].text, args->repeated[i].second);
    return code;
}

/* ---- The table ---- */

static int put_neighbour(const struct args *args, tamis_neighbours *table, const char *file) {
    char path[PATH_MAX], name[NAME_MAX + 1];
    struct image image = {0};
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - ENDING), file);
    int code = path_of(args, name, path);
    if (!code) code = image_open(&image, args, path, TO_ASK);
    if (!code) code = check_status(args, path, tamis_neighbours_put(table, name, image.filter));
    if (!code) image.filter = NULL; /* the table has it */
    image_close(&image);
    return code;
}

static bool is_neighbour(const char *file) {
    const size_t len = strlen(file);
    return *file != '.' && len > ENDING && strcmp(file + len - ENDING, ending) == 0;
}

static int open_table(const struct args *args, tamis_neighbours **table) {
    const char *dir_path = args->operand[0];
    const tamis_status status = tamis_neighbours_create(table, TAMIS_MAX_NEIGHBOURS, NULL);
    if (status) return fail_why(args, NULL, status);
    DIR *dir = opendir(dir_path);
    if (!dir) return fail(args, dir_path, "cannot open the directory: %s", strerror(errno));
    int code = 0;
    const struct dirent *entry;
    while (!code && (entry = readdir(dir)))
        if (is_neighbour(entry->d_name)) code = put_neighbour(args, *table, entry->d_name);
    closedir(dir);
    return code;
}

/* ---- Listing ---- */

static void list_one(bool is_json, const char *name, const tamis *copy) {
    struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
    struct tamis_estimate documents;
    const bool is_known = tamis_items_now(copy, &documents) == TAMIS_OK;
    (void)tamis_was_received(copy, &h);
    if (!is_json) {
        printf("%s\t%lu\t%lu\t%llu\t%s ± %s\n", name, (unsigned long)h.sequence,
               (unsigned long)h.missing, (unsigned long long)h.positions,
               is_known ? human_expected(documents.value).text : "?",
               is_known ? human_margin(documents.error).text : "?");
        return;
    }
    struct json json = json_start(stdout);
    json_text(&json, "neighbour", name);
    json_count(&json, "sequence", h.sequence);
    json_count(&json, "missing", h.missing);
    json_count(&json, "positions", h.positions);
    json_real(&json, "documents", is_known ? documents.value : HUGE_VAL);
    json_real(&json, "documents_error", is_known ? documents.error : HUGE_VAL);
    json_real(&json, "fpr_now", tamis_fpr_now(copy));
    json_end(&json);
}

static int list(const struct args *args, const tamis_neighbours *table) {
    const char *name;
    const tamis *copy;
    size_t n = 0;
    for (; tamis_neighbours_at(table, n, &name, &copy); n++)
        list_one(given(args, OPT_JSON), name, copy);
    return n > 0 ? EXIT_FOUND : EXIT_NOTHING;
}

/* ---- Asking ---- */

static void print(void *with, struct batch *batch, size_t i) {
    const tamis_neighbours *table = with;
    size_t who[TAMIS_MAX_NEIGHBOURS];
    const size_t n = tamis_neighbours_ask(table, batch->key[i].bytes, batch->key[i].len, who,
                                          TAMIS_MAX_NEIGHBOURS);
    print_pair_start(batch, i);
    for (size_t j = 0; j < n; j++) {
        const char *name;
        const tamis *copy;
        tamis_neighbours_at(table, who[j], &name, &copy);
        if (j > 0) text_byte(&batch->out, ',');
        text_words(&batch->out, name);
    }
    print_pair_end(batch);
}

struct asking {
    struct hits hits;
    tamis_neighbours *table;
};

static void ask(void *with, struct batch *batch) {
    const struct asking *asking = with;
    for (size_t i = 0; i < batch->n; i++) {
        const struct tamis_key *key = &batch->key[i];
        batch->hit[i] =
            key->bytes && tamis_neighbours_ask(asking->table, key->bytes, key->len, NULL, 0) > 0;
    }
    show_hits(&asking->hits, batch);
}

/* ---- The verb ---- */

static int check_params(const struct args *args) {
    if (given(args, OPT_RECEIVE) && (given(args, OPT_LIST) || args->operand_count > 1))
        return fail(args, NULL, "--receive cannot be combined with queries or --list");
    if (given(args, OPT_LIST) && args->operand_count > 1)
        return fail(args, args->operand[1], "--list reads no keys");
    if (given(args, OPT_JSON) && !given(args, OPT_LIST))
        return fail(args, NULL, "--json needs --list");
    return 0;
}

static int run(const struct args *args) {
    tamis_neighbours *table = NULL;
    struct keys keys;
    int code = check_params(args);
    if (code) return code;
    if (given(args, OPT_RECEIVE)) return receive_all(args);
    code = open_table(args, &table);
    if (!code && given(args, OPT_LIST)) {
        code = list(args, table);
    } else if (!code) {
        struct asking asking = {.hits = {.print = print, .with = table}, .table = table};
        code = keys_open(&keys, args, 1);
        if (!code) code = query_keys(&keys, &asking.hits, ask);
        keys_close(&keys);
    }
    tamis_neighbours_free(table);
    return code;
}

/* clang-format off */

const struct verb verb_neighbours = {
    .name = "neighbours",
    .also = "peers siblings hear listen",
    .aliases = "neighbors",
    .summary = "print which neighbours may have each key",
    .run = run,
    .operands = OPERANDS({"DIR", EXACTLY_ONE, NO_STREAM},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES({.option = OPT_RECEIVE}, {.option = OPT_LIST}, {.option = OPT_INVERT,
                  .help = "print the lines that no neighbour has announced"},
                 ASK_OPTIONS, {.option = OPT_JSON}, {.option = OPT_WAIT}),
    .examples = EXAMPLES(
        {"Process messages from two caches",
         "tamis neighbours peers --receive b b.msg --receive c c.msg"},
        {"Print who may have what is missing here", "tamis neighbours peers missed.txt"},
        {"List the copies and their state", "tamis neighbours peers --list"},
        {"Remove one that is down", "rm peers/b.tamis"}),
    .about = "DIR holds an image NAME.tamis for each neighbour: what that neighbour last "
             "announced with \"tamis announce\". --receive applies the messages of a file to the "
             "image of NAME, and creates directory and image if needed; either all messages are "
             "applied, or the image is left unchanged.\n\n"
             "Without --receive, prints each line whose key a neighbour may have, then a tab and "
             "the names, separated by commas. Fetch the rest from their origin: no neighbour had "
             "them when it last announced. An answer is a hint: a neighbour may have dropped the "
             "document since, and some answers are wrong at the rate that \"tamis info\" reports "
             "for its image.\n\n"
             "Messages are numbered. One that arrives after a newer one is ignored. If some are "
             "missing, the copy may be wrong in what they contained, until the neighbour sends "
             "everything (\"tamis announce --full\").\n\n"
             "--list prints for each neighbour its name, the number of its last message, how many "
             "are missing, the bits of its summary, and its estimated number of documents, plus "
             "or minus two standard errors; with --json, one object per line: neighbour, "
             "sequence, missing, positions, documents, documents_error, fpr_now.",
    .exits = "0 a line was printed or counted, a message received or a neighbour listed; 1 none "
             "was; 2 error.",
};
