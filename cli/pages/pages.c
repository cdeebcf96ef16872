/* SPDX-License-Identifier: MIT */
/* pages.c: the program that writes manual pages and completions. */
#include "cli/pages/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static FILE *start(const char *dir, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *out = fopen(path, "w");
    if (out) return out;
    fprintf(stderr, "pages: %s: %s\n", path, strerror(errno));
    exit(EXIT_TROUBLE);
}

static void finish(FILE *out) {
    if (fclose(out) == 0) return;
    perror("pages");
    exit(EXIT_TROUBLE);
}

static void make_dir(const char *dir, const char *inside, char *path, size_t size) {
    snprintf(path, size, "%s/%s", dir, inside);
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return;
    fprintf(stderr, "pages: %s: %s\n", path, strerror(errno));
    exit(EXIT_TROUBLE);
}

static void write_completion(const char *dir, const char *name, void (*write)(FILE *)) {
    FILE *out = start(dir, name);
    write(out);
    finish(out);
}

int main(int argc, char **argv) {
    char dir[4000], name[80];
    if (argc != 2) {
        fputs("usage: pages DIR\n", stderr);
        return EXIT_TROUBLE;
    }
    make_dir(argv[1], "man", dir, sizeof dir);
    write_completion(dir, "tamis.1.scd", write_man_overview);
    for (size_t i = 0; i < number_of_verbs; i++) {
        snprintf(name, sizeof name, "tamis-%s.1.scd", verbs[i]->name);
        FILE *out = start(dir, name);
        write_man_page(out, verbs[i]);
        finish(out);
    }
    for (size_t i = 0; i < number_of_topics; i++) {
        snprintf(name, sizeof name, "tamis-%s.7.scd", topics[i].name);
        FILE *out = start(dir, name);
        write_man_topic(out, &topics[i]);
        finish(out);
    }
    make_dir(argv[1], "completions", dir, sizeof dir);
    write_completion(dir, "tamis.bash", write_bash);
    write_completion(dir, "_tamis", write_zsh);
    write_completion(dir, "tamis.fish", write_fish);
    return EXIT_FOUND;
}
