/* check.c: `tamis check`, grep with a filter for a pattern; and the loop that get shares. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Asking and printing ---- */

/* What one run prints, and how much so far. */
struct printer {
    const struct asker *asker;
    uint8_t *hit; /* of a batch */
    bool prints_lines, counts, stops_at_first, is_inverted, has_names;
    uint64_t in_file, in_all;
};

static struct printer printer_for(const struct args *args, const struct asker *asker) {
    const bool is_quiet = given(args, OPT_QUIET);
    return (struct printer){
        .asker = asker,
        .prints_lines = !given(args, OPT_COUNT) && !is_quiet,
        .counts = given(args, OPT_COUNT) && !is_quiet,
        .stops_at_first = is_quiet,
        .is_inverted = given(args, OPT_INVERT),
        .has_names = given(args, OPT_WITH_FILENAME),
    };
}

static void ask_batch(struct printer *printer, const struct keys *keys) {
    const struct asker *asker = printer->asker;
    uint8_t *const hit = printer->hit;
    asker->ask(asker->with, keys, hit);
    for (size_t i = 0; i < keys->n; i++) {
        if ((hit[i] != 0) == printer->is_inverted) continue;
        printer->in_file++;
        if (!printer->prints_lines) continue;
        print_place(keys, i);
        if (hit[i])
            asker->print(asker->with, keys, i);
        else
            print_line(keys, i);
    }
}

static void end_file(struct printer *printer, const struct keys *keys) {
    if (printer->counts && printer->has_names) {
        print_file(keys);
        printf("%" PRIu64 "\n", printer->in_file);
    }
    printer->in_all += printer->in_file;
    printer->in_file = 0;
}

static int ask_batches(struct printer *printer, struct keys *keys) {
    bool had_trouble = false;
    for (;;) {
        switch (keys_next(keys)) {
        case KEYS_SOME:
            ask_batch(printer, keys);
            if (printer->stops_at_first && printer->in_file > 0) return EXIT_FOUND;
            if (print_batch_end(keys)) return EXIT_TROUBLE;
            break;
        case KEYS_FILE_DONE: end_file(printer, keys); break;
        case KEYS_TROUBLE:
            had_trouble = true;
            end_file(printer, keys);
            break;
        case KEYS_DONE:
            if (printer->counts && !printer->has_names) printf("%" PRIu64 "\n", printer->in_all);
            return had_trouble ? EXIT_TROUBLE : printer->in_all > 0 ? EXIT_FOUND : EXIT_NOTHING;
        }
    }
}

int ask_keys(const struct args *args, const struct asker *asker, struct keys *keys) {
    struct printer printer = printer_for(args, asker);
    printer.hit = malloc(keys->most);
    const int code = printer.hit ? ask_batches(&printer, keys) : fail_memory(args);
    free(printer.hit);
    return code;
}

/* ---- Is it in the set? ---- */

static void ask_has(void *with, const struct keys *keys, uint8_t *hit) {
    const struct image *image = with;
    tamis_has_many(image->filter, keys->key, keys->n, hit);
}

static void print_hit(void *with, const struct keys *keys, size_t i) {
    (void)with;
    print_line(keys, i);
}

/* ---- Which labels? ---- */

enum { FEW = 4 };

struct labelling {
    const tamis *filter;
    size_t n[KEYS_PER_BATCH];            /* labels of each key, ... */
    uint64_t first[KEYS_PER_BATCH][FEW]; /* ... and the first of them */
    uint64_t *label;                     /* all of them, for a key that has more */
    size_t room;
    char **name; /* as printed, made when first needed: finding one may take long */
    bool is_short_of_memory;
};

/* Commas stand between names, so one inside a name gets a backslash. */
static char *escape(const char *name) {
    char *escaped = malloc(2 * strlen(name) + 1), *to = escaped;
    for (; escaped && *name; name++) {
        if (*name == ',' || *name == '\\') *to++ = '\\';
        *to++ = *name;
    }
    if (escaped) *to = '\0';
    return escaped;
}

static void ask_labels(void *with, const struct keys *keys, uint8_t *hit) {
    struct labelling *labelling = with;
    for (size_t i = 0; i < keys->n; i++) {
        const struct tamis_key *key = &keys->key[i];
        labelling->n[i] =
            tamis_labels(labelling->filter, key->bytes, key->len, labelling->first[i], FEW);
        hit[i] = labelling->n[i] > 0;
    }
}

