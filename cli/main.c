/* SPDX-License-Identifier: MIT */
/* main.c: the command `tamis`. Finds the verb, lets the table-driven parser read the rest, runs it.
 *
 * Signals keep their usual meaning, which is all that is needed: a pipe that nobody reads or a
 * Ctrl-C ends the process at once and without words (the shell sees 141 and 130). No file can be
 * left half-written by that: signals.c holds signals back while one is written, and where that
 * takes long they stop the work first.
 */
#include "cli/cli.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The room in a pipe. With the usual 4 KiB, 79 MB of matching lines took 2.3 s instead of 0.9 s. */
enum { OUTPUT_BUFFER = 64 * 1024 };

/* A complaint is made of several words and should still reach a log as one line. */
enum { ERROR_BUFFER = 4096 };

static int print_version(void) {
    printf("tamis %d.%d.%d\n", TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR, TAMIS_VERSION_PATCH);
    printf("library %s with %zu kinds\n", tamis_version(), tamis_kind_count());
#if defined(__clang__)
    printf("built by clang %d.%d", __clang_major__, __clang_minor__);
#elif defined(__GNUC__)
    printf("built by gcc %d.%d", __GNUC__, __GNUC_MINOR__);
#else
    printf("built");
#endif
    printf(" for %zu-bit\nprocessor: %s\n", sizeof(void *) * 8, tamis_cpu());
    printf("input: %s\n", keys_packings());
    printf("signatures: %s\n", seal_library() ? seal_library() : "none");
    return EXIT_FOUND;
}

static int run_verb(const struct verb *verb, const char *called, int argc, char **argv) {
    struct args args;
    int code = args_parse(&args, verb, called, argc, argv);
    if (!code && args.help != HELP_NONE) {
        help_verb(stdout, verb, args.help);
    } else if (!code && !(code = secret_read(&args))) {
        progress_start(&args);
        code = verb->run(&args);
        progress_end();
    }
    args_free(&args);
    return code;
}

/* An option before the verb. */
static int run_option(const char *option) {
    if (strcmp(option, "--version") == 0 || strcmp(option, "-V") == 0) return print_version();
    if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0) {
        help_overview(stdout, option[1] == 'h' ? HELP_SHORT : HELP_FULL);
        return EXIT_FOUND;
    }
    const struct args no_verb = {0};
    return fail(&no_verb, NULL, "%s: the command comes first: tamis COMMAND [OPTION...]", option);
}

/* A parent may have closed some of 0, 1 and 2. The next file opened would then take that number,
 * and words for stderr would end up in it. These refuse the wrong direction, so errors show. */
static void keep_streams_open(void) {
    static const int mode[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", mode[fd]);
}

int main(int argc, char **argv) {
    keep_streams_open();
    setvbuf(stderr, NULL, _IOLBF, ERROR_BUFFER);
    if (!isatty(STDOUT_FILENO)) setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
    if (argc < 2) {
        help_overview(stderr, HELP_SHORT);
        return EXIT_TROUBLE;
    }

    const char *word = argv[1];
    const struct verb *verb = verb_named(word);
    int code;
    if (verb)
        code = run_verb(verb, word, argc - 2, argv + 2);
    else if (word[0] == '-')
        code = run_option(word);
    else
        code = fail_verb(&(struct args){0}, word);
    code = finish_output(verb, code);
    end_if_stopped();
    return code;
}
