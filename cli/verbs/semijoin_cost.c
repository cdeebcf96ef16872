/* SPDX-License-Identifier: MIT */
/* semijoin_cost.c: how good the filter should be. */
#include "cli/verbs/semijoin.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a side is a pipe: LEFT is the larger one, or it would not be worth a filter. */
static const double usual_ratio = 10, usual_line_bytes = 32;

/* A line that is lost is worse than one too many: with --anti the rate is no higher than this. */
static const double max_anti_fpr = 1e-6;

static const double best_fpr = 1e-9, worst_fpr = 0.5;

/* What a file is like, by its length and its start. */
struct side {
    bool is_known;
    double lines, line_bytes;
};

static struct side side_of(const char *path, char line_end) {
    char start[64 * 1024];
    struct stat status;
    const bool is_stdin = strcmp(path, "-") == 0;
    const int missing = is_stdin ? fstat(STDIN_FILENO, &status) : stat(path, &status);
    /* Whoever opens a pipe and closes it takes it from its writer. */
    if (missing || !S_ISREG(status.st_mode)) return (struct side){0};
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    /* Not read: that would move standard input. */
    const ssize_t got = fd >= 0 ? pread(fd, start, sizeof start, 0) : -1;
    if (fd >= 0 && !is_stdin) close(fd);
    if (got < 0) return (struct side){0};
    double ends = 0;
    for (ssize_t i = 0; i < got; i++) ends += start[i] == line_end;
    const double line_bytes = got > 0 ? (double)got / fmax(ends, 1) : usual_line_bytes;
    return (struct side){.is_known = true,
                         .line_bytes = line_bytes,
                         .lines = ceil((double)status.st_size / line_bytes)};
}

struct cost cost_of(const struct args *args, char line_end) {
    const struct side left = side_of(args->operand[0], line_end);
    const struct side right = side_of(args->operand[1], line_end);
    const double line_bits = 8 * (left.is_known ? left.line_bytes : usual_line_bytes);
    const double ratio =
        left.is_known && right.is_known ? right.lines / fmax(left.lines, 1) : 1 / usual_ratio;
    const double best = ratio / (line_bits * M_LN2 * M_LN2);
    const double fpr = best < 1 ? fmin(fmax(best, best_fpr), worst_fpr) : 1;
    const bool may_lose = given(args, OPT_ANTI) && !given(args, OPT_EXACT);
    if (given(args, OPT_FPR)) return (struct cost){args->setting[OPT_FPR].rate, BY_USER};
    if (may_lose && fpr < 1 && fpr > max_anti_fpr) return (struct cost){max_anti_fpr, BY_ANTI};
    return (struct cost){fpr, BY_MODEL};
}
