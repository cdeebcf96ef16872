/* SPDX-License-Identifier: MIT */
/* similar.c: texts that are alike, by prints of their words; the same words as a vector for
 * learning; and a filter that is cured of false positives that hurt. */
#include <string.h>
#include <tamis_engine.h>
#include <tamis_jobs.h>
#include <tamis_special.h>

#include "must.h"

enum { BITS = 256, BYTES = BITS / 8 };

static const char *const texts[] = {"the heron stands in the shallow water",
                                    "a heron stands in shallow water",
                                    "the wren sings in the hedge", "magpies collect what glitters"};
enum { TEXTS = sizeof texts / sizeof *texts };

static void print_of(const char *text, uint8_t print[BYTES]) {
    memset(print, 0, BYTES);
    while (*text) {
        const size_t len = strcspn(text, " ");
        tamis_fingerprint_feature(print, BITS, 2, text, len);
        text += len + (text[len] == ' ');
    }
}

static void find_similar(void) {
    tamis_fingerprints *maker;
    tamis *prints;
    uint8_t print[BYTES];
    struct tamis_match best[2];
    size_t found;
    must(tamis_fingerprints_create(&maker, BITS, NULL));
    for (size_t i = 0; i < TEXTS; i++) {
        print_of(texts[i], print);
        must(tamis_fingerprints_add(maker, texts[i], strlen(texts[i]), print, BYTES));
    }
    must(tamis_fingerprints_finish(maker, &prints));
    tamis_fingerprints_free(maker);
    print_of(texts[0], print);
    must(tamis_fingerprints_nearest(prints, print, BYTES, 0, best, 2, &found, NULL));
    printf("most like \"%s\": \"%s\"\n", texts[0], tamis_fingerprint_at(prints, best[1].row, NULL));
    expect(found == 2 && best[0].row == 0 && best[1].row == 1, "the other heron is found");
    tamis_free(prints);
}

static void make_vectors(void) {
    const struct tamis_features shape = {.places = 64, .seed = 0, .is_signed = false};
    const struct tamis_key words[] = {{"heron", 5}, {"water", 5}};
    float vector[64] = {0};
    int32_t counts[64] = {0};
    float sum = 0;
    tamis_features_add_many(&shape, vector, words, NULL, 2);
    tamis_features_count(&shape, counts, "heron", 5, 3);
    for (int i = 0; i < 64; i++) sum += vector[i];
    expect(sum > 1.5f && sum < 2.5f, "two words weigh two");
    expect(counts[tamis_features_place(&shape, "heron", 5, NULL)] == 3,
           "and one is counted thrice");
}

/* Strangers that are answered yes and do harm lose a bit; some keys are lost with it. */
static void retouch(void) {
    enum { KEYS = 1000, MAX = 100 };
    struct tamis_retouch_stats done;
    uint64_t keys[KEYS], trouble[MAX];
    size_t n = 0;
    tamis *filter;
    must(tamis_create(&filter, "retouched:capacity=1000,fpr=5%"));
    for (uint64_t i = 0; i < KEYS; i++) {
        must(tamis_add_u64(filter, i));
        keys[i] = tamis_hash(filter, &i, sizeof i);
    }
    for (uint64_t i = KEYS; n < MAX; i++)
        if (tamis_has_u64(filter, i)) trouble[n++] = tamis_hash(filter, &i, sizeof i);
    must(tamis_retouch(filter, TAMIS_RETOUCH_RATIO, trouble, n, keys, KEYS, 1, &done));
    printf("%llu false positives are cured, at the price of %llu keys\n",
           (unsigned long long)done.trouble_cleared, (unsigned long long)done.keys_lost);
    expect(!tamis_has_hash(filter, trouble[0]), "they are answered no");
    must(tamis_retouch_undo(filter));
    expect(tamis_has_hash(filter, trouble[0]), "and everything can be undone");
    must(tamis_retouch_share(filter, 0.01, 1, &done));
    tamis_free(filter);
}

int main(void) {
    find_similar();
    make_vectors();
    retouch();
    return 0;
}
