/* SPDX-License-Identifier: MIT */
/* report.c: what the command says on stderr, and the end of what it says on stdout.
 *
 * Every error is one line, "tamis: VERB: FILE: sentence", so that a log shows at once who
 * complains about what. It comes after the lines that were printed before it.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static int output_errno; /* why stdout could not be flushed */

bool flush_output(void) {
    if (!ferror(stdout) && fflush(stdout) != 0) output_errno = errno;
    return !ferror(stdout);
}

void report_start(const struct args *args, const char *file) {
    flush_output();
    progress_hold(stderr);
    color_words(stderr, ROLE_TROUBLE, "tamis:");
    putc(' ', stderr);
    if (args->verb) fprintf(stderr, "%s: ", args->verb->name);
    if (file) fprintf(stderr, "%s: ", file);
}

void report_end(void) {
    putc('\n', stderr);
    progress_release(stderr);
}

static void report(const struct args *args, const char *file, bool is_caution, const char *format,
                   va_list values) {
    report_start(args, file);
    if (is_caution) {
        color_words(stderr, ROLE_CAUTION, "warning:");
        putc(' ', stderr);
    }
    vfprintf(stderr, format, values);
    report_end();
}

int fail(const struct args *args, const char *file, const char *format, ...) {
    va_list values;
    va_start(values, format);
    report(args, file, false, format, values);
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

int fail_verb(const struct args *args, const char *name) {
    const struct verb *meant = verb_meant(name);
    if (meant)
        return fail(args, NULL, "unknown command \"%s\"; did you mean \"%s\"?", name, meant->name);
    return fail(args, NULL, "unknown command \"%s\"; \"tamis help more\" lists them", name);
}

int fail_page(const struct args *args, const char *name) {
    const struct verb *verb = verb_meant(name);
    struct nearest nearest = {.typed = name};
    for (size_t i = 0; i < number_of_topics && !verb; i++) {
        const struct topic *topic = &topics[i];
        nearest_try(&nearest, topic->name);
        if (is_among(topic->also, name))
            nearest = (struct nearest){.typed = name, .name = topic->name};
    }
    const char *meant = verb ? verb->name : nearest.name;
    if (meant)
        return fail(args, NULL, "no page about \"%s\"; did you mean \"tamis help %s\"?", name,
                    meant);
    return fail(args, NULL, "no page about \"%s\"; \"tamis help more\" lists them", name);
}

void warn(const struct args *args, const char *file, const char *format, ...) {
    if (given(args, OPT_QUIET)) return;
    va_list values;
    va_start(values, format);
    report(args, file, true, format, values);
    va_end(values);
}

void caution(const struct args *args, const char *file, bool is_grave, const char *format, ...) {
    if (given(args, OPT_QUIET) && !is_grave) return;
    va_list values;
    va_start(values, format);
    report(args, file, true, format, values);
    va_end(values);
}

void remark(const struct args *args, const char *file, const char *format, ...) {
    if (given(args, OPT_QUIET)) return;
    va_list values;
    va_start(values, format);
    report(args, file, false, format, values);
    va_end(values);
}

const char *input_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *output_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

int finish_output(const struct verb *verb, int code) {
    const bool had_error = ferror(stdout) != 0;
    const int had_errno = output_errno ? output_errno : errno;
    const bool is_closed = fclose(stdout) == 0;
    if (!had_error && is_closed) return code;

    /* A reader that went away, as in "| head", has what it wanted: no words about it. */
    const int cause = is_closed ? had_errno : errno;
    const struct args by = {.verb = verb};
    return cause == EPIPE ? EXIT_TROUBLE : fail(&by, output_name("-"), "%s", strerror(cause));
}
