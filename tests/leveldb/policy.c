/* SPDX-License-Identifier: MIT */
/* The policy in LevelDB's own tables, in C: nothing that was stored is lost, whatever the policy of
 * yesterday was, and damaged filters are answered maybe. */
#include "engines/leveldb/tamis_leveldb.h"

#include <stdio.h>
#include <unistd.h>

enum { KEYS = 20000, TEXT = 24 };

static int trials, failed;
static char dir[] = "/tmp/tamis-leveldb-XXXXXX";

static void check(bool ok, const char *what, const char *spec) {
    printf("%s %d - %s: %s\n", ok ? "ok" : "not ok", ++trials, what, spec);
    failed += !ok;
}

static size_t key_at(unsigned i, char *text) {
    return (size_t)snprintf(text, TEXT, "key%09u", i);
}

static void demand(char *error) {
    if (!error) return;
    fprintf(stderr, "LevelDB: %s\n", error);
    exit(2);
}

typedef struct base {
    leveldb_options_t *options;
    leveldb_filterpolicy_t *policy;
    leveldb_t *db;
} base;

static base open_base(leveldb_filterpolicy_t *policy) {
    char *error = NULL;
    base b = {leveldb_options_create(), policy, NULL};
    leveldb_options_set_create_if_missing(b.options, 1);
    if (policy) leveldb_options_set_filter_policy(b.options, policy);
    b.db = leveldb_open(b.options, dir, &error);
    demand(error);
    return b;
}

static void close_base(base *b) {
    leveldb_close(b->db);
    leveldb_options_destroy(b->options);
    if (b->policy) leveldb_filterpolicy_destroy(b->policy);
}

/* Keys, one in ten in two versions, in tables. */
static void fill(leveldb_t *db) {
    leveldb_writeoptions_t *how = leveldb_writeoptions_create();
    char key[TEXT], *error = NULL;
    for (unsigned i = 0; i < KEYS; i++)
        for (unsigned again = 0; again <= (i % 10 == 0); again++) {
            leveldb_put(db, how, key, key_at(i, key), "a value", 7, &error);
            demand(error);
        }
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    leveldb_writeoptions_destroy(how);
}

static unsigned found(leveldb_t *db, unsigned from, unsigned to) {
    leveldb_readoptions_t *how = leveldb_readoptions_create();
    char key[TEXT], *error = NULL;
    unsigned n = 0;
    for (unsigned i = from; i < to; i++) {
        size_t size;
        char *value = leveldb_get(db, how, key, key_at(i, key), &size, &error);
        demand(error);
        n += value != NULL;
        leveldb_free(value);
    }
    leveldb_readoptions_destroy(how);
    return n;
}

static void one_policy(const char *spec) {
    leveldb_filterpolicy_t *policy = tamis_leveldb_policy(spec, NULL);
    check(policy != NULL, "is a policy", spec);
    if (!policy) return;
    base b = open_base(policy);
    fill(b.db);
    check(found(b.db, 0, KEYS) == KEYS, "finds all keys", spec);
    check(found(b.db, KEYS, 2 * KEYS) == 0, "finds no others", spec);
    close_base(&b);
}

/* Tables of one policy, opened with another. */
static void reopened(const char *what, leveldb_filterpolicy_t *policy) {
    base b = open_base(policy);
    check(found(b.db, 0, KEYS) == KEYS, "tables of yesterday are read", what);
    close_base(&b);
}

static void refused(const char *spec) {
    leveldb_filterpolicy_t *policy = tamis_leveldb_policy(spec, NULL);
    check(!policy && *tamis_why(), "is refused", spec);
    if (policy) leveldb_filterpolicy_destroy(policy);
}

/* LevelDB takes a filter of no bytes for one of no keys, so what cannot be made is not empty. */
static void no_memory_is_no_loss(void) {
    struct tamis_options options = TAMIS_OPTIONS_INIT;
    tamis_page_policy *policy;
    const char *keys[1000];
    size_t lens[1000], size = 0;
    options.max_bytes = 128;
    if (tamis_page_policy_create(&policy, "split", &options)) exit(2);
    for (size_t i = 0; i < 1000; i++) keys[i] = (const char *)&keys[i], lens[i] = sizeof keys[i];
    char *page = tamis_leveldb_create(policy, keys, lens, 1000, &size);
    check(page && size > 0 && tamis_leveldb_may_match(policy, keys[0], lens[0], page, size),
          "what could not be made is answered maybe", "split in 128 bytes");
    free(page);
    tamis_page_policy_free(policy);
}

int main(void) {
    static const char *const specs[] = {"split:fpr=1%", "blocked:fpr=0.1%", "ribbon:fpr=1%",
                                        "fuse",         "classic:fpr=5%",   "cuckoo",
                                        "split:seed=7"};
    if (!mkdtemp(dir)) return 2;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) one_policy(specs[i]);
    reopened("by another rate", tamis_leveldb_policy("split:seed=7,fpr=0.01%", NULL));
    reopened("by another kind", tamis_leveldb_policy("ribbon", NULL));
    reopened("by LevelDB's own", leveldb_filterpolicy_create_bloom(10));
    reopened("without one", NULL);
    refused("split:capacity=100");
    refused("guava");
    refused("minhash");
    refused("split:hash=sip13,key=outside");
    no_memory_is_no_loss();
    leveldb_options_t *options = leveldb_options_create();
    char *error = NULL;
    leveldb_destroy_db(options, dir, &error);
    leveldb_options_destroy(options);
    rmdir(dir);
    printf("1..%d\n", trials);
    return failed > 0;
}
