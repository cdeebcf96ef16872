/* SPDX-License-Identifier: MIT */
/* Many writers on one image, some of which are killed: in a system call of any sort, half-way
 * through what is written, or, where the command is the writer, whenever it happens.
 *
 * Each run starts with an image and 2 to 8 writers. Writers through the library hold, read, add,
 * save and let go some times; those through the command are `tamis add` and `tamis set-data`. What
 * a writer has acknowledged is written down in memory that outlives it. Afterwards the image must
 * pass the gate and have every acknowledged key, and one more write leaves nothing but the image.
 *
 *     writers [RUNS] [SEED]     with $TAMIS every eighth run has writers through the command */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "tamis_edit.h"
#include "tests/support/faults.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/temp_dir.h"

#ifdef TAMIS_SHORT
enum { TAMIS_RUNS = 60 };
#else
enum { TAMIS_RUNS = 1000 };
#endif
enum { MAX_WRITERS = 8, EDITS = 4, KEYS = 50, CALLS = 160 };

static char dir[TEST_FOLDER_BYTES], path[128], lists[128];
static const char *command;

/* How many edits of each writer were acknowledged; shared with all of them. */
static volatile int *acknowledged;

static void demand(bool is_good, const char *what) {
    if (is_good) return;
    printf("Bail out! %s: %s\n", what, tamis_why());
    exit(1);
}

static uint64_t seed, drawn;

