/* SPDX-License-Identifier: MIT */
/* Prints a checksum of every image that fixed keys and specs lead to, and what golden images
 * answer. The output must be the same from every compiler, on every CPU, with every kernel:
 * tests/proof/ same_bytes.sh compares. Plain C without a test library, so that any cross compiler
 * builds it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "hash/hash.h"
#include "tamis_engine.h"
#include "tamis_jobs.h"
#include "tamis_special.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct tamis_options keyed = {.struct_size = sizeof keyed, .secret = secret};

static void die(const char *what) {
    printf("%s: %s\n", what, tamis_why());
    exit(1);
}

static size_t text_key(uint64_t i, char key[32]) {
    return (size_t)sprintf(key, "key-%llu", (unsigned long long)test_number(5, i));
}

/* Keys [from, to), or as many of them as there is room for. */
static uint64_t add_keys(tamis *f, const char *spec, uint64_t from, uint64_t to) {
    char key[32];
    for (uint64_t i = from; i < to; i++) {
        const tamis_status rc =
            i % 2 ? tamis_add_u64(f, test_number(5, i)) : tamis_add(f, key, text_key(i, key));
        if (rc == TAMIS_FULL) return i - from;
        if (rc) die(spec);
    }
    return to - from;
}

static tamis *made(const char *spec) {
    tamis *f;
    if (tamis_create_with(&f, spec, strstr(spec, "sip13") ? &keyed : NULL)) die(spec);
    return f;
}

/* ---- What is built once ---------------------------------------------------------------------- */

static bool is_built(const char *spec) {
    char name[32];
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    return tamis_kind_named(name, &kind) && kind.abilities & TAMIS_IS_BUILT;
}

/* Whatever the kind takes: values of as many bits as fit, every third key in a second label, and
 * another key that is known to be good. What it cannot take it refuses, here as everywhere. */
static tamis_status give(tamis_builder *b, uint64_t hash, uint64_t i) {
    const uint64_t value = test_number(9, i);
    tamis_status rc = TAMIS_INVALID;
    tamis_builder_exclude_hash(b, test_number(10, hash));
    if (tamis_builder_label(b, "second") == TAMIS_OK) {
        if (i % 3 == 0 && (rc = tamis_builder_add_hash(b, hash))) return rc;
        if ((rc = tamis_builder_label(b, "first"))) return rc;
    }
    for (unsigned drop = 0; drop < 64 && rc == TAMIS_INVALID; drop++)
        rc = tamis_builder_put_hash(b, hash, value >> drop);
    return rc ? tamis_builder_add_hash(b, hash) : TAMIS_OK;
}

/* In reverse and on two threads, which must not matter. */
static tamis_status build(tamis **f, const char *spec, uint64_t from, uint64_t to) {
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .filter = strstr(spec, "sip13") ? &keyed : NULL,
                                                  .threads = 2,
                                                  .verify = true};
    tamis_builder *b;
    char key[32];
    tamis_status rc = tamis_builder_create_with(&b, spec, &options);
    if (!rc) tamis_builder_label(b, "first");
    for (uint64_t i = to; !rc && i-- > from;) {
        uint8_t number[8];
        tamis__put64(number, test_number(5, i));
        rc = give(b,
                  i % 2 ? tamis_builder_hash(b, number, sizeof number)
                        : tamis_builder_hash(b, key, text_key(i, key)),
                  i);
    }
    if (!rc) rc = tamis_builder_finish(b, f);
    tamis_builder_free(b);
    return rc;
}

/* With the keys [from, to), or as many of them as there is room for. */
static tamis *with_keys(const char *spec, uint64_t from, uint64_t to) {
    tamis *f;
    if (is_built(spec)) {
        if (build(&f, spec, from, to)) die(spec);
        return f;
    }
    f = made(spec);
    add_keys(f, spec, from, to);
    return f;
}

/* Image, answers and counts; no figure that floating point has touched. */
static void print_image(tamis *f, const char *spec, const char *after) {
    if (tamis_set_note(f, "comment", spec)) die(spec);
    const size_t size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(size);
    if (!image || tamis_serialize(f, image, size)) die(spec);
    uint64_t hits = 0, counts = 0, values = 0, label[2] = {0, 0}, value = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        const uint64_t key = test_number(5, i);
        uint64_t hash;
        tamis_hash_u64s(f, &key, 1, &hash);
        hits += tamis_has_u64(f, key) + tamis_has_u64(f, i);
        counts += tamis_count_u64(f, key);
        if (tamis_get_u64(f, key, &value)) values = test_number(values, value);
        if (tamis_labels_hash(f, hash, label, 2)) values = test_number(values, label[0] + label[1]);
    }
    printf("%-52s %-16s %8zu bytes %016llx %5llu hits %6llu counted %016llx\n", spec, after, size,
           (unsigned long long)tamis__checksum(image, size, NULL, 0), (unsigned long long)hits,
           (unsigned long long)counts, (unsigned long long)values);
    free(image);
}

