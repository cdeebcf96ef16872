/* SPDX-License-Identifier: MIT */
/* fetch.c: files of a publisher. */
#include "cli/feeds/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static const char place[] = "{}";

/* ---- Where from ---- */

static bool is_url(const char *text) {
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

/* Text for a shell, between quotes. */
static void add_quoted(struct text *out, const char *words) {
    text_byte(out, '\'');
    for (; *words; words++)
        if (*words == '\'')
            text_words(out, "'\\''");
        else
            text_byte(out, *words);
    text_byte(out, '\'');
}

static char *curl_command(const char *url) {
    const size_t len = strlen(url);
    struct text out = {0};
    text_words(&out, "exec curl -fsS -- ");
    add_quoted(&out, url);
    text_words(&out, len && url[len - 1] == '/' ? place : "/{}");
    text_byte(&out, '\0');
    if (!out.is_short_of_memory) return out.bytes;
    text_free(&out);
    return NULL;
}

int source_open(struct source_of_feeds *source, const struct args *args) {
    const char *over = args->setting[OPT_OVER].text;
    *source = (struct source_of_feeds){.args = args, .name = over ? "--over" : args->operand[0]};
    if (over && !strstr(over, place))
        return fail(
            args, "--over",
            "the command has no {}, where the name of a file goes: 'ssh host cat feeds/{}'");
    if (!over && !is_url(source->name)) {
        source->dir = source->name;
        return 0;
    }
    source->command = over ? strdup(over) : curl_command(source->name);
    return source->command ? 0 : fail_memory(args);
}

void source_close(struct source_of_feeds *source) {
    free(source->command);
    source->command = NULL;
}

/* ---- Reading ---- */

/* One byte more than there may be tells that there are too many. The buffer grows with what
 * comes. */
static bool read_some(struct bytes *bytes, size_t *room, int fd, uint64_t max, bool *is_end,
                      struct human *why) {
    if (!list_grow(&bytes->at, room, bytes->size + 65536, 1)) {
        *why = human_words("out of memory");
        return false;
    }
    const ssize_t got = read(fd, bytes->at + bytes->size, *room - bytes->size);
    if (got < 0 && errno == EINTR) return true;
    if (got < 0) *why = human_words("cannot read: %s", strerror(errno));
    if (got < 0) return false;
    *is_end = got == 0;
    bytes->size += (size_t)got;
    if (bytes->size <= max) return true;
    *why = human_words("it is longer than %s bytes", human_count(max).text);
    return false;
}

/* A source that says nothing for that long says nothing at all. */
static bool read_all(const struct args *args, struct bytes *bytes, int fd, uint64_t max,
                     struct human *why) {
    const uint64_t seconds = number_or(args, OPT_TIMEOUT, 30);
    const int wait_ms = seconds < 86400 ? (int)seconds * 1000 : 86400 * 1000;
    size_t room = 0;
    bool is_end = false;
    while (!is_end) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        const int ready = poll(&poll_fd, 1, wait_ms);
        if (ready == 0) {
            *why = human_words("nothing came for %s s (see --timeout)", human_count(seconds).text);
            return false;
        }
        if (ready > 0 && !read_some(bytes, &room, fd, max, &is_end, why)) return false;
    }
    return true;
}

static bool fetch_file(const struct source_of_feeds *source, const char *name, uint64_t max,
                       struct bytes *bytes, struct human *why) {
    char path[PATH_MAX];
    struct stat status;
    const int len = snprintf(path, sizeof path, "%s/%s", source->dir, name);
    const int fd = len < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool is_good = fd >= 0 && fstat(fd, &status) == 0;
    if (!is_good)
        *why = human_words("cannot open: %s",
                           len < (int)sizeof path ? strerror(errno) : strerror(ENAMETOOLONG));
    if (is_good && !S_ISREG(status.st_mode)) {
        *why = human_words("not a regular file");
        is_good = false;
    }
    if (is_good) is_good = read_all(source->args, bytes, fd, max, why);
    if (fd >= 0) close(fd);
    return is_good;
}

/* ---- A command ---- */

static char *command_for(const struct source_of_feeds *source, const char *name) {
    struct text out = {0};
    const char *at = source->command;
    for (const char *next; (next = strstr(at, place)); at = next + strlen(place)) {
        text_add(&out, at, (size_t)(next - at));
        text_words(&out, name);
    }
    text_words(&out, at);
    text_byte(&out, '\0');
    if (!out.is_short_of_memory) return out.bytes;
    text_free(&out);
    return NULL;
}

static pid_t start_command(const char *command, int *from) {
    int ends[2];
    if (!open_pipe(ends)) return -1;
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_RDONLY);
        if (dup2(nothing, STDIN_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0) _exit(126);
        signal(SIGPIPE, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) close(ends[0]);
    *from = ends[0];
    return child;
}

/* What it printed counts only when it ends well: a transfer that broke off is none. */
static bool ended_well(pid_t child, bool is_good, struct human *why) {
    int status = 0;
    if (!is_good) kill(child, SIGTERM);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!is_good || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return is_good;
    *why = WIFEXITED(status)
               ? human_words("the command ended with exit status %d", WEXITSTATUS(status))
               : human_words("the command was ended by signal %d", WTERMSIG(status));
    return false;
}

static bool fetch_by_command(const struct source_of_feeds *source, const char *name, uint64_t max,
                             struct bytes *bytes, struct human *why) {
    int from = -1;
    char *command = command_for(source, name);
    const pid_t child = command ? start_command(command, &from) : -1;
    free(command);
    if (child < 0) {
        *why = human_words("cannot start a command: %s", strerror(errno));
        return false;
    }
    const bool is_good = read_all(source->args, bytes, from, max, why);
    close(from);
    return ended_well(child, is_good, why);
}

bool source_fetch(const struct source_of_feeds *source, const char *name, uint64_t max,
                  struct bytes *bytes, struct human *why) {
    *bytes = (struct bytes){.path = name};
    return source->dir ? fetch_file(source, name, max, bytes, why)
                       : fetch_by_command(source, name, max, bytes, why);
}