static uint64_t draw(uint64_t below) {
    return test_number(seed, drawn++) % below;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* Keys are text, so that the command can add them too. */
static void key_of(char text[64], int writer, int edit, int i) {
    snprintf(text, 64, "writer %d, edit %d, key %d", writer, edit, i);
}

static tamis_status edit_once(int writer, int number) {
    const struct tamis_edit_options options = {.struct_size = sizeof options, .wait_ms = 600000};
    tamis_edit *edit;
    tamis *f = NULL;
    char key[64];
    tamis_status rc = tamis_edit_open(&edit, path, &options);
    if (!rc) rc = tamis_edit_read(edit, &f);
    for (int i = 0; i < KEYS && !rc; i++) {
        key_of(key, writer, number, i);
        rc = tamis_add(f, key, strlen(key));
    }
    if (!rc) rc = tamis_edit_save(edit, f);
    tamis_free(f);
    tamis_edit_close(edit);
    return rc;
}

static void write_by_library(int writer, int dies_at) {
    fault.fail_at = dies_at;
    fault.is_on = fault.kills = dies_at > 0;
    for (int i = 0; i < EDITS; i++) {
        if (edit_once(writer, i)) _exit(1);
        acknowledged[writer]++;
    }
    _exit(0);
}

/* All edits of a writer at once, from a list that is there before the run. */
enum verb { NO_VERB, ADD, ADD_NEW, SET_DATA };

static void write_by_command(int writer, enum verb verb) {
    char list[160];
    snprintf(list, sizeof list, "%s/%d", lists, writer);
    if (verb == SET_DATA) {
        if (!freopen(list, "r", stdin)) _exit(1);
        execl(command, "tamis", "set-data", "--wait", "600", path, (char *)NULL);
    }
    if (verb == ADD_NEW && !freopen("/dev/null", "w", stdout)) _exit(1);
    if (verb == ADD_NEW)
        execl(command, "tamis", "add", "-q", "--new", "--wait", "600", path, list, (char *)NULL);
    execl(command, "tamis", "add", "-q", "--wait", "600", path, list, (char *)NULL);
    _exit(127);
}

/* ---- A run ---------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t writers, killed, keys, left;
} tally;

/* The image passes the gate and has what was acknowledged. */
static const char *what_is_wrong(int writers, tally *t) {
    static char what[160];
    char key[64];
    tamis *f;
    if (tamis_read(&f, path)) return tamis_why();
    what[0] = '\0';
    for (int w = 0; w < writers; w++)
        for (int e = 0; e < acknowledged[w]; e++)
            for (int i = 0; i < KEYS; i++, t->keys++) {
                key_of(key, w, e, i);
                if (!tamis_has(f, key, strlen(key)))
                    snprintf(what, sizeof what, "\"%s\" is lost", key);
            }
    tamis_free(f);
    return what[0] ? what : NULL;
}

static void start_over(void) {
    tamis *f;
    demand(tamis_create(&f, "blocked:capacity=10k,fpr=1e-6") == TAMIS_OK, "create");
    demand(tamis_save(f, path) == TAMIS_OK, "save");
    tamis_free(f);
}

static const char *run(tally *t, bool has_command) {
    const int writers = 2 + (int)draw(MAX_WRITERS - 1);
    pid_t process[MAX_WRITERS];
    enum verb verb[MAX_WRITERS];
    start_over();
    for (int w = 0; w < writers; w++) {
        const int dies_at = draw(2) ? 1 + (int)draw(CALLS) : 0;
        verb[w] = has_command ? (enum verb)draw(4) : NO_VERB;
        acknowledged[w] = 0;
        fflush(stdout);
        process[w] = fork();
        demand(process[w] >= 0, "fork");
        if (process[w] == 0 && verb[w]) write_by_command(w, verb[w]);
        if (process[w] == 0) write_by_library(w, dies_at);
    }
    for (int w = 0; w < writers; w++)
        if (verb[w] && draw(2)) {
            nanosleep(&(struct timespec){.tv_nsec = (long)draw(8000000)}, NULL);
            kill(process[w], SIGKILL);
        }
    for (int w = 0; w < writers; w++) {
        int status;
        demand(waitpid(process[w], &status, 0) == process[w], "wait");
        const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        t->writers++;
        t->killed += is_killed;
        if (!is_killed && status != 0) return "a writer failed by itself";
        if (!is_killed && (verb[w] == ADD || verb[w] == ADD_NEW)) acknowledged[w] = EDITS;
    }
    const char *what = what_is_wrong(writers, t);
    t->left += test_files_in(dir) > 2;
    if (!what && edit_once(MAX_WRITERS, 0)) what = tamis_why();
    if (!what && test_files_in(dir) != 2) what = "a file lies about after the next write";
    return what;
}

static void write_lists(void) {
    char name[160], key[64];
    demand(mkdir(lists, 0777) == 0, "mkdir");
    for (int w = 0; w < MAX_WRITERS; w++) {
        snprintf(name, sizeof name, "%s/%d", lists, w);
        FILE *out = fopen(name, "w");
        demand(out != NULL, name);
        for (int e = 0; e < EDITS; e++)
            for (int i = 0; i < KEYS; i++) key_of(key, w, e, i), fprintf(out, "%s\n", key);
        fclose(out);
    }
}

int main(int argc, char **argv) {
    const int runs = argc > 1 ? atoi(argv[1]) : TAMIS_RUNS;
    tally t = {0};
    const char *what = NULL;
    int done = 0;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 19;
    command = getenv("TAMIS");
    demand(test_enter_dir(dir), "a folder");
    snprintf(path, sizeof path, "%s/a.tamis", dir);
    snprintf(lists, sizeof lists, "%s/lists", dir);
    write_lists();
    acknowledged = mmap(NULL, sizeof(int) * MAX_WRITERS, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    demand((void *)acknowledged != MAP_FAILED, "memory");
    for (; done < runs && !what; done++) what = run(&t, command && done % 8 == 7);
    if (what) printf("# run %d of seed %llu: %s\n", done, (unsigned long long)seed, what);
    printf(
        "%sok 1 - %d runs, %llu writers, %llu of them killed, %llu acknowledged keys, none lost; "
        "%llu times a file lay about until the next write\n",
        what ? "not " : "", done, (unsigned long long)t.writers, (unsigned long long)t.killed,
        (unsigned long long)t.keys, (unsigned long long)t.left);
    const bool is_tried = t.killed > 0 && t.killed < t.writers && t.left > 0;
    printf("%sok 2 - writers died, and left files\n1..2\n", is_tried ? "" : "not ");
    return test_leave_dir(dir) || what || !is_tried;
}
