/* SPDX-License-Identifier: MIT */
/* All measurements, for scripts: bench/plot reads it. */
#include <math.h>
#include <time.h>

#include "bench/bench.h"

void json_text(FILE *out, const char *text) {
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putc('\\', out);
        if ((unsigned char)*text >= ' ') putc(*text, out);
    }
    putc('"', out);
}

static void put_number(FILE *out, const char *name, double value) {
    if (isnan(value))
        fprintf(out, ", \"%s\": null", name);
    else
        fprintf(out, ", \"%s\": %.6g", name, value);
}

static void put_count(FILE *out, const char *name, uint64_t value) {
    fprintf(out, ", \"%s\": %llu", name, (unsigned long long)value);
}

void json_begin(FILE *out, const struct settings *set) {
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(out, "{\n  \"date\": \"%s\",\n", date);
    json_machine(out);
    fprintf(out, "  \"method\": {\"rounds\": %zu, \"chunk\": %zu},\n  \"events\": [", set->rounds,
            set->chunk);
}

void json_end(FILE *out) {
    fprintf(out, "\n  ]\n}\n");
}

static void put_question(FILE *out, const struct event *e, const struct contestant *c,
                         enum question q) {
    fprintf(out, ",\n       \"%s\": {\"ns\": %.6g", question_names[q], median_ns(e, c, q));
    put_number(out, "best", best_ns(e, c, q));
    put_number(out, "to_line", ratio_to_floor(e, c, q, floor_line));
    put_number(out, "to_keys", ratio_to_floor(e, c, q, floor_keys));
    put_number(out, "to_three", ratio_to_floor(e, c, q, floor_three));
    fprintf(out, "}");
}

/* How many times as long as each of ours this contestant takes. */
static void put_ratios(FILE *out, const struct event *e, const struct contestant *c) {
    const char *before = "";
    fprintf(out, ",\n       \"against\": [");
    for (size_t i = 0; i < e->count; i++) {
        const struct contestant *other = &e->all[i];
        if (other->side != OURS || other == c || !other->filter || !other->filter->handle) continue;
        fprintf(out, "%s\n         {\"name\": ", before);
        json_text(out, other->name);
        fprintf(out, ", \"way\": \"%s\"", way_of(other));
        for (int q = 0; q < QUESTIONS; q++)
            if (was_asked(e, c, q) && was_asked(e, other, q))
                put_number(out, question_names[q], ratio_to(e, c, other, q));
        put_number(out, "build", build_ratio(c->filter, other->filter));
        fprintf(out, "}");
        before = ",";
    }
    fprintf(out, "]");
}

static void put_filter(FILE *out, const struct event *e, const struct contestant *c) {
    const struct filter *f = c->filter;
    put_count(out, "bytes", f->bytes);
    put_count(out, "large_page_bytes", f->large_bytes);
    if (c->side == FLOOR) return;
    put_number(out, "bits_per_key", 8.0 * (double)f->bytes / (double)e->keys);
    put_count(out, "strangers", c->nonmembers);
    put_count(out, "false_positives", c->yes);
    put_number(out, "fpr", (double)c->yes / (double)c->nonmembers);
    put_number(out, "fpr_expected", c->side == OURS ? c->fpr_expected : NAN);
    put_count(out, "checked", c->checked);
    put_count(out, "false_negatives", c->lost);
    fprintf(out, ",\n       \"build\": {\"clock\": \"%s\"", e->threads == 1 ? "cpu" : "wall");
    put_count(out, "rounds", f->builds);
    put_number(out, "ns", build_median(f));
    put_number(out, "best", build_best(f));
    fprintf(out, "}");
}

static void put_contestant(FILE *out, const struct event *e, const struct contestant *c) {
    static const char *const sides[] = {"floor", "ours", "peer"};
    fprintf(out, "\n      {\"side\": \"%s\", \"name\": ", sides[c->side]);
    json_text(out, c->name);
    fprintf(out, ", \"way\": \"%s\", \"release\": ", way_of(c));
    json_text(out, c->calls->release);
    put_filter(out, e, c);
    for (int q = 0; q < QUESTIONS; q++)
        if (was_asked(e, c, q)) put_question(out, e, c, q);
    if (c->side != FLOOR) put_ratios(out, e, c);
    fprintf(out, "}");
}

void json_event(FILE *out, const struct event *e, bool is_first) {
    fprintf(out, "%s\n    {\"keys\": %zu, \"key_bytes\": %u, \"threads\": %u, \"cpu\": %d",
            is_first ? "" : ",", e->keys, e->key_bytes, e->threads, e->cpu);
    fprintf(out, ", \"clock\": \"wall\", \"chunk\": %zu", e->set.chunk);
    put_number(out, "read_gb_per_s", e->read_gbs);
    put_number(out, "write_gb_per_s", e->write_gbs);
    fprintf(out, ",\n     \"contestants\": [");
    const char *before = "";
    for (size_t i = 0; i < e->count; i++) {
        if (!e->all[i].filter || !e->all[i].filter->handle) continue;
        fprintf(out, "%s", before);
        put_contestant(out, e, &e->all[i]);
        before = ",";
    }
    fprintf(out, "]}");
}
