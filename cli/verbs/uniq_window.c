/* SPDX-License-Identifier: MIT */
/* uniq_window.c: has this key been here lately? By the kind `window`, which finds the last lines
 * without fail.
 *
 * Every line is an add, also one that was here: it is as young as its last occurrence. Lines come
 * with their batch; that is when the clock is looked at.
 */
#include "cli/verbs/uniq.h"
#include "tamis_engine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Steps of a window by the clock; it is up to one step longer than asked. */
enum { STEPS = 32 };

/* For a window by the clock without a given number of lines. */
static const uint64_t usual_bytes = (uint64_t)64 << 20;

/* ---- The spec ---- */

/* A number and a unit of time; 0 when it is not that. */
static uint64_t parse_time(const char *text) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    if (strspn(text, "0123456789.") == 0) return 0;
    const double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        const double seconds = value * units[i].seconds;
        return seconds >= 1e-3 && seconds <= 1e9 ? (uint64_t)(seconds * 1e9) : 0;
    }
    return 0;
}

/* What to make, by the window and by what it may take. */
static int write_spec(struct window *window, struct human *spec) {
    const struct args *args = window->args;
    const char *text = args->setting[OPT_WINDOW].text;
    const double fpr = rate_or(args, OPT_FPR, uniq_usual_fpr);
    const uint64_t bytes = number_or(args, OPT_MEMORY, usual_bytes);
    const uint64_t time_ns = parse_time(text);
    uint64_t lines = 0;
    if (!time_ns && (!tamis_parse_count(text, &lines) || lines == 0))
        return fail(args, "--window",
                    "\"%s\" is neither a number of lines, at least 1 (10k, 1M), nor a duration "
                    "from 1ms to 1e9s (30s, 10m, 2h, 1d)",
                    text);
    window->tick_ns = time_ns / STEPS;
    const bool by_size = time_ns && !given(args, OPT_CAPACITY);
    if (time_ns) lines = args->setting[OPT_CAPACITY].number;
    *spec = human_words("window:%s=%" PRIu64 ",fpr=%g", by_size ? "size" : "capacity",
                        by_size ? bytes : lines, fpr);
    if (time_ns) *spec = human_words("%s,by=clock,generations=%d", spec->text, STEPS);
    return 0;
}

int window_open(struct window *window, const struct args *args) {
    struct human spec;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    const struct tamis_options options = image_options(args);
    *window = (struct window){.args = args};
    if (write_spec(window, &spec)) return EXIT_TROUBLE;
    tamis_status status = tamis_plan_spec(spec.text, &plan);
    if (!status && given(args, OPT_MEMORY) && plan.payload_bytes > args->setting[OPT_MEMORY].number)
        return fail(args, "--memory", "a window of %s lines takes %s",
                    human_count(plan.capacity).text, human_bytes(plan.payload_bytes).text);
    if (!status) status = tamis_create_with(&window->filter, spec.text, &options);
    if (status) return fail_why(args, NULL, status);
    window->capacity = plan.capacity;
    window->max_ticks = shape_word(plan.word_name, plan.word, "hashes") +
                        shape_word(plan.word_name, plan.word, "generations");
    window->next_tick = now_ns() + window->tick_ns;
    return 0;
}

void window_close(struct window *window) {
    tamis_free(window->filter);
    window->filter = NULL;
}

/* ---- Asking ---- */

void window_account(struct window *window) {
    const double before = odds_of(window->rate);
    window->rate = tamis_fpr_now(window->filter);
    const double after = odds_of(window->rate);
    loss_add(&window->loss, (double)window->news, (before + after) / 2, fmax(before, after));
    window->since = window->news = 0;
}

static int tick(struct window *window) {
    const uint64_t now = now_ns();
    tamis_status status = TAMIS_OK;
    for (uint64_t ticks = 0; now >= window->next_tick && !status; ticks++) {
        if (ticks >= window->max_ticks) { /* It is empty: the rest of the time is skipped. */
            window->next_tick += (now - window->next_tick) / window->tick_ns * window->tick_ns;
            ticks = 0;
        }
        status = tamis_tick(window->filter);
        window->next_tick += window->tick_ns;
    }
    return check_status(window->args, NULL, status);
}

int window_take(struct window *window, const uint64_t *hash, size_t n, uint8_t *hit) {
    if (window->tick_ns > 0 && tick(window)) return EXIT_TROUBLE;
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        const tamis_status status = tamis_add_new_hash(window->filter, hash[i], &is_new);
        if (status) return fail_why(window->args, NULL, status);
        hit[i] = !is_new;
        window->news += is_new;
    }
    window->since += n;
    /* Between two turns of the ring the rate changes little; one look reads all of it. */
    if (window->since > window->capacity / 8 + 100000) window_account(window);
    return 0;
}
