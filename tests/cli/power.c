/* SPDX-License-Identifier: MIT */
/* The command, with what a power loss or somebody else may do to it. It is `tamis`, until one of
 * these is in its environment:
 *
 *     TAMIS_POWER=FILE       a line about all that may be left of its directory goes to FILE
 *     TAMIS_MIXES=NUMBER     how often writes that were not flushed come out each by itself
 *     TAMIS_MEANWHILE=WORDS  the shell runs them once, when a new file is there and has no name */
#include "tests/support/power.h"

static void run_meanwhile(void) {
    meanwhile = NULL;
    if (system(getenv("TAMIS_MEANWHILE")) != 0) abort();
}

/* Without flushes, or with flushes in other places. */
static bool is_safe_anyhow(void) {
    return is_safe_without(-1, SYNC) || is_safe_without(-1, SYNC_FOLDER) ||
           is_safe_in_other_order();
}

static void tell(FILE *out, int mixes) {
    const char *missed = journal_misses();
    if (missed) {
        fprintf(out, "a call went past the journal: %s\n", missed);
        return;
    }
    const outcome all = lose_power(journal.ops, journal.count, mixes);
    if (all.bad_at >= 0) {
        fprintf(out, "after %d of %d calls %s is neither old nor new\n", all.bad_at, journal.count,
                all.bad_name);
        return;
    }
    if (is_safe_anyhow())
        fprintf(out, "nothing would be lost without its flushes\n");
    else
        fprintf(out, "%llu points, %llu states\n", (unsigned long long)all.points,
                (unsigned long long)all.states);
}

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv) {
    const char *path = getenv("TAMIS_POWER"), *mixes = getenv("TAMIS_MIXES");
    if (getenv("TAMIS_MEANWHILE")) meanwhile = run_meanwhile;
    if (!path) return __real_main(argc, argv);
    journal_start(".");
    const int code = __real_main(argc, argv);
    journal_stop();
    FILE *out = fopen(path, "a");
    if (!out) abort();
    tell(out, mixes ? atoi(mixes) : 1);
    fclose(out);
    return code;
}