/* ---- What can be done to a filter, each by those that can ------------------------------------ */

/* Returns how it went; what failed has changed nothing, and that must be the same, too. */
typedef tamis_status deed(tamis *f, const char *spec, uint64_t keys);

static tamis_status remove_some(tamis *f, const char *spec, uint64_t keys) {
    tamis_status last = TAMIS_OK;
    (void)spec;
    for (uint64_t i = 1; i < keys; i += 4) {
        const tamis_status rc = tamis_remove_u64(f, test_number(5, i));
        if (rc) last = rc; /* a void, or a key that the filter has lost */
    }
    return last;
}

static tamis_status merge_other(tamis *f, const char *spec, uint64_t keys) {
    tamis *other = with_keys(spec, keys / 2, keys + keys / 2);
    const tamis_status rc = tamis_merge(f, other);
    tamis_free(other);
    return rc;
}

static tamis_status merge_farther(tamis *f, const char *spec, uint64_t keys) {
    tamis *other = made(spec);
    add_keys(other, spec, keys, 2 * keys);
    const tamis_status rc = tamis_merge_farther(f, other);
    tamis_free(other);
    return rc;
}

/* Every fourth value, if the key is there. */
static tamis_status put_some(tamis *f, const char *spec, uint64_t keys) {
    tamis_status last = TAMIS_OK;
    (void)spec;
    for (uint64_t i = 1; i < keys + 100; i += 4) {
        const tamis_status rc = tamis_put_u64(f, test_number(5, i), i % 2);
        if (rc) last = rc;
    }
    return last;
}

static tamis_status fold_by_8(tamis *f, const char *spec, uint64_t keys) {
    (void)spec, (void)keys;
    return tamis_fold(f, 8);
}

static tamis_status shrink_to_2(tamis *f, const char *spec, uint64_t keys) {
    (void)spec, (void)keys;
    return tamis_shrink(f, 2);
}

static tamis_status resize_to_double(tamis *f, const char *spec, uint64_t keys) {
    (void)spec;
    return tamis_resize(f, 2 * keys);
}

static tamis_status let_time_pass(tamis *f, const char *spec, uint64_t keys) {
    const tamis_status rc = tamis_tick(f);
    add_keys(f, spec, keys, keys + 100);
    return rc;
}

static tamis_status tell_changes(tamis *f, const char *spec, uint64_t keys) {
    const tamis_status rc = tamis_clear_changes(f);
    add_keys(f, spec, keys, keys + 100);
    return rc;
}

static tamis_status retouch(tamis *f, const char *spec, uint64_t keys) {
    uint64_t trouble[100], kept[100];
    (void)spec;
    for (uint64_t i = 0; i < 100; i++) {
        trouble[i] = test_number(8, i);
        kept[i] = test_number(5, (2 * i + 1) % (keys + 1));
    }
    tamis_hash_u64s(f, trouble, 100, trouble);
    tamis_hash_u64s(f, kept, 100, kept);
    const tamis_status rc = tamis_retouch(f, TAMIS_RETOUCH_RATIO, trouble, 100, kept, 100, 7, NULL);
    return rc ? rc : tamis_retouch_share(f, 0.1, 7, NULL);
}

static const struct {
    const char *name;
    unsigned needs;
    deed *act;
} deeds[] = {
    {"remove", TAMIS_CAN_REMOVE, remove_some},
    {"merge", TAMIS_CAN_MERGE, merge_other},
    {"merge farther", TAMIS_CAN_LEVEL, merge_farther},
    {"fold", TAMIS_CAN_FOLD, fold_by_8},
    {"shrink", TAMIS_CAN_SHRINK, shrink_to_2},
    {"resize", TAMIS_CAN_RESIZE, resize_to_double},
    {"tick", TAMIS_CAN_TICK, let_time_pass},
    {"forget changes", TAMIS_CAN_LOG, tell_changes},
    {"retouch", TAMIS_CAN_RETOUCH, retouch},
    {"put", TAMIS_CAN_PUT, put_some},
};

static void images_after_deeds(const tamis *f, const char *spec, uint64_t keys) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        tamis *g;
        if ((info.abilities & deeds[i].needs) == 0) continue;
        if (tamis_copy(&g, f)) die(spec);
        const tamis_status rc = deeds[i].act(g, spec, keys);
        char after[64];
        snprintf(after, sizeof after, "%s %d", deeds[i].name, (int)rc);
        print_image(g, spec, after);
        tamis_free(g);
    }
}

