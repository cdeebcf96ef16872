/* SPDX-License-Identifier: MIT */
/* bench.c: `tamis bench`, this machine, this file, this kind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/measure/timing.h"

struct benching {
    const struct args *args;
    char *spec; /* what was built, or NULL for an image */
    struct tamis_info info;
    struct measured measured;
    double line; /* ns that memory takes for one random line of the same size */
    struct sample sample;
    char *bytes; /* of the sample's keys, each followed by one byte */
    size_t len, room, list_room;
};

/* ---- Keys of files ---- */

/* The bytes move while they grow: for now a key has its place among them instead of an address. */
static int keep_keys(void *with, struct batch *batch) {
    struct benching *b = with;
    for (size_t i = 0; i < batch->n; i++) {
        const struct tamis_key *key = &batch->key[i];
        if (!list_grow(&b->bytes, &b->room, b->len + key->len + 1, 1) ||
            !list_grow(&b->sample.members, &b->list_room, b->sample.n + 1, sizeof *key))
            return fail_memory(b->args);
        if (key->len > 0) memcpy(b->bytes + b->len, key->bytes, key->len);
        b->bytes[b->len + key->len] = '\xff'; /* a non-member is a member followed by this byte */
        b->sample.members[b->sample.n++] = (struct tamis_key){(void *)(uintptr_t)b->len, key->len};
        b->len += key->len + 1;
    }
    return 0;
}

/* In the form that an image remembers, where one is measured. */
static int read_keys(struct benching *b, const tamis *filter) {
    struct keys keys;
    int code = keys_open(&keys, b->args, 0);
    if (filter) keys_follow(&keys, filter);
    if (!code) code = keys_run(&keys, &(struct handler){.take = keep_keys, .with = b});
    keys_close(&keys);
    if (code) return code;
    if (b->sample.n == 0)
        return fail(b->args, NULL, "no keys to measure with; name a file that has some");
    b->sample.nonmembers = malloc(b->sample.n * sizeof *b->sample.nonmembers);
    if (!b->sample.nonmembers) return fail_memory(b->args);
    for (size_t i = 0; i < b->sample.n; i++) {
        struct tamis_key *key = &b->sample.members[i];
        key->bytes = b->bytes + (uintptr_t)key->bytes;
        b->sample.nonmembers[i] = (struct tamis_key){key->bytes, key->len + 1};
    }
    return 0;
}

/* ---- Measuring ---- */

static int measure_image(struct benching *b) {
    struct image image;
    int code = image_open(&image, b->args, b->args->setting[OPT_IMAGE].text, TO_ASK);
    if (!code) code = image_knows_keys(b->args, &image);
    if (!code && b->args->operand_count > 0) code = read_keys(b, image.filter);
    if (!code) {
        b->info = info_measured(image.filter);
        if (b->sample.n > 0)
            measure_sample(image.filter, &b->sample, &b->measured);
        else
            measure_nonmembers(image.filter, &b->measured);
    }
    image_close(&image);
    return code;
}

static int measure_file(struct benching *b) {
    const struct tamis_options options = image_options(b->args);
    tamis *filter = NULL;
    double ns;
    if (read_keys(b, NULL)) return EXIT_TROUBLE;
    const tamis_status status = measure_build(b->spec, &b->sample, &options, &filter, &ns);
    if (status) return fail_why(b->args, NULL, status);
    b->info = info_measured(filter);
    measure_sample(filter, &b->sample, &b->measured);
    b->measured.build = ns;
    tamis_free(filter);
    return 0;
}

static int measure_numbers(struct benching *b) {
    const struct tamis_options options = image_options(b->args);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    tamis_status status = tamis_plan_spec(b->spec, &plan);
    if (!status) status = measure_params(b->spec, plan.capacity, &options, &b->measured);
    if (status) return fail_why(b->args, NULL, status);
    b->info = (struct tamis_info){
        .kind = plan.kind, .payload_bytes = plan.payload_bytes, .abilities = plan.abilities};
    return 0;
}

static int measure(struct benching *b) {
    const int code = given(b->args, OPT_IMAGE)    ? measure_image(b)
                     : b->args->operand_count > 0 ? measure_file(b)
                                                  : measure_numbers(b);
    if (b->info.abilities & TAMIS_IS_SKETCH) /* Only building can be measured. */
        b->measured.hit = b->measured.miss = b->measured.one = NAN;
    if (!code) b->line = measure_line(b->info.payload_bytes);
    return code;
}

/* ---- The spec ---- */

