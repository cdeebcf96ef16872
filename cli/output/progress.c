/* SPDX-License-Identifier: MIT */
/* progress.c: how far the work is, for a waiting user.
 *
 * A thread of its own watches. On a terminal it draws one line, from the second second on and at
 * most ten times a second; anywhere, it prints one line for each SIGUSR1, as dd does. The work only
 * leaves numbers where the watcher finds them, so it does not matter what the work waits for: a
 * slow pipe, a reader that does not read, or an hour of sorting. The signal arrives in the watcher
 * alone, whose handler only writes a byte to the pipe on which it sleeps: no call of the work is
 * ever interrupted.
 *
 * A lock keeps the line and other words apart. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, NEXT_MS = 100, BAR = 24 };

/* What the pipe says. */
enum { TELL = 't', END = 'e' };

static struct {
    _Atomic(const char *) doing; /* what is under way, NULL for nothing */
    /* Said aloud, because compilers for 32 bits have changed their mind about it. */
    _Alignas(8) _Atomic uint64_t lines, done, total;
    _Alignas(8) _Atomic int64_t since_ms; /* when that began */

    const char *verb;
    const char *unit; /* lines, or keys where they are none */
    int64_t start_ms;
    bool draws, shares_stdout; /* the terminal */
    int width;                 /* of the line on the terminal now, 0 for none: under the lock */

    pthread_mutex_t lock; /* a recursive one */
    bool is_watched;
    int pipe[2];
    pthread_t watcher;
} progress;

static const char reading[] = "reading";

/* ---- Words ---- */

/* What there is to tell, read once. */
struct state {
    const char *doing;
    uint64_t lines, done, total;
    double seconds;
};

static struct state look(void) {
    struct state state = {.doing = progress.doing,
                          .lines = progress.lines,
                          .done = progress.done,
                          .total = progress.total};
    const int64_t since = state.doing ? progress.since_ms : progress.start_ms;
    state.seconds = (double)(now_ms() - since) / 1000;
    if (state.done > state.total && state.total > 0) state.total = 0; /* The file has grown. */
    return state;
}

static double each_second(const struct state *state, uint64_t count) {
    return state->seconds > 0 ? (double)count / state->seconds : 0;
}

/* 950, 3.40 M */
static struct human short_count(double count) {
    static const char *const units[] = {"k", "M", "G", "T"};
    if (count < 999.5) return human_words("%.0f", count);
    size_t unit = 0;
    for (count /= 1000; count >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        count /= 1000;
    return human_words("%s %s", human_decimal(count).text, units[unit]);
}

static struct human clock_time(double seconds) {
    const unsigned whole = seconds < 1e9 ? (unsigned)seconds : 1000000000, rest = whole % 3600;
    if (whole < 3600) return human_words("%u:%02u", rest / 60, rest % 60);
    return human_words("%u:%02u:%02u", whole / 3600, rest / 60, rest % 60);
}

/* The line leaves the terminal; with the lock held. */
static void wipe(void) {
    if (progress.width > 0) {
        fprintf(stderr, "\r%*s\r", progress.width, "");
        fflush(stderr);
    }
    progress.width = 0;
}

/* "check: 3,400,000 lines, 81.1 MiB of 238 MiB, 12.3 s, 6.59 MiB/s" */
static void tell(void) {
    const struct state state = look();
    pthread_mutex_lock(&progress.lock);
    wipe();
    fprintf(stderr, "%s: ", progress.verb);
    if (state.doing == reading) {
        fprintf(stderr, "%s %s, %s", human_count(state.lines).text, progress.unit,
                human_bytes(state.done).text);
        if (state.total > 0) fprintf(stderr, " of %s", human_bytes(state.total).text);
        fprintf(stderr, ", %.1f s, %s/s\n", state.seconds,
                human_bytes((uint64_t)each_second(&state, state.done)).text);
    } else {
        if (state.doing) fprintf(stderr, "%s, ", state.doing);
        if (state.doing && state.total > 0)
            fprintf(stderr, "%.0f %%, ", 100 * (double)state.done / (double)state.total);
        fprintf(stderr, "%.1f s\n", state.seconds);
    }
    pthread_mutex_unlock(&progress.lock);
}

/* ---- The line on the terminal ---- */

static int columns(void) {
    struct winsize size;
    const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : 80;
}

/* "check [#####...]  45 %  6.59 M lines/s  0:12, 0:15 left" */
static struct human line_of(const struct state *state) {
    const bool is_reading = state->doing == reading;
    struct human line = human_words("%s%s%s", progress.verb, is_reading ? "" : ": ",
                                    is_reading ? "" : state->doing);
    if (state->total > 0) {
        const double share = (double)state->done / (double)state->total;
        char bar[BAR + 1] = {0};
        for (int i = 0; i < BAR; i++) bar[i] = i < (int)(share * BAR) ? '#' : '.';
        line = human_words("%s [%s] %3.0f %%", line.text, bar, 100 * share);
    } else if (is_reading) {
        line = human_words("%s  %s %s", line.text, human_count(state->lines).text, progress.unit);
    }
    if (is_reading)
        line = human_words("%s  %s %s/s", line.text,
                           short_count(each_second(state, state->lines)).text, progress.unit);
    line = human_words("%s  %s", line.text, clock_time(state->seconds).text);
    if (state->total == 0 || state->done == 0) return line;
    const double left = (double)(state->total - state->done) / (double)state->done;
    return human_words("%s, %s left", line.text, clock_time(left * state->seconds).text);
}

/* The cursor stays at the end, where a Ctrl-C shows best. */
static void draw(void) {
    /* Somebody else has the terminal while this runs in the background. */
    if (tcgetpgrp(STDERR_FILENO) != getpgrp()) return;
    const struct state state = look();
    if (!state.doing) return;
    const struct human line = line_of(&state);
    const int room = columns() - 1, len = (int)strlen(line.text);
    pthread_mutex_lock(&progress.lock);
    if (progress.doing) { /* still */
        const int width = len < room ? len : room;
        const int left_over = progress.width > width ? progress.width - width : 0;
        fprintf(stderr, "\r%.*s%*s", width, line.text, left_over, "");
        for (int i = 0; i < left_over; i++) putc('\b', stderr);
        fflush(stderr);
        progress.width = width;
    }
    pthread_mutex_unlock(&progress.lock);
}

static bool concerns(FILE *out) {
    return progress.is_watched && (out == stderr || progress.shares_stdout);
}

void progress_hold(FILE *out) {
    if (!concerns(out)) return;
    pthread_mutex_lock(&progress.lock);
    wipe();
}

void progress_release(FILE *out) {
    if (concerns(out)) pthread_mutex_unlock(&progress.lock);
}

/* ---- The watcher ---- */

/* How long to sleep at most; -1: forever. */
static int patience(void) {
    if (!progress.draws) return -1;
    const int64_t early = progress.start_ms + FIRST_MS - now_ms();
    return early > NEXT_MS ? (int)early : NEXT_MS;
}

/* The signals that ask how far the work is. */
static const int questions[] = {
    SIGUSR1,
#ifdef SIGINFO
    SIGINFO, /* Ctrl-T, where there is one */
#endif
};
enum { QUESTIONS = sizeof questions / sizeof questions[0] };

static void mask_questions(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < QUESTIONS; i++) sigaddset(&set, questions[i]);
    pthread_sigmask(how, &set, NULL);
}