/* Options that say how large a filter is may say any size; what was shrunk takes no keys, and one
 * shard of several only its own. */
static bool is_worth_making(const struct tamis_plan *plan) {
    const uint64_t max = 1 << 26;
    return plan->payload_bytes <= max && !test_is_part(plan) &&
           plan->abilities & (TAMIS_CAN_ADD | TAMIS_IS_BUILT);
}

static void images_of_spec(const char *spec, uint64_t max) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    const tamis_status rc = tamis_plan_spec(spec, &plan);
    if (rc) {
        printf("%-52s is refused with %d\n", spec, (int)rc);
        return;
    }
    if (!is_worth_making(&plan)) return;
    uint64_t keys = max;
    tamis *f;
    if (is_built(spec)) {
        const tamis_status refused = build(&f, spec, 0, max);
        if (refused) {
            printf("%-52s is not built: %d\n", spec, (int)refused);
            return;
        }
    } else {
        f = made(spec);
        keys = add_keys(f, spec, 0, max);
    }
    print_image(f, spec, "add");
    images_after_deeds(f, spec, keys);
    tamis_free(f);
}

/* ---- Every kind, every choice of its options ------------------------------------------------- */

/* Calls `use` with "name=value" for every word of every option, and for a few numbers of others. */
typedef void with_option(const struct tamis_kind_info *kind, const char *option);

static void for_every_option(const struct tamis_kind_info *kind, with_option *use) {
    char text[96];
    for (size_t i = 0; i < kind->option_count; i++) {
        const struct tamis_option *option = &kind->options[i];
        for (const char *p = option->choices; p && *p;) {
            const size_t len = strcspn(p, "|");
            snprintf(text, sizeof text, "%s=%.*s", option->name, (int)len, p);
            use(kind, text);
            p += len + (p[len] == '|');
        }
        const uint64_t some[] = {option->min, 3, 8, option->max};
        for (size_t j = 0; !option->choices && j < sizeof some / sizeof *some; j++) {
            if (some[j] < option->min || some[j] > option->max) continue;
            snprintf(text, sizeof text, "%s=%llu", option->name, (unsigned long long)some[j]);
            use(kind, text);
        }
    }
}

static void images_with(const struct tamis_kind_info *kind, const char *option) {
    char spec[128];
    snprintf(spec, sizeof spec, "%s:capacity=3000,%s", kind->name, option);
    images_of_spec(spec, 1000); /* so that another one fits in */
}

static void images_of(const struct tamis_kind_info *kind) {
    static const char *const params[] = {"capacity=0",
                                         "capacity=1",
                                         "capacity=1000",
                                         "capacity=1000,fpr=10%",
                                         "capacity=1000,fpr=1e-5",
                                         "capacity=20000,fpr=0.3%",
                                         "capacity=1000,bits=65536",
                                         "capacity=1000,hash=xxh64,seed=99",
                                         "capacity=1000,hash=mix8,seed=98",
                                         "capacity=1000,hash=sip13",
                                         "capacity=1000,hash=sip13,key=outside"};
    char spec[128];
    if (!(kind->abilities & (TAMIS_CAN_ADD | TAMIS_IS_BUILT))) return; /* prints() */
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        snprintf(spec, sizeof spec, "%s:%s", kind->name, params[i]);
        images_of_spec(spec, 3000);
    }
    if (kind->abilities & TAMIS_IS_BUILT) { /* three segments */
        snprintf(spec, sizeof spec, "%s:segment=1024,capacity=3000,fpr=0.1%%", kind->name);
        images_of_spec(spec, 3000);
    }
    for_every_option(kind, images_with);
}

/* Plans of large filters, whose logarithms no machine may round to another shape. */
static void plans_with(const struct tamis_kind_info *kind, const char *option) {
    const uint64_t plans = *option ? 60 : 300;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < plans; i++) {
        char spec[160];
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        snprintf(spec, sizeof spec, "%s:capacity=%llu,fpr=1/%llu%s%s", kind->name,
                 (unsigned long long)(test_number(6, i) >> (24 + i % 38)),
                 (unsigned long long)(2 + (test_number(7, i) >> (44 + i % 18))), *option ? "," : "",
                 option);
        const tamis_status rc = tamis_plan_spec(spec, &plan);
        sum = test_number(sum, (uint64_t)-rc);
        for (int w = 0; w < TAMIS_WORDS && !rc; w++) sum = test_number(sum, plan.word[w]);
    }
    printf("plans of %s:%-40s %016llx\n", kind->name, option, (unsigned long long)sum);
}

