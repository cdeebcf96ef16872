/* Prints a checksum of every image that fixed keys and specs lead to, and what golden images answer.
 * The output must be the same from every compiler, on every CPU, with every kernel: tests/proof/
 * same_bytes.sh compares. Plain C without a test library, so that any cross compiler builds it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/hash.h"
#include "tamis.h"
#include "tests/help/keys.h"

static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct tamis_options keyed = {.struct_size = sizeof keyed, .secret = secret};

static void die(const char *what) {
    printf("%s: %s\n", what, tamis_why());
    exit(1);
}

static size_t text_key(uint64_t i, char key[32]) {
    return (size_t)sprintf(key, "key-%llu", (unsigned long long)test_number(5, i));
}

static void one_image(const char *spec, uint64_t keys, uint64_t fold) {
    tamis *f;
    char key[32];
    if (tamis_create_with(&f, spec, strstr(spec, "sip13") ? &keyed : NULL)) die(spec);
    for (uint64_t i = 0; i < keys; i++) {
        const tamis_status rc =
            i % 2 ? tamis_add_u64(f, test_number(5, i)) : tamis_add(f, key, text_key(i, key));
        if (rc) die(spec);
    }
    if (fold && tamis_fold(f, fold)) die(spec);
    if (tamis_set_note(f, "comment", spec)) die(spec);
    const size_t size = (size_t)tamis_stored_size(f);
    uint8_t *image = malloc(size);
    if (!image || tamis_bytes(f, image, size)) die(spec);
    uint64_t hits = 0;
    for (uint64_t i = 0; i < 20000; i++) hits += tamis_has_u64(f, i);
    printf("%-60s %8zu bytes %016llx %5llu hits\n", spec, size,
           (unsigned long long)tamis__checksum(image, size, NULL, 0), (unsigned long long)hits);
    free(image);
    tamis_free(f);
}

static void images_of(const struct tamis_kind_info *kind) {
    static const char *const wishes[] = {"capacity=0",
                                         "capacity=1",
                                         "capacity=1000",
                                         "capacity=1000,fpr=10%",
                                         "capacity=1000,fpr=1e-5",
                                         "capacity=20000,fpr=0.3%",
                                         "capacity=1000,bits=65536",
                                         "capacity=1000,hash=xxh64,seed=99",
                                         "capacity=1000,hash=sip13",
                                         "capacity=1000,hash=sip13,key=outside"};
    char spec[128];
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        snprintf(spec, sizeof spec, "%s:%s", kind->name, wishes[i]);
        one_image(spec, 3000, strstr(wishes[i], "bits=65536") ? 8 : 0);
    }
    for (size_t i = 0; i < kind->option_count; i++)
        for (const char *p = kind->options[i].choices; p && *p;) {
            const size_t len = strcspn(p, "|");
            snprintf(spec, sizeof spec, "%s:capacity=1000,%s=%.*s", kind->name,
                     kind->options[i].name, (int)len, p);
            one_image(spec, 1000, 0);
            p += len + (p[len] == '|');
        }
}

/* Plans of large filters, whose logarithms no machine may round to another shape. */
static void plans_of(const struct tamis_kind_info *kind) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 300; i++) {
        char spec[96];
        struct tamis_plan plan;
        snprintf(spec, sizeof spec, "%s:capacity=%llu,fpr=1/%llu", kind->name,
                 (unsigned long long)(test_number(6, i) >> (24 + i % 38)),
                 (unsigned long long)(2 + (test_number(7, i) >> (44 + i % 18))));
        if (tamis_plan(spec, &plan, sizeof plan)) continue;
        for (int w = 0; w < TAMIS_WORDS; w++) sum = test_number(sum, plan.word[w]);
    }
    printf("%-60s %016llx\n", kind->name, (unsigned long long)sum);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void golden_images(const char *folder) {
    char *names[256];
    size_t count = 0;
    DIR *dir = opendir(folder);
    if (!dir) exit((perror(folder), 1));
    for (struct dirent *entry; count < 256 && (entry = readdir(dir));)
        if (strstr(entry->d_name, ".tamis")) names[count++] = strdup(entry->d_name);
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        char path[512], key[16];
        tamis *f;
        uint64_t members = 0, others = 0;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (tamis_read_with(&f, path, &keyed)) die(path);
        for (int k = 1; k <= 10200; k++)
            *(k <= 200 ? &members : &others) += tamis_has(f, key, (size_t)sprintf(key, "%d", k));
        printf("%-60s %5llu %5llu\n", names[i], (unsigned long long)members,
               (unsigned long long)others);
        tamis_free(f);
        free(names[i]);
    }
}

int main(int argc, char **argv) {
    struct tamis_kind_info kind;
    for (size_t i = 0; tamis_kind_at(i, &kind, sizeof kind); i++) images_of(&kind);
    for (size_t i = 0; tamis_kind_at(i, &kind, sizeof kind); i++) plans_of(&kind);
    golden_images(argc > 1 ? argv[1] : "tests/golden");
    return 0;
}
