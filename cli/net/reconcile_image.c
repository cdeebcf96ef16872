/* SPDX-License-Identifier: MIT */
/* reconcile_image.c: two sets by sketches, and the second step by files: lines of hashes. */
#include "cli/net/reconcile.h"
#include "tamis_engine.h"
#include "tamis_special.h"

#include <inttypes.h>
#include <math.h>

/* ---- What differs between two images ---- */

struct listing {
    struct outcome *outcome;
    bool is_short_of_memory;
};

static bool take_difference(void *ctx, uint64_t hash, bool is_first) {
    struct listing *listing = ctx;
    listing->is_short_of_memory =
        !hashes_add(&listing->outcome->only[is_first ? FIRST : SECOND], hash);
    return !listing->is_short_of_memory;
}

static int compare(const struct args *args, const tamis *first, const tamis *second,
                   struct outcome *outcome) {
    struct listing listing = {.outcome = outcome};
    const tamis_status status = tamis_difference(first, second, take_difference, &listing);
    if (listing.is_short_of_memory) return fail_memory(args);
    if (status && status != TAMIS_PARTIAL) return fail_why(args, NULL, status);
    outcome->is_partial = status == TAMIS_PARTIAL;
    if (outcome->is_partial && tamis_difference_size(first, second, &outcome->size))
        outcome->size = (struct tamis_estimate){0}; /* It keeps no estimator. */
    for (int i = FIRST; i <= SECOND; i++)
        (void)sort_distinct(outcome->only[i].at, &outcome->only[i].n, NULL);
    return 0;
}

/* "make the sketches with differences=1500" */
static int print(const struct args *args, const struct outcome *outcome, struct set *const set[2]) {
    char advice[256];
    const struct tamis_estimate *size = &outcome->size;
    /* Twice the error above, so that the second try is the last. */
    const double enough = ceil(1.1 * (size->value + 2 * size->error));
    if (!(size->value > 0) || enough > 1e18)
        snprintf(advice, sizeof advice, "make the sketches larger with --differences");
    else
        snprintf(
            advice, sizeof advice,
            "about %.40s keys differ (+/- %.40s); make the sketches with --differences %" PRIu64,
            human_count((uint64_t)(size->value + 0.5)).text, human_margin(size->error).text,
            (uint64_t)enough);
    return list_both(args, outcome, set, advice);
}

/* ---- A sketch of a file, like one that is there ---- */

static int sketch_like(const struct args *args, const struct image *image, const struct set *set,
                       tamis **sketch) {
    const struct tamis_options options = image_options(args);
    char spec[512];
    const struct tamis_info info = info_measured(image->filter);
    if (strcmp(info.key_place, "inside") == 0)
        return fail(args, image->path,
                    "its secret is stored inside, where a second sketch cannot use it; make it "
                    "with key=outside and --secret-file");
    if (tamis_spec(image->filter, spec, sizeof spec) >= sizeof spec)
        return fail(args, image->path, "its spec is too long");
    tamis_status status = tamis_create_with(sketch, spec, &options);
    if (!status) status = tamis_add_hashes(*sketch, set->hashes.at, set->hashes.n);
    return check_status(args, image->path, status);
}

bool has_image_operand(const struct args *args) {
    for (size_t i = 0; i < args->operand_count; i++)
        if (file_is_image(args->operand[i])) return true;
    return false;
}

static int open_sketch(struct image *image, const struct args *args, const char *path,
                       struct outcome *outcome, enum side side) {
    int code = image_open(image, args, path, TO_ASK);
    if (!code) code = image_needs(args, image, TAMIS_CAN_DIFFER, "list what differs");
    if (code) return code;
    const struct tamis_info info = info_measured(image->filter);
    outcome->keys[side] = info.items;
    outcome->has_keys[side] = true;
    return 0;
}

static int compare_images(const struct args *args, struct image image[2], struct outcome *outcome) {
    int code = form_is_shared(args, &image[FIRST], &image[SECOND]);
    if (!code) code = compare(args, image[FIRST].filter, image[SECOND].filter, outcome);
    return code ? code : print(args, outcome, (struct set *[]){NULL, NULL});
}

/* `side` is where the image stands; the file is on the other one. */
static int compare_file(const struct args *args, struct image *image, enum side side,
                        struct outcome *outcome) {
    const enum side other = side == FIRST ? SECOND : FIRST;
    struct set set = {0}, *sets[2] = {NULL, NULL};
    tamis *sketch = NULL;
    sets[other] = &set;
    int code = set_open(&set, args, args->operand[other]);
    if (!code) code = set_read(&set, image->filter);
    outcome->keys[other] = set.hashes.n;
    outcome->has_keys[other] = true;
    if (!code) code = sketch_like(args, image, &set, &sketch);
    if (!code)
        code = compare(args, side == FIRST ? image->filter : sketch,
                       side == FIRST ? sketch : image->filter, outcome);
    if (!code) code = print(args, outcome, sets);
    tamis_free(sketch);
    set_close(&set);
    return code;
}

