/* report.c: what the command says on stderr, and the end of what it says on stdout.
 *
 * Every error is one line, "tamis: VERB: FILE: sentence", so that a log shows at once who
 * complains about what.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static void print_start(const struct args *args, const char *file) {
    progress_wipe();
    fputs("tamis: ", stderr);
    if (args->verb) fprintf(stderr, "%s: ", args->verb->name);
    if (file) fprintf(stderr, "%s: ", file);
}

int fail(const struct args *args, const char *file, const char *format, ...) {
    va_list values;
    va_start(values, format);
    print_start(args, file);
    vfprintf(stderr, format, values);
    putc('\n', stderr);
    va_end(values);
    return EXIT_TROUBLE;
}

const char *why_without_file(const char *file) {
    const char *why = tamis_why();
    const size_t len = strlen(file);
    const bool is_named = strncmp(why, file, len) == 0 && why[len] == ':';
    return is_named ? why + len + 1 + strspn(why + len + 1, " ") : why;
}

int fail_why(const struct args *args, const char *file, tamis_status status) {
    const bool lacks_secret = status == TAMIS_SECRET && !args->has_secret;
    return fail(args, file, "%s%s", file ? why_without_file(file) : tamis_why(),
                lacks_secret ? "; name its file with --secret-file" : "");
}

int fail_memory(const struct args *args) {
    return fail(args, NULL, "out of memory");
}

void warn(const struct args *args, const char *file, const char *format, ...) {
    if (given(args, OPT_QUIET)) return;
    va_list values;
    va_start(values, format);
    print_start(args, file);
    fputs("warning: ", stderr);
    vfprintf(stderr, format, values);
    putc('\n', stderr);
    va_end(values);
}

const char *input_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *output_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

int finish_output(const char *verb, int code) {
    const bool had_error = ferror(stdout) != 0;
    const int had_errno = errno;
    const bool is_closed = fclose(stdout) == 0;
    if (!had_error && is_closed) return code;

    /* A reader that went away, as in "| head", has what it wanted: no words about it. */
    const int cause = is_closed ? had_errno : errno;
    if (cause != EPIPE)
        fprintf(stderr, "tamis: %s%sstandard output: %s\n", verb ? verb : "", verb ? ": " : "",
                strerror(cause));
    return EXIT_TROUBLE;
}
