/* SPDX-License-Identifier: MIT */
/* count_top.c: `tamis count --top`, the most frequent lines and how sure that is. */
#include "cli/verbs/count_top.h"

#include <inttypes.h>

enum { MAX_TOP = 1000000 };

/* Four times as many candidates as lines that are wanted, and some: those that nearly made it are
 * where mistakes would come from. */
enum { SPARE_TIMES = 4, SPARE = 1000 };

/* Seven rows of 271,829 counters, 7.3 MiB: what is no candidate is known to within 1/100,000 of
 * all lines, but for one in a thousand. */
static const double usual_error = 1e-5, usual_doubt = 1e-3;

struct top {
    const struct args *args;
    struct candidates all;
    bool prints_keys; /* as they are after --field and --canon; otherwise whole lines */
    uint64_t lines;
    size_t printed; /* of the candidates, once they are sorted */
};

/* ---- Counting ---- */

static int take_batch(void *with, struct batch *batch) {
    struct top *top = with;
    for (size_t i = 0; i < batch->n; i++) {
        const struct tamis_key *text = top->prints_keys ? &batch->key[i] : &batch->line[i];
        const tamis_status status = candidates_take(&top->all, batch->hash[i], text);
        if (status == TAMIS_NOMEM) return fail_memory(top->args);
        if (status) return fail_why(top->args, NULL, status);
    }
    top->lines += batch->n;
    return 0;
}

static int open_sketch(const struct args *args, tamis **sketch) {
    const struct tamis_options options = image_options(args);
    char spec[160];
    snprintf(spec, sizeof spec, "countmin:error=%.17g,error-prob=%.17g,update=conservative,hash=%s",
             rate_or(args, OPT_ERROR, usual_error), rate_or(args, OPT_ERROR_PROB, usual_doubt),
             text_or(args, OPT_HASH, "xxh3"));
    return check_status(args, NULL, tamis_create_with(sketch, spec, &options));
}

/* ---- Telling ---- */

static uint64_t over_of(const struct candidate *one) {
    return one->first - 1;
}

/* How often a line came at most that is not printed; `rest` is that of no candidates. */
static uint64_t others_at_most(const struct top *top, uint64_t rest) {
    const uint64_t next = top->printed < top->all.n ? top->all.list[top->printed].count : 0;
    return next > rest ? next : rest;
}

/* No other line came more often than any that is printed. */
static bool is_certain(const struct top *top, uint64_t others) {
    for (size_t i = 0; i < top->printed; i++)
        if (top->all.list[i].count - over_of(&top->all.list[i]) < others) return false;
    return true;
}

static bool is_exact(const struct top *top) {
    for (size_t i = 0; i < top->printed; i++)
        if (over_of(&top->all.list[i])) return false;
    return true;
}

static void print_top(const struct top *top, char line_end) {
    for (size_t i = 0; i < top->printed; i++) {
        const struct candidate *one = &top->all.list[i];
        printf("%" PRIu64 "\t%" PRIu64 "\t", one->count, over_of(one));
        fwrite(one->text, 1, one->len, stdout);
        putchar(line_end);
    }
}

static uint64_t sketch_bytes(const struct top *top) {
    uint64_t bytes;
    tamis_payload(top->all.sketch, &bytes);
    return bytes;
}

static void write_json(struct top *top, const struct keys *keys, uint64_t others) {
    struct json json = json_start(stdout);
    json_count(&json, "lines", top->lines);
    json_count(&json, "without_key", keys->keyless);
    json_bool(&json, "is_certain", is_certain(top, others));
    json_bool(&json, "is_exact", is_exact(top));
    json_count(&json, "others_at_most", others);
    json_count(&json, "filter_bytes", sketch_bytes(top));
    json_open(&json, "top", '[');
    for (size_t i = 0; i < top->printed; i++) {
        const struct candidate *one = &top->all.list[i];
        json_open(&json, NULL, '{');
        json_count(&json, "count", one->count);
        json_count(&json, "over_at_most", over_of(one));
        json_bytes(&json, "key", one->text, one->len);
        json_bool(&json, "is_cut", one->is_cut);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

static void tell(const struct top *top, uint64_t others) {
    if (given(top->args, OPT_QUIET)) return;
    fprintf(stderr, "tamis: count: %s", human_number(top->lines, "line").text);
    if (top->lines == 0) {
        putc('\n', stderr);
        return;
    }
    if (others == 0)
        fputs("; the list is complete", stderr);
    else if (is_certain(top, others))
        fprintf(stderr, "; no other line occurred more than %s", human_number(others, "time").text);
    else
        fprintf(stderr, "; lines that occurred up to %s times may be missing",
                human_count(others).text);
    fprintf(stderr, "; %s; counters take %s\n",
            is_exact(top) ? "counts are exact"
                          : "counts may be too high by up to the second number",
            human_bytes(sketch_bytes(top)).text);
    for (size_t i = 0; i < top->printed; i++)
        if (top->all.list[i].is_cut) {
            warn(top->args, NULL, "long lines are truncated to 64 KiB");
            return;
        }
}

/* ---- The verb ---- */

static int check_options(const struct args *args) {
    const char *apart = FIRST_GIVEN(args, OPT_LINE_NUMBER, OPT_WITH_FILENAME, OPT_FROM);
    const uint64_t wanted = args->setting[OPT_TOP].number;
    if (apart) return fail(args, NULL, "--top and --%s cannot be combined", apart);
    if (wanted < 1 || wanted > MAX_TOP)
        return fail(args, "--top", "%s is out of range (allowed: 1 to %s)",
                    args->setting[OPT_TOP].text, human_count(MAX_TOP).text);
    return 0;
}

int count_top(const struct args *args) {
    struct top top = {.args = args};
    struct keys keys;
    tamis *sketch = NULL;
    int code = keys_open(&keys, args, 0);
    if (!code) code = keys_are_single(&keys);
    if (!code) code = check_options(args);
    if (!code) code = open_sketch(args, &sketch);
    if (code) goto done;
    const size_t wanted = (size_t)args->setting[OPT_TOP].number;
    if (!candidates_make(&top.all, wanted * SPARE_TIMES + SPARE, sketch)) {
        code = fail_memory(args);
        goto done;
    }
    const struct handler handler = {.take = take_batch, .goes_on = true, .with = &top};
    top.prints_keys = !keys.cutting.form.encoding;
    keys_hash_by(&keys, sketch);
    code = keys_run(&keys, &handler);

    const uint64_t rest = candidates_rest(&top.all);
    candidates_sort(&top.all);
    top.printed = wanted < top.all.n ? wanted : top.all.n;
    const uint64_t others = others_at_most(&top, rest);
    if (given(args, OPT_JSON))
        write_json(&top, &keys, others);
    else
        print_top(&top, keys.cutting.line_end);
    if (!given(args, OPT_JSON) && !ferror(stdout)) tell(&top, others);
    if (!code) code = top.lines > 0 ? EXIT_FOUND : EXIT_NOTHING;

done:
    candidates_free(&top.all);
    keys_close(&keys);
    return code;
}