int reconcile_images(const struct args *args, struct outcome *outcome) {
    struct image image[2] = {{0}, {0}};
    bool is_there[2];
    int code = 0;
    for (size_t i = 0; i < 2; i++) {
        outcome->name[i] = args->operand[i];
        is_there[i] = file_is_image(args->operand[i]);
        if (is_there[i] && !code)
            code = open_sketch(&image[i], args, args->operand[i], outcome, (enum side)i);
    }
    if (!code && is_there[FIRST] && is_there[SECOND])
        code = compare_images(args, image, outcome);
    else if (!code)
        code = compare_file(args, &image[is_there[FIRST] ? FIRST : SECOND],
                            is_there[FIRST] ? FIRST : SECOND, outcome);
    image_close(&image[FIRST]);
    image_close(&image[SECOND]);
    return code;
}

/* ---- Lines of hashes ---- */

static bool parse_hash(const char *text, size_t len, uint64_t *hash) {
    *hash = 0;
    for (size_t i = 0; i < len; i++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, text[i]);
        if (!text[i] || !digit) return false;
        *hash = *hash << 4 | (uint64_t)(digit - digits);
    }
    return len == 16;
}

/* What an earlier step printed: "<#HASH", ">#HASH", or HASH alone. Lines that are there as such
 * have a blank after their mark, and are skipped. */
static int read_list(const struct args *args, const char *path, struct hashes *wanted) {
    struct bytes bytes;
    int code = bytes_open(&bytes, args, path);
    const char *at = (const char *)bytes.at, *end = at ? at + bytes.size : at;
    for (uint64_t number = 1; at < end && !code; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        const bool is_marked = stop - at >= 2 && (*at == '<' || *at == '>');
        uint64_t hash = 0;
        if (!is_marked || at[1] == '#') {
            const char *digits = is_marked ? at + 2 : at;
            if (!parse_hash(digits, (size_t)(stop - digits), &hash))
                code = fail(args, bytes.path, "line %s is not 16 hex digits",
                            human_count(number).text);
            else if (!hashes_add(wanted, hash))
                code = fail_memory(args);
        }
        at = newline ? newline + 1 : end;
    }
    bytes_close(&bytes);
    return code ? code : sort_distinct(wanted->at, &wanted->n, NULL);
}

static int print_found(void *with, uint64_t hash, const struct tamis_key *line,
                       const struct tamis_key *key) {
    (void)hash, (void)key;
    return list_line(with, SECOND, line);
}

static int print_lines(const struct args *args, const tamis *hasher, uint64_t form,
                       const struct hashes *wanted, uint64_t *lacking) {
    struct set set = {0};
    struct list list = {0};
    struct line_taker taker = {.take = print_found, .with = &list, .may_lack = true};
    int code = set_open(&set, args, args->operand[1]);
    if (!code && form && form != form_mark(&set))
        code = fail(args, args->operand[0],
                    "its keys were made from lines differently; --keys, --hex, --base64 and "
                    "--canon must be the same");
    keys_hash_by(&set.keys, hasher);
    if (!code) code = list_begin(&list, args);
    list.is_bare = true;
    if (!code) code = set_lines(&set, wanted, &taker);
    code = list_end(&list, code);
    set_close(&set);
    *lacking = taker.lacking;
    return code;
}

int reconcile_hashes(const struct args *args) {
    const char *from = args->operand[0];
    struct image image = {0};
    struct hashes wanted = {0};
    tamis *hasher = NULL;
    uint64_t form = 0, lacking = 0;
    int code = read_list(args, args->setting[OPT_HASHES].text, &wanted);
    if (!code)
        code = is_stream_file(from) ? stream_hasher(args, from, &hasher, &form)
                                    : image_open(&image, args, from, TO_ASK);
    if (!code) code = print_lines(args, hasher ? hasher : image.filter, form, &wanted, &lacking);
    if (!code && !given(args, OPT_QUIET))
        fprintf(stderr, "tamis: reconcile: %s of %s %s in %s\n",
                human_count(wanted.n - lacking).text, human_count(wanted.n).text,
                wanted.n == 1 ? "hash has its key" : "hashes have their keys",
                input_name(args->operand[1]));
    if (!code && lacking > 0) code = EXIT_NOTHING;
    tamis_free(hasher);
    image_close(&image);
    hashes_free(&wanted);
    return code;
}