/* Without a word a million numbers in a blocked filter; files tell their number themselves. */
static int read_spec(struct benching *b) {
    const struct args *args = b->args;
    const char *param = FIRST_GIVEN(args, OPT_SPEC, OPT_KIND, OPT_CAPACITY, OPT_FPR, OPT_SIZE);
    if (given(args, OPT_IMAGE))
        return param ? fail(args, NULL, "--image cannot be combined with a spec") : 0;
    if (given(args, OPT_FROM)) return fail(args, "--from", "needs --image");
    b->spec = spec_given(args, "blocked");
    const bool counts = args->operand_count > 0 || given(args, OPT_SPEC) ||
                        given(args, OPT_CAPACITY) ||
                        (given(args, OPT_SIZE) && given(args, OPT_FPR));
    if (!counts) spec_set(args, &b->spec, "capacity", "1M");
    return b->spec ? 0 : EXIT_TROUBLE;
}

/* ---- Telling ---- */

static void print_speed(const char *what, double ns) {
    if (isnan(ns)) return;
    printf("  %-22s %8s ns  %8s million/s\n", what, human_decimal(ns).text,
           human_decimal(1e3 / ns).text);
}

static void print_bench(const struct benching *b) {
    const struct measured *m = &b->measured;
    printf("%s, %s", b->info.kind, human_bytes(b->info.payload_bytes).text);
    if (m->keys > 0)
        printf(", %s %s", human_count(m->keys).text,
               b->sample.n > 0 ? "keys from files" : "numbers");
    printf(", one thread\n");
    print_speed("building", m->build);
    print_speed("query, members", m->hit);
    print_speed("query, non-members", m->miss);
    print_speed("query, one by one", m->one);
    print_speed("memory, random line", b->line);
}

static void write_bench(const struct benching *b) {
    struct json json = json_start(stdout);
    json_text(&json, "kind", b->info.kind);
    json_text(&json, "spec", b->spec);
    json_text(&json, "image", b->args->setting[OPT_IMAGE].text);
    json_count(&json, "keys", b->measured.keys);
    json_count(&json, "payload_bytes", b->info.payload_bytes);
    json_real(&json, "build_ns", b->measured.build);
    json_real(&json, "hit_ns", b->measured.hit);
    json_real(&json, "miss_ns", b->measured.miss);
    json_real(&json, "one_ns", b->measured.one);
    json_real(&json, "line_ns", b->line > 0 ? b->line : NAN);
    json_end(&json);
}

static int run(const struct args *args) {
    struct benching b = {.args = args};
    int code = read_spec(&b);
    if (!code) code = measure(&b);
    if (!code && given(args, OPT_JSON))
        write_bench(&b);
    else if (!code)
        print_bench(&b);
    free(b.spec);
    free(b.bytes);
    free(b.sample.members);
    free(b.sample.nonmembers);
    return code;
}

/* clang-format off */

const struct verb verb_bench = {
    .name = "bench",
    .also = "benchmark speed time measure",
    .summary = "time a kind, a file of keys or an image on this machine",
    .run = run,
    .operands = OPERANDS({"FILE", ANY_NUMBER, READS_STDIN}),
    .uses = USES({.option = OPT_KIND}, {.option = OPT_CAPACITY}, {.option = OPT_FPR},
                 {.option = OPT_SIZE}, {.option = OPT_SPEC}, {.option = OPT_IMAGE}, KEY_OPTIONS,
                 {.option = OPT_SECRET_FILE}, FROM_OPTION,
                 {.option = OPT_JSON, .help = "print one JSON object"}),
    .examples = EXAMPLES({"Time the default kind", "tamis bench"},
                         {"Time a hundred million keys in fuse", "tamis bench -k fuse -n 100M"},
                         {"Use your own keys", "tamis bench -k ribbon users.txt"},
                         {"Query an image with these keys",
                          "tamis bench --image users.tamis today.txt"}),
    .about =
        "Without FILE, keys are numbers: --capacity of them, or a million. With FILE they are its "
        "lines, all kept in memory; non-members are the same lines with a byte appended. Times "
        "are nanoseconds per key, medians of 51 rounds of 16,384 keys; the complete build is "
        "timed once. Queries are timed in batches of 4096 keys, and one by one.\n\n"
        "The last line is the time this machine takes to fetch one random cache line from that "
        "many bytes, with many fetches in flight: a lower bound for anything that looks at "
        "memory.\n\n"
        "The names in the JSON do not change: kind, spec (null for an image), image, keys, "
        "payload_bytes, build_ns, hit_ns, miss_ns, one_ns, line_ns. What was not measured is null.",
};
