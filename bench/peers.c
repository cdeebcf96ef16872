/* SPDX-License-Identifier: MIT */
/* Other libraries, from shared objects that implement bench/peer.h. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/bench.h"

/* Walks over a comma-separated list; true when one word of it is the name, or a part of it. */
static bool any_word(const char *list, const char *name, bool is_part_enough) {
    const size_t length = strlen(name);
    for (const char *word = list; *word;) {
        const size_t n = strcspn(word, ",");
        for (size_t at = 0; n && at + n <= length; at++) {
            if (!strncasecmp(name + at, word, n) && (is_part_enough || n == length)) return true;
            if (!is_part_enough) break;
        }
        word += n + (word[n] == ',');
    }
    return false;
}

bool is_listed(const char *list, const char *name) {
    return !list || any_word(list, name, false);
}

bool is_named(const char *list, const struct contestant *c) {
    char name[96];
    snprintf(name, sizeof name, "%s %s", c->name, way_of(c));
    return !list || any_word(list, name, true);
}

typedef const struct bench_contestant *list_function(size_t *count);

/* An object stays loaded until the end: its functions are called from everywhere. */
static const struct bench_contestant *load(const char *file, size_t *count) {
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "bench_contestants") : NULL;
    if (!symbol) {
        fprintf(stderr, "bench: skipped a peer: %s\n", dlerror());
        return NULL;
    }
    list_function *list;
    memcpy(&list, &symbol, sizeof list);
    return list(count);
}

size_t peers_enter(struct contestant *all, size_t count, const char *file, const char *wanted) {
    size_t n = 0;
    const struct bench_contestant *list = load(file, &n);
    for (size_t i = 0; list && i < n; i++) {
        if (list[i].version != BENCH_CONTESTANT) {
            fprintf(stderr, "bench: skipped a peer: %s is for another bench/peer.h\n", file);
            break;
        }
        if (count == MAX_CONTESTANTS) break;
        struct contestant *c = &all[count];
        *c = (struct contestant){.calls = &list[i], .side = PEER};
        snprintf(c->name, sizeof c->name, "%s", list[i].name);
        count += is_named(wanted, c);
    }
    return count;
}

static int is_object(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".so");
}

size_t peers_enter_dir(struct contestant *all, size_t count, const char *dir, const char *wanted) {
    struct dirent **entry = NULL;
    const int n = scandir(dir, &entry, is_object, alphasort);
    for (int i = 0; i < n; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", dir, entry[i]->d_name);
        count = peers_enter(all, count, file, wanted);
        free(entry[i]);
    }
    free(entry);
    return count;
}
