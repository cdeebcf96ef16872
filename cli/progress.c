/* progress.c: one line on the terminal while a build takes long.
 *
 * It is for eyes only: nothing of it in a file or a pipe, nothing before a second has passed, and
 * whatever else is said first wipes it away. There is one terminal, hence one state.
 */
#include "cli/cli.h"

#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, NEXT_MS = 100, WIDTH = 60 };

static struct {
    bool is_wanted, is_shown;
    int64_t due_ms;
} progress;

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_start(const struct args *args) {
    progress.is_wanted = !given(args, OPT_QUIET) && isatty(STDERR_FILENO);
    if (progress.is_wanted) progress.due_ms = now_ms() + FIRST_MS;
}

void progress_show(const char *what, uint64_t done, uint64_t total) {
    if (!progress.is_wanted || now_ms() < progress.due_ms) return;
    char line[WIDTH + 1];
    if (total > 0)
        snprintf(line, sizeof line, "%s %.0f %%", what, 100 * (double)done / (double)total);
    else
        snprintf(line, sizeof line, "%s %s", human_count(done).text, what);
    fprintf(stderr, "\r%-*s\r%s", WIDTH, "", line);
    fflush(stderr);
    progress.is_shown = true;
    progress.due_ms = now_ms() + NEXT_MS;
}

void progress_wipe(void) {
    if (progress.is_shown) fprintf(stderr, "\r%-*s\r", WIDTH, "");
    progress.is_shown = false;
}