static void *watch(void *nothing) {
    bool is_over = false;
    mask_questions(SIG_UNBLOCK);
    while (!is_over) {
        struct pollfd wanted = {.fd = progress.pipe[0], .events = POLLIN};
        const int came = poll(&wanted, 1, patience());
        char asked[16];
        const ssize_t n = came > 0 ? read(progress.pipe[0], asked, sizeof asked) : 0;
        if (n > 0 && memchr(asked, TELL, (size_t)n)) tell();
        is_over = n > 0 && memchr(asked, END, (size_t)n);
        if (came == 0) draw();
    }
    return nothing;
}

static void ask_watcher(int signal) {
    const int error = errno;
    (void)signal;
    (void)!write(progress.pipe[1], &(char){TELL}, 1);
    errno = error;
}

static void catch_question(int signal) {
    struct sigaction action = {.sa_handler = ask_watcher, .sa_flags = SA_RESTART}, usual;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, NULL, &usual) == 0 && usual.sa_handler != SIG_IGN)
        sigaction(signal, &action, NULL);
}

static bool make_pipe(void) {
    if (pipe(progress.pipe) < 0) return false;
    for (int i = 0; i < 2; i++) {
        fcntl(progress.pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(progress.pipe[i], F_SETFL, O_NONBLOCK); /* A handler must not wait. */
    }
    return true;
}

static bool make_lock(void) {
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind) != 0) return false;
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    const bool is_made = pthread_mutex_init(&progress.lock, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    return is_made;
}

/* Without a pipe or a thread there is no progress to see, and nothing else is lost. */
void progress_start(const struct args *args) {
    if (progress.is_watched) return;
    const bool is_silent = given(args, OPT_QUIET) || given(args, OPT_NO_PROGRESS);
    progress.verb = args->verb->name;
    progress.unit = given(args, OPT_NULL) ? "keys" : "lines";
    progress.draws = !is_silent && isatty(STDERR_FILENO);
    progress.shares_stdout = progress.draws && isatty(STDOUT_FILENO);
    progress.start_ms = now_ms();
    if (!make_pipe() || !make_lock()) return;
    mask_questions(SIG_BLOCK); /* for good: afterwards there is no thread left to answer */
    for (size_t i = 0; i < QUESTIONS; i++) catch_question(questions[i]);
    progress.is_watched = start_thread(&progress.watcher, watch, NULL);
}

void progress_end(void) {
    if (!progress.is_watched) return;
    progress_wipe();
    (void)!write(progress.pipe[1], &(char){END}, 1);
    pthread_join(progress.watcher, NULL);
    progress.is_watched = false;
}

/* ---- What the work says ---- */

/* Relaxed: numbers that are a moment old, or not of the same moment, are good enough. */
static void set(_Atomic uint64_t *number, uint64_t value) {
    atomic_store_explicit(number, value, memory_order_relaxed);
}

static void begin(const char *doing) {
    set(&progress.lines, 0), set(&progress.done, 0), set(&progress.total, 0);
    progress.since_ms = now_ms();
    progress.doing = doing;
}

void progress_show(const char *what, uint64_t done, uint64_t total) {
    const char *doing = progress.doing;
    if (doing != what) begin(what);
    set(&progress.done, done);
    set(&progress.total, total);
}

void progress_reading(uint64_t bytes) {
    begin(reading);
    set(&progress.total, bytes);
}

void progress_lines(uint64_t lines) {
    set(&progress.lines, lines);
}

void progress_bytes(uint64_t bytes) {
    set(&progress.done, bytes);
}

void progress_wipe(void) {
    progress.doing = NULL;
    progress_hold(stderr);
    progress_release(stderr);
}
