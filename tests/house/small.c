/* SPDX-License-Identifier: MIT */
/* What a program sees of the shared library of `make KINDS=blocked`: small.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_formats.h"
#include "tamis_parts.h"
#include "tamis_special.h"

static int number, failures;

static void check(bool is_so, const char *what) {
    printf("%sok %d - %s\n", is_so ? "" : "not ", ++number, what);
    if (!is_so) printf("# %s\n", tamis_why());
    failures += !is_so;
}

/* Refused, with a sentence that says why. */
static bool refused(tamis_status rc, tamis_status wanted, const char *sentence) {
    return rc == wanted && strstr(tamis_why(), sentence);
}

static bool keys_are_found(const tamis *f, int from, int to) {
    for (int i = from; i <= to; i++) {
        char key[16];
        if (!tamis_has(f, key, (size_t)sprintf(key, "%d", i))) return false;
    }
    return true;
}

static tamis *filled(int from, int to) {
    tamis *f;
    if (tamis_create(&f, "capacity=1000,fpr=1%")) exit(2); /* the default kind is this one */
    for (int i = from; i <= to; i++) {
        char key[16];
        if (tamis_add(f, key, (size_t)sprintf(key, "%d", i))) exit(2);
    }
    return f;
}

static void what_is_inside_works(const char *path) {
    tamis *f = filled(1, 500), *g = filled(501, 1000), *back;
    check(keys_are_found(f, 1, 500), "it is made and asked");
    check(!tamis_merge(f, g) && keys_are_found(f, 1, 1000), "two are merged");
    check(!tamis_save(f, path) && !tamis_read(&back, path) && keys_are_found(back, 1, 1000),
          "it is saved and loaded");
    tamis_free(back);
    check(!tamis_read(&back, "tests/golden/blocked-1.tamis") && keys_are_found(back, 1, 200),
          "an image of before is read");
    tamis_free(back), tamis_free(f), tamis_free(g);
}

static void what_is_not_inside_is_named(void) {
    tamis *f = NULL;
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    check(tamis_kind_count() == 1 && tamis_kind_at(0, &kind) && kind.id == 2, "one kind is listed");
    check(refused(tamis_read(&f, "tests/golden/fuse-1.tamis"), TAMIS_TOO_NEW,
                  "kind 14 (fuse) is not part of this build") &&
              !f,
          "an image of another kind is refused, not called damaged");
    check(refused(tamis_read(&f, "tests/golden/foreign/hadoop-counting-1.tamis"), TAMIS_TOO_NEW,
                  "kind 1002 (hadoop-counting) is not part of this build"),
          "also one of another system");
    check(refused(tamis_read(&f, "tests/golden-bad/newer-kind.tamis"), TAMIS_TOO_NEW,
                  "needs a newer Tamis"),
          "a kind that nobody knows is a newer one");
    check(refused(tamis_create(&f, "fuse:capacity=10"), TAMIS_INVALID,
                  "kind 14 (fuse) is not part of this build; there are blocked"),
          "a spec of another kind is refused");
    check(refused(tamis_create(&f, "fused:capacity=10"), TAMIS_INVALID,
                  "unknown kind 'fused'; there are blocked"),
          "and one of no kind");
}

static void what_it_does_without_says_so(void) {
    static const uint8_t print[8] = {0};
    struct tamis_patch_info patch = TAMIS_PATCH_INFO_INIT;
    struct tamis_builder_info built = {.struct_size = sizeof built, .records = 1};
    tamis *f = filled(1, 10), *made = f;
    tamis_builder *b = (tamis_builder *)f;
    tamis_fingerprints *prints = (tamis_fingerprints *)f;
    char text[8] = "text";
    uint32_t shard = 7;
    uint64_t hash = 7;
    check(refused(tamis_builder_create(&b, "capacity=10", 0, NULL), TAMIS_UNSUPPORTED, "builder") &&
              !b,
          "the builder");
    tamis_builder_free(b);
    tamis_builder_get_info(b, &built);
    tamis_builder_hash_many(b, NULL, 1, &hash);
    check(built.records == 0 && hash == 0, "what a builder would tell");
    check(refused(tamis_import(&made, "guava", print, 8), TAMIS_UNSUPPORTED, "formats") && !made,
          "formats");
    check(tamis_format_count() == 0 && !tamis_encoding_at(0), "none is listed");
    check(tamis_encode("utf8", "a", 1, text, sizeof text) == SIZE_MAX, "keys of other systems");
    made = f;
    check(refused(tamis_shard_cut(&made, f, 0, 1, NULL), TAMIS_UNSUPPORTED, "33 (shard)") && !made,
          "shards");
    tamis_shards_of(f, &hash, 1, &shard);
    check(tamis_shard_spec("capacity=10", 0, 1, text, sizeof text) == 0 && !*text && shard == 0,
          "nothing is one");
    check(refused(tamis_fingerprints_create(&prints, 64, NULL), TAMIS_UNSUPPORTED,
                  "30 (fingerprint)") &&
              !prints && tamis_fingerprint_count(f) == 0,
          "fingerprints");
    check(refused(tamis_record(f, NULL, 0, 0, print, 8), TAMIS_UNSUPPORTED, "28 (hierarchical)"),
          "traces");
    check(refused(tamis_patch_get_info(print, 8, &patch), TAMIS_UNSUPPORTED, "patches"), "patches");
    check(tamis_tick(f) == TAMIS_UNSUPPORTED, "abilities of other kinds");
    tamis_free(f);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    what_is_inside_works(argv[1]);
    what_is_not_inside_is_named();
    what_it_does_without_says_so();
    printf("1..%d\n", number);
    return failures != 0;
}