static void plans_of(const struct tamis_kind_info *kind) {
    plans_with(kind, "");
    for_every_option(kind, plans_with);
}

/* One of each other system's, but for those that are there only to be asked: some are asked by
 * reading all they hold, and planned by playing their hash through. */
static void foreign_image(const struct tamis_kind_info *kind) {
    char spec[64];
    if (!(kind->abilities & (TAMIS_CAN_ADD | TAMIS_IS_BUILT))) return;
    snprintf(spec, sizeof spec, "%s:capacity=200,fpr=1%%", kind->name);
    tamis *f = with_keys(spec, 0, 200);
    print_image(f, spec, "");
    tamis_free(f);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void golden_images(const char *dir_path) {
    char *names[256];
    size_t count = 0;
    DIR *dir = opendir(dir_path);
    if (!dir) exit((perror(dir_path), 1));
    for (struct dirent *entry; count < 256 && (entry = readdir(dir));)
        if (strstr(entry->d_name, ".tamis")) names[count++] = strdup(entry->d_name);
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        char path[512], key[16];
        tamis *f;
        uint64_t members = 0, others = 0;
        snprintf(path, sizeof path, "%s/%s", dir_path, names[i]);
        if (tamis_read_with(&f, path, &keyed)) die(path);
        for (int k = 1; k <= 10200; k++)
            *(k <= 200 ? &members : &others) += tamis_has(f, key, (size_t)sprintf(key, "%d", k));
        printf("%-60s %5llu %5llu\n", names[i], (unsigned long long)members,
               (unsigned long long)others);
        tamis_free(f);
        free(names[i]);
    }
}

/* The symbols of a difference stream: two machines that disagree cannot reconcile anything. */
static void symbols(void) {
    enum { N = 1000, SYMBOLS = 20000 };
    static uint64_t hashes[N];
    static struct tamis_symbol list[SYMBOLS];
    tamis_symbols *s;
    tamis_sum sum;
    for (uint64_t i = 0; i < N; i++) hashes[i] = test_number(7, i);
    if (tamis_symbols_create(&s, hashes, N, secret, NULL) || tamis_symbols_next(s, list, SYMBOLS))
        die("symbols");
    tamis__sum_start(&sum);
    for (size_t i = 0; i < SYMBOLS; i++) {
        uint8_t bytes[24];
        tamis__put64(bytes, list[i].sum);
        tamis__put64(bytes + 8, list[i].check);
        tamis__put64(bytes + 16, (uint64_t)list[i].count);
        tamis__sum_more(&sum, bytes, sizeof bytes);
    }
    printf("%016llx symbols\n", (unsigned long long)tamis__sum_end(&sum));
    tamis_symbols_free(s);
}

/* Rows of prints, and what is near to one of them. */
static void prints(uint64_t bits) {
    enum { ROWS = 500, NEAR = 5 };
    uint8_t print[256] = {0};
    struct tamis_match near[NEAR];
    size_t found;
    char name[32];
    tamis_fingerprints *maker;
    tamis *f;
    if (tamis_fingerprints_create(&maker, bits, NULL)) die("prints");
    for (uint64_t row = 0; row < ROWS; row++) {
        memset(print, 0, sizeof print);
        for (uint64_t i = row / 9; i < row / 9 + row % 40; i++) {
            uint8_t feature[8];
            tamis__put64(feature, i);
            tamis_fingerprint_feature(print, bits, 2, feature, sizeof feature);
        }
        if (tamis_fingerprints_add(maker, "id", 2, print, (size_t)(bits + 7) / 8)) die("prints");
    }
    if (tamis_fingerprints_finish(maker, &f)) die("prints");
    tamis_fingerprints_free(maker);
    snprintf(name, sizeof name, "prints of %u bits", (unsigned)bits);
    print_image(f, name, "");
    if (tamis_fingerprints_nearest(f, print, (size_t)(bits + 7) / 8, 0.3, near, NEAR, &found, NULL))
        die("nearest");
    for (size_t i = 0; i < found; i++)
        printf("%s: row %u, %u of %u\n", name, (unsigned)near[i].row, near[i].common,
               near[i].either);
    tamis_free(f);
}

int main(void) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    const size_t ours = test_own_kinds();
    for (size_t i = 0; i < ours && tamis_kind_at(i, &kind); i++) images_of(&kind);
    for (size_t i = 0; i < ours && tamis_kind_at(i, &kind); i++) plans_of(&kind);
    for (size_t i = ours; tamis_kind_at(i, &kind); i++) foreign_image(&kind);
    symbols();
    prints(166);
    prints(2048);
    golden_images("tests/golden");
    golden_images("tests/golden/foreign");
    return 0;
}
