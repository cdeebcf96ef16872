/* SPDX-License-Identifier: MIT */
/* uniq_window.c: has this key been here lately? By the kind `window`, which finds the last lines
 * without fail.
 *
 * Every line is an add, also one that was here: it is as young as its last occurrence. Lines come
 * with their batch; that is when the clock is looked at. With --time-field each line moves the
 * clock itself, and only forward: a line that comes late counts as of the newest time before it.
 */
#include "cli/verbs/uniq.h"
#include "tamis_engine.h"

#include <inttypes.h>
#include <math.h>

/* Steps of a window by the clock; it is up to one step longer than asked. */
enum { STEPS = 32 };

/* For a window by the clock without a given number of lines. */
static const uint64_t usual_bytes = (uint64_t)64 << 20;

static int64_t now_us(void) {
    return (int64_t)(now_ns() / 1000);
}

/* ---- The spec ---- */

/* What to make, by the window and by what it may take. */
static int write_spec(struct window *window, struct human *spec) {
    const struct args *args = window->args;
    const char *text = args->setting[OPT_WINDOW].text;
    const double fpr = rate_or(args, OPT_FPR, uniq_usual_fpr);
    const uint64_t bytes = number_or(args, OPT_MEMORY, usual_bytes);
    const uint64_t time_ns = parse_duration(text);
    uint64_t lines = 0;
    if (!time_ns && (!tamis_parse_count(text, &lines) || lines == 0))
        return fail(args, "--window",
                    "\"%s\" is neither a number of lines, at least 1 (10k, 1M), nor a duration "
                    "from 1ms to 1e9s (30s, 10m, 2h, 1d)",
                    text);
    window->tick_us = (int64_t)((time_ns / 1000 + STEPS - 1) / STEPS);
    const bool by_size = time_ns && !given(args, OPT_CAPACITY);
    if (time_ns) lines = args->setting[OPT_CAPACITY].number;
    *spec = human_words("window:%s=%" PRIu64 ",fpr=%g", by_size ? "size" : "capacity",
                        by_size ? bytes : lines, fpr);
    if (time_ns) *spec = human_words("%s,by=clock,generations=%d", spec->text, STEPS);
    return 0;
}

int window_open(struct window *window, struct keys *keys) {
    const struct args *args = keys->args;
    struct human spec;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    const struct tamis_options options = image_options(args);
    *window = (struct window){.args = args, .has_times = given(args, OPT_TIME_FIELD)};
    if (write_spec(window, &spec)) return EXIT_TROUBLE;
    if (window->has_times && window->tick_us == 0)
        return fail(args, "--time-field", "needs a --window that is a duration (30s, 10m, 2h, 1d)");
    if (window->has_times && line_times_open(&window->times, keys)) return EXIT_TROUBLE;
    tamis_status status = tamis_plan_spec(spec.text, &plan);
    if (!status && given(args, OPT_MEMORY) && plan.payload_bytes > args->setting[OPT_MEMORY].number)
        return fail(args, "--memory", "a window of %s lines takes %s",
                    human_count(plan.capacity).text, human_bytes(plan.payload_bytes).text);
    if (!status) status = tamis_create_with(&window->filter, spec.text, &options);
    if (status) return fail_why(args, NULL, status);
    window->capacity = plan.capacity;
    window->max_ticks = shape_word(plan.word_name, plan.word, "hashes") +
                        shape_word(plan.word_name, plan.word, "generations");
    window->next_tick = now_us() + window->tick_us;
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

static int tick(struct window *window, int64_t now) {
    tamis_status status = TAMIS_OK;
    for (uint64_t ticks = 0; now >= window->next_tick && !status; ticks++) {
        if (ticks >= window->max_ticks) { /* It is empty: the rest of the time is skipped. */
            window->next_tick += (now - window->next_tick) / window->tick_us * window->tick_us;
            ticks = 0;
        }
        status = tamis_tick(window->filter);
        window->next_tick += window->tick_us;
    }
    return check_status(window->args, NULL, status);
}

/* The clock goes to the time of this line, unless it is there already. */
static int tick_to_line(struct window *window, const struct batch *batch, size_t i) {
    const int64_t time = (int64_t)batch->value[i];
    if (time == NO_TIME) return 0;
    if (!window->is_started) {
        window->is_started = true;
        window->next_tick = time + window->tick_us;
        window->newest = time;
    }
    if (time >= window->newest) {
        window->newest = time;
        return tick(window, time);
    }
    if (window->newest - time > window->tick_us * STEPS && window->late++ == 0)
        window->first_late =
            human_words("%s: line %" PRIu64, input_name(batch->from->name), line_number(batch, i));
    return 0;
}

int window_take(struct window *window, struct batch *batch) {
    const size_t n = batch->n;
    if (window->has_times && line_times_count(&window->times, batch)) return EXIT_TROUBLE;
    if (!window->has_times && window->tick_us > 0 && tick(window, now_us())) return EXIT_TROUBLE;
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        if (window->has_times && tick_to_line(window, batch, i)) return EXIT_TROUBLE;
        const tamis_status status = tamis_add_new_hash(window->filter, batch->hash[i], &is_new);
        if (status) return fail_why(window->args, NULL, status);
        batch->hit[i] = !is_new;
        window->news += is_new;
    }
    window->since += n;
    /* Between two turns of the ring the rate changes little; one look reads all of it. */
    if (window->since > window->capacity / 8 + 100000) window_account(window);
    return 0;
}

void window_warn(const struct window *window, uint64_t repeats) {
    if (!window->has_times) return;
    line_times_warn(&window->times);
    if (window->late > 0)
        warn(window->args, NULL,
             "%s %s more than a window older than a line before %s, and counted at the time of "
             "that; the first: %s",
             human_number(window->late, "line").text, window->late == 1 ? "is" : "are",
             window->late == 1 ? "it" : "them", window->first_late.text);
    /* Two lines that differ in their time alone look the same to people. */
    if (window->is_started && repeats == 0 && !given(window->args, OPT_FIELD))
        warn(window->args, NULL, "the whole line is the key, and its time with it; see --field");
}