/* All labels of the i-th key; NULL when memory is out. */
static const uint64_t *all_labels(struct labelling *labelling, const struct keys *keys, size_t i) {
    const size_t n = labelling->n[i];
    if (n <= FEW) return labelling->first[i];
    if (n > labelling->room) {
        uint64_t *larger = realloc(labelling->label, n * sizeof *larger);
        if (!larger) return NULL;
        labelling->label = larger;
        labelling->room = n;
    }
    const struct tamis_key *key = &keys->key[i];
    tamis_labels(labelling->filter, key->bytes, key->len, labelling->label, labelling->room);
    return labelling->label;
}

static const char *name_of(struct labelling *labelling, uint64_t label) {
    char **name = &labelling->name[label];
    if (!*name) *name = escape(tamis_label_name(labelling->filter, label));
    return *name;
}

static void print_labels(void *with, const struct keys *keys, size_t i) {
    struct labelling *labelling = with;
    const uint64_t *label = all_labels(labelling, keys, i);
    if (!label) labelling->is_short_of_memory = true;
    print_pair_start(keys, i);
    for (size_t j = 0; label && j < labelling->n[i]; j++) {
        const char *name = name_of(labelling, label[j]);
        if (!name) labelling->is_short_of_memory = true;
        printf("%s%s", j > 0 ? "," : "", name ? name : "");
    }
    print_pair_end(keys);
}

static int check_labels(const struct args *args, const struct image *image, struct keys *keys) {
    const uint64_t count = tamis_label_count(image->filter);
    struct labelling labelling = {.filter = image->filter};
    const struct asker asker = {.ask = ask_labels, .print = print_labels, .with = &labelling};
    labelling.name = calloc((size_t)count + 1, sizeof *labelling.name);
    int code = labelling.name ? ask_keys(args, &asker, keys) : fail_memory(args);
    if (labelling.is_short_of_memory) code = fail_memory(args);
    for (uint64_t i = 0; labelling.name && i < count; i++) free(labelling.name[i]);
    free(labelling.name);
    free(labelling.label);
    return code;
}

/* ---- The verb ---- */

static int run(const struct args *args) {
    const bool with_labels = given(args, OPT_LABELS);
    struct image image = {0};
    const struct asker asker = {.ask = ask_has, .print = print_hit, .with = &image};
    struct keys keys;
    int code = keys_open(&keys, args, 1);
    if (!code) code = image_open(&image, args, args->operand[0], TO_ASK);
    if (!code && with_labels) code = image_needs(args, &image, TAMIS_CAN_LABEL, "have labels");
    /* Labels are found one by one. */
    if (!code && given(args, OPT_THREADS) && !with_labels) code = keys_widen(&keys);
    if (!code)
        code = with_labels ? check_labels(args, &image, &keys) : ask_keys(args, &asker, &keys);
    image_close(&image);
    keys_close(&keys);
    return code;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_check = {
    .name = "check",
    .also = "test query has grep contains",
    .summary = "print the keys that are in the set",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_INVERT}, {.option = OPT_LABELS}, ASK_OPTIONS,
        {.option = OPT_THREADS, .help = "threads to ask with about large files, otherwise one"}),
    .examples =
        EXAMPLES({"Which requests are on the list?", "tamis check blocklist.tamis requests.txt"},
                 {"How many are not?", "tamis check -vc blocklist.tamis requests.txt"},
                 {"Is this one?",
                  "if echo evil.example | tamis check -q blocklist.tamis; then echo blocked; fi"},
                 {"On which lists?", "tamis check --labels feeds.tamis requests.txt"}),
    .about = "Lines that are in the set are printed as they came. A few others are printed too, at "
             "the rate that \"tamis info\" tells; what -v prints is certainly not in the set, "
             "except with kinds that may forget, whose contract says when.\n\n"
             "With --labels a key is followed by a tab and the names of the sets that have it, "
             "with commas between them; a comma or a backslash in a name comes behind a "
             "backslash.\n\n"
             "A file that cannot be read is reported and left out; the others are still "
             "checked. With -c and -H there is one number for each file.",
    .exits = "0 when a line was printed or counted, 1 when none was, 2 after an error.",
};
