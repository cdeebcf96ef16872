/* SPDX-License-Identifier: MIT */
/* autosave.c: saving on the way.
 *
 * What was printed is flushed before every save, never the other way round: a line whose output
 * was lost must be new again the next time, and one that was seen twice does less harm
 * than one that was never seen. */
#include "cli/images/autosave.h"

#include <poll.h>
#include <string.h>

#include "cli/cli.h"

enum { USUAL_SECONDS = 60, SECOND = 1000 };

/* ---- How often ---- */

static const struct {
    const char *name;
    uint64_t ms;
} units[] = {{"s", SECOND}, {"min", 60 * SECOND}, {"h", 3600 * SECOND}};

/* "30s", "5min", "1h", or a number of lines. */
static bool parse_when(struct keeping *keeping, const char *text) {
    const size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; digits > 0 && digits < 9 && i < sizeof units / sizeof *units; i++)
        if (strcmp(text + digits, units[i].name) == 0) {
            uint64_t number = 0;
            for (size_t d = 0; d < digits; d++) number = number * 10 + (uint64_t)(text[d] - '0');
            keeping->every_ms = number * units[i].ms;
            return true;
        }
    return tamis_parse_count(text, &keeping->every_lines);
}

/* ---- Saving ---- */

/* An image so large that writing it takes long is written less often, unless the user chose an
 * interval. */
static int save_now(struct keeping *keeping) {
    enum { SHARE = 20 };
    const uint64_t start = (uint64_t)now_ms();
    if (!flush_output()) return EXIT_TROUBLE; /* finish_output says why */
    const int code =
        keeping->save ? keeping->save(keeping->with) : image_save(keeping->args, keeping->image);
    const uint64_t took = (uint64_t)now_ms() - start;
    const uint64_t min = keeping->is_usual ? SHARE * took : 0;
    keeping->lines = 0;
    keeping->due = (uint64_t)now_ms() + (keeping->every_ms > min ? keeping->every_ms : min);
    return code;
}

int keeping_after(void *with, uint64_t lines) {
    struct keeping *keeping = with;
    if (!keeping->is_on) return 0;
    if (keeping->code) return keeping->code;
    keeping->lines += lines;
    const bool is_due = (keeping->every_ms && (uint64_t)now_ms() >= keeping->due) ||
                        (keeping->every_lines && keeping->lines >= keeping->every_lines);
    return keeping->lines && is_due ? save_now(keeping) : 0;
}

/* ---- Waiting ---- */

/* -1: forever */
static int time_left(const struct keeping *keeping) {
    const uint64_t now = (uint64_t)now_ms();
    if (!keeping->every_ms || !keeping->lines || keeping->code) return -1;
    if (now >= keeping->due) return 0;
    return keeping->due - now < 3600 * SECOND ? (int)(keeping->due - now) : 3600 * SECOND;
}

/* Before each read: until there is something to read, or a signal. A source that has nothing for a
 * while does not keep what came before from being saved. */
static bool await_input(void *with, int fd) {
    struct keeping *keeping = with;
    struct pollfd files[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd(), .events = POLLIN}};
    for (;;) {
        const int ready = poll(files, 2, time_left(keeping));
        if (is_stopped() || files[1].revents) return false;
        if (ready > 0) return true;
        if (ready == 0) keeping->code = keeping_after(keeping, 0);
    }
}

int keeping_start(struct keeping *keeping, struct keys *keys) {
    const struct args *args = keeping->args;
    const char *text = args->setting[OPT_SAVE_EVERY].text;
    keeping->is_usual = !text;
    keeping->every_ms = text ? 0 : USUAL_SECONDS * SECOND;
    if (text && !parse_when(keeping, text))
        return fail(args, "--save-every",
                    "\"%s\" is neither a duration (30s, 5min, 1h) nor a number of lines (0: only "
                    "at the end)",
                    text);
    const bool is_file = !keeping->image || !is_dash(image_target(args));
    const bool is_wanted = text || (!keys_can_again(keys) && !given(args, OPT_STRICT));
    keeping->is_on = is_file && is_wanted && (keeping->every_ms || keeping->every_lines);
    if (!keeping->is_on) return 0;
    const int code = keeping->image ? image_hold_output(keeping->image, args) : 0;
    if (code) return code;
    if (stop_fd() < 0) return fail(args, NULL, "cannot create a pipe");
    keeping->due = (uint64_t)now_ms() + keeping->every_ms;
    keys->await = await_input;
    keys->await_with = keeping;
    catch_signals();
    return 0;
}

/* ---- An image and its keys ---- */

int changing_open(struct changing *changing, const struct args *args, enum tamis_ability ability,
                  const char *to_do) {
    struct image *image = &changing->image;
    *changing = (struct changing){.keeping = {.args = args, .image = image}};
    int code = keys_open(&changing->keys, args, 1);
    if (!code) code = image_open_to_change(image, args);
    if (!code) code = image_needs(args, image, ability, to_do);
    if (!code) code = set_notes(args, image->filter);
    if (!code) code = keeping_start(&changing->keeping, &changing->keys);
    keys_hash_by(&changing->keys, image->filter);
    if (ability == TAMIS_CAN_ADD && !given(args, OPT_NEW))
        changing->keys.several.use = ADDS_SEVERAL;
    if (ability == TAMIS_CAN_REMOVE) changing->keys.several.use = TAKES_SEVERAL;
    return code;
}

int changing_run(struct changing *changing, int (*take)(void *with, struct batch *batch),
                 void *with) {
    const struct handler handler = {
        .take = take, .after = keeping_after, .after_with = &changing->keeping, .with = with};
    return keys_run(&changing->keys, &handler);
}

void changing_close(struct changing *changing) {
    image_close(&changing->image);
    keys_close(&changing->keys);
}
