/* SPDX-License-Identifier: MIT */
/* Builds that are killed: in every sort of system call, half-way through what is written, and in
 * reports of progress. Whenever it happens, the name leads to the old image or to the whole new
 * one; and after the next build no temporary file is left, beside it or where the records were. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/faults.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/temp_dir.h"

enum { OLD = 700, NEW = 36000 }; /* of the new ones some thousand go to disk */

static char dir[TEST_FOLDER_BYTES], out[80], temp[80], path[128];

static void demand(bool is_good, const char *what) {
    if (is_good) return;
    printf("Bail out! %s: %s\n", what, tamis_why());
    exit(1);
}

/* ---- Building ------------------------------------------------------------------------------- */

static int reports, killed_at;

static bool die_at(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total) {
    (void)ctx, (void)stage, (void)done, (void)total;
    if (++reports == killed_at) raise(SIGKILL);
    return true;
}

static void build(const char *spec, uint64_t n, unsigned threads) {
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .memory_limit = 1 << 20,
                                                  .temp_dir = temp,
                                                  .threads = threads,
                                                  .verify = true,
                                                  .progress = die_at};
    static uint64_t hashes[NEW];
    tamis_builder *b;
    for (uint64_t i = 0; i < n; i++) hashes[i] = test_number(1, i);
    demand(tamis_builder_create_with(&b, spec, &options) == TAMIS_OK, spec);
    demand(tamis_builder_add_hashes(b, hashes, n) == TAMIS_OK, "add");
    demand(tamis_builder_finish_to(b, path) == TAMIS_OK, "finish");
    tamis_builder_free(b);
}

/* When to die: in the n-th call of that name, or, without a name, in the n-th report. */
typedef struct moment {
    const char *call;
    int at;
} moment;

/* In a process of its own; false when it came to its end. */
static bool build_and_die(const char *spec, moment m) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        reports = 0;
        killed_at = m.call ? 0 : m.at;
        fault.only = m.call;
        fault.kills = fault.is_on = m.call != NULL;
        fault.fail_at = m.at;
        build(spec, NEW, m.call ? 1 : 3); /* calls are counted by one thread */
        _exit(0);
    }
    int status = 0;
    demand(child > 0 && waitpid(child, &status, 0) == child, "fork");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
    demand(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the build went wrong by itself");
    return false;
}

/* ---- Afterwards ----------------------------------------------------------------------------- */

/* Reads what is under the name: whole, and all of the old or all of the new. */
static const char *what_is_wrong(void) {
    tamis *f;
    if (tamis_read(&f, path)) return tamis_why();
    const uint64_t items = test_info(f).items;
    const char *what = items == OLD || items == NEW ? NULL : "an image of another size";
    for (uint64_t i = 0; i < items && !what; i++)
        if (!tamis_has_hash(f, test_number(1, i))) what = "a key is lost";
    tamis_free(f);
    return what;
}

typedef struct tally {
    int killed, left; /* processes, and times that a file lay about */
} tally;

/* Dies, is looked at, and is followed by a build that lives. */
static const char *try_at(const char *spec, moment m, tally *t, bool *is_dead) {
    build(spec, OLD, 1);
    *is_dead = build_and_die(spec, m);
    const char *what = what_is_wrong();
    if (what || !*is_dead) return what;
    t->killed++;
    t->left += test_files_in(out) != 1 || test_files_in(temp) != 0;
    build(spec, NEW, 1);
    if (test_files_in(out) != 1 || test_files_in(temp) != 0)
        return "a file lies about after a build";
    return what_is_wrong();
}

static const char *try_all(const char *spec, const char *call, int step, tally *t) {
    bool is_dead = true;
    const char *what = NULL;
    for (int at = 1; is_dead && !what; at += step)
        what = try_at(spec, (moment){call, at}, t, &is_dead);
    return what ? what : t->killed ? NULL : "nobody was killed";
}

static const struct {
    const char *name; /* NULL: a report of progress */
    int step;         /* each of them, or every so many of those that are all alike */
} calls[] = {{"open", 1},  {"flock", 1},  {"fstat", 1}, {"unlink", 1}, {"write", 2},  {"lseek", 1},
             {"fsync", 1}, {"rename", 1}, {"close", 1}, {"pwrite", 9}, {"pread", 47}, {NULL, 23}};

int main(void) {
    /* The second is written at once: nobody goes back to its header. */
    static const char *const specs[] = {"sorted:segment=4096", "quotient"};
    int test = 0, code = 0;
    strcpy(dir, "/tmp/tamis-killed-XXXXXX");
    demand(mkdtemp(dir) != NULL, "mkdtemp");
    snprintf(out, sizeof out, "%s/out", dir);
    snprintf(temp, sizeof temp, "%s/temp", dir);
    snprintf(path, sizeof path, "%s/a.tamis", out);
    demand(mkdir(out, 0777) == 0 && mkdir(temp, 0777) == 0, "mkdir");
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
            tally t = {0};
            if (s == 1 && calls[c].name && strcmp(calls[c].name, "lseek") == 0) continue;
            const char *what = try_all(specs[s], calls[c].name, calls[c].step, &t);
            printf("%sok %d - %s dies in %s, %d times, %d with a file left until the next build\n",
                   what ? "not " : "", ++test, specs[s], calls[c].name ? calls[c].name : "a report",
                   t.killed, t.left);
            if (what) printf("# after %d: %s\n", t.killed, what);
            code |= what != NULL;
        }
    printf("1..%d\n", test);
    return test_leave_dir(dir) || code;
}
