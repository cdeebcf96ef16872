/* SPDX-License-Identifier: MIT */
/* uniq_sieve.c: has this key been here? From filters that grow with what comes.
 *
 * How many keys will come is not known, and guessing too many is as bad as too few: a filter that
 * is larger than the caches is slower, and a log of a hundred million lines may have a thousand
 * different ones. So the first filter is small. When it has taken its keys the next one is put on
 * top of it, for as many as the rest of the input should bring, and so on. For files that makes two
 * filters, for pipes one more with every fourfold growth.
 *
 * The rates of all stages add up to the one asked. Where the first is but the start, it gets little
 * of it: what it takes wrongly it takes from all the keys that follow. */
#include "cli/net/channel.h"
#include "cli/verbs/uniq.h"
#include "tamis_engine.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Keys of the first stage: about one MiB at the usual rate. */
enum { FIRST_KEYS = 200000, MIN_KEYS = 1000 };

/* A stage is this many times larger than the one before, at least and at most. What the start of
 * a file says about its rest is a guess; the more is at stake, the less it is believed. */
enum { MIN_GROWTH = 4, MAX_GROWTH = 64 };

/* A last stage that is smaller than this part of the one before is not worth its questions. */
enum { SMALL_PART = 8 };

/* Questions at a time: their cache lines are on the way together, and still near when keys that are
 * new are added. */
enum { GROUP = 1024 };

const double uniq_usual_fpr = 1e-6;

/* ---- How many are lost ---- */

double odds_of(double rate) {
    /* A rate of 1 would mean that none could have been printed. */
    return rate < 1 - 1e-9 ? rate / (1 - rate) : 1e9;
}

void loss_add(struct loss *loss, double keys, double about, double worst) {
    loss->about += keys * about;
    loss->at_worst += keys * worst;
    loss->odds = fmax(loss->odds, worst);
}

/* Whether the chance of `lost` or more is below 1 in 1000, by Chernoff's bound.
 *
 * With odds o of each new key, e^(t lost - sum of -ln(1 - o c)), where c = e^t - 1, has a mean of
 * at most 1 (each key multiplies it by e^t with chance o/(1+o), otherwise by 1 - o c), and -ln(1 -
 * o c) <= o c / (1 - o c). The t of a Poisson number with this mean is the best but for the last
 * factor. */
static bool is_unlikely(const struct loss *loss, double lost) {
    const double c = lost / loss->at_worst - 1;
    if (c <= 0 || loss->odds * c >= 1) return false;
    const double exponent = loss->at_worst * c / (1 - loss->odds * c) - lost * log1p(c);
    return exponent <= -log(1000.0);
}

uint64_t loss_at_most(const struct loss *loss, uint64_t all) {
    if (loss->at_worst <= 1e-3) return 0; /* one or more is as likely as the mean, at most */
    double high = ceil(loss->at_worst) + 1, low = 0;
    while (high < (double)all && !is_unlikely(loss, high)) low = high, high *= 2;
    if (!is_unlikely(loss, high)) return all;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (is_unlikely(loss, middle))
            high = middle;
        else
            low = middle;
    }
    return high - 1 < (double)all ? (uint64_t)high - 1 : all;
}

/* The mean of odds while the keys of a filter became more: a power of them, nearly. */
static double mean_odds(double keys_before, double before, double keys_after, double after) {
    if (keys_after <= keys_before || !(after > 0)) return after;
    if (keys_before == 0 || !(before > 0)) return after / 2;
    const double power = log(after / before) / log(keys_after / keys_before);
    return (after * keys_after - before * keys_before) / (power + 1) / (keys_after - keys_before);
}

void sieve_account(struct sieve *sieve) {
    const double from = (double)sieve->looked_at, to = (double)sieve->taken;
    const double rate = tamis_fpr_now(sieve->stage[sieve->stages - 1]);
    const double after = odds_of(rate);
    /* Keys of the same hash are one key to any filter. */
    const double others = odds_of(sieve->old_rate + (double)sieve->keys * 0x1p-64);
    const double mean = mean_odds(from, sieve->newest_odds, to, after);
    loss_add(&sieve->loss, to - from, others + mean, others + after);
    sieve->newest_odds = after;
    sieve->rate = sieve->old_rate + rate;
    sieve->looked_at = sieve->taken;
    /* Nearly all that is lost is lost when a filter is nearly full; a look reads all of it. */
    const uint64_t left = sieve->taken < sieve->capacity ? sieve->capacity - sieve->taken : 0;
    sieve->look_again = sieve->taken + left / 2 + sieve->capacity / 16 + 1;
}

/* ---- Stages ---- */

/* All stages must hash a key alike, so with a keyed hash the secret is ours. */
static bool is_keyed(const struct args *args) {
    return given(args, OPT_HASH) && strcmp(args->setting[OPT_HASH].text, "sip13") == 0;
}

/* The rate of the next stage, a part of that of all: 1/64, 1/2, 1/4, 1/8 ... Equal hashes alone
 * make a rate out of that many keys: beyond what 64 bits tell apart a stage is as strict as it can
 * be, and the account shows what that costs. */
static double rate_of_next(const struct sieve *sieve, uint64_t capacity) {
    const double min = fmax(1e-12, (double)capacity * 0x1p-62);
    const bool is_start = sieve->stages == 0 && !given(sieve->args, OPT_CAPACITY);
    const int halvings = (int)sieve->stages + given(sieve->args, OPT_CAPACITY);
    return fmax(min, sieve->fpr * (is_start ? 1.0 / 64 : 63.0 / 64 * ldexp(1, -halvings)));
}

/* Classic goes as low as any of our rates, at many probes a key; blocked is faster until it takes
 * this many times the room. */
enum { BLOCKED_MAY_TAKE = 2 };

static const char *kind_for(double fpr) {
    struct tamis_plan blocked = TAMIS_PLAN_INIT, classic = TAMIS_PLAN_INIT;
    const struct human some = human_words("capacity=1M,fpr=%.6g", fpr);
    const bool is_low = tamis_plan_spec(human_words("blocked:%s", some.text).text, &blocked) ||
                        (!tamis_plan_spec(human_words("classic:%s", some.text).text, &classic) &&
                         blocked.payload_bytes > BLOCKED_MAY_TAKE * classic.payload_bytes);
    return is_low ? "classic" : "blocked";
}

/* The spec of another stage; with `size` instead of a number of keys where that is all there
 * is. */
static struct human spec_of_next(const struct sieve *sieve, uint64_t capacity, uint64_t size) {
    const struct args *args = sieve->args;
    const double fpr = rate_of_next(sieve, capacity);
    return human_words("%s:%s=%" PRIu64 ",fpr=%.6g,hash=%s%s", kind_for(fpr),
                       size ? "size" : "capacity", size ? size : capacity, fpr,
                       text_or(args, OPT_HASH, "xxh3"), is_keyed(args) ? ",key=outside" : "");
}

/* How many keys the rest of the input should bring, by what its start brought. */
static uint64_t next_capacity(const struct sieve *sieve) {
    const double min = MIN_GROWTH * (double)sieve->capacity;
    const double max = MAX_GROWTH * (double)sieve->capacity;
    double keys = min;
    if (sieve->input_bytes > sieve->read_bytes && sieve->read_bytes > 0)
        keys = 1.1 * (double)sieve->keys / (double)sieve->read_bytes *
               (double)(sieve->input_bytes - sieve->read_bytes);
    keys = fmin(fmax(keys, min), max);
    return keys < 0x1p56 ? (uint64_t)keys : (uint64_t)1 << 56;
}

static int add_stage(struct sieve *sieve, uint64_t capacity) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    struct tamis_options options = image_options(sieve->args);
    const uint64_t left = sieve->memory - sieve->bytes;
    const bool is_first = sieve->stages == 0;
    struct human spec = spec_of_next(sieve, capacity, 0);
    tamis_status status = tamis_plan_spec(spec.text, &plan);
    if (!status && plan.payload_bytes > left) {
        spec = spec_of_next(sieve, 0, left);
        status = tamis_plan_spec(spec.text, &plan);
        sieve->is_full = !is_first && (status || plan.capacity < sieve->capacity / SMALL_PART);
        if (sieve->is_full) return 0;
    }
    options.secret = is_keyed(sieve->args) ? sieve->secret : NULL;
    if (!status) status = tamis_create_with(&sieve->stage[sieve->stages], spec.text, &options);
    if (status) return fail_why(sieve->args, NULL, status);
    sieve->stages++;
    sieve->bytes += plan.payload_bytes;
    sieve->capacity = plan.capacity;
    sieve->taken = sieve->looked_at = 0;
    sieve->newest_odds = 0;
    sieve->look_again = plan.capacity / 2 + 1;
    return 0;
}

/* The newest stage has taken its keys. Without memory for another it goes on to take them, and the
 * account shows what that costs. */
static int grow(struct sieve *sieve) {
    sieve_account(sieve);
    const double rate = sieve->rate;
    const size_t before = sieve->stages;
    sieve->is_full = sieve->stages == MAX_STAGES;
    const int code = sieve->is_full ? 0 : add_stage(sieve, next_capacity(sieve));
    if (sieve->stages > before) sieve->old_rate = rate;
    return code;
}

int sieve_open(struct sieve *sieve, const struct args *args, uint64_t memory,
               uint64_t input_bytes) {
    *sieve = (struct sieve){.args = args, .memory = memory, .input_bytes = input_bytes};
    sieve->fpr = rate_or(args, OPT_FPR, uniq_usual_fpr);
    /* Below that the first stages would take all of the rate, and equal hashes the rest. */
    const double min = 1e-10;
    if (sieve->fpr < min)
        return fail(args, "--fpr", "%s is too low (minimum: %g); --exact loses nothing",
                    args->setting[OPT_FPR].text, min);
    const int code = is_keyed(args) ? draw_random(args, sieve->secret, SECRET_BYTES) : 0;
    if (code) return code;
    const uint64_t asked = number_or(args, OPT_CAPACITY, FIRST_KEYS);
    return add_stage(sieve, asked > MIN_KEYS ? asked : MIN_KEYS);
}

void sieve_close(struct sieve *sieve) {
    for (size_t i = 0; i < sieve->stages; i++) tamis_free(sieve->stage[i]);
    sieve->stages = 0;
}

/* ---- Asking ---- */

/* Keys that no stage had so far, and where they stand in the group. */
struct misses {
    uint64_t hash[GROUP];
    uint16_t at[GROUP];
    size_t n;
};

/* Drops those that a stage has. */
static void ask_stage(const tamis *stage, struct misses *misses, uint8_t *hit) {
    uint8_t has[GROUP];
    size_t kept = 0;
    tamis_has_hashes(stage, misses->hash, misses->n, has);
    for (size_t i = 0; i < misses->n; i++) {
        hit[misses->at[i]] = has[i];
        misses->hash[kept] = misses->hash[i];
        misses->at[kept] = misses->at[i];
        kept += !has[i];
    }
    misses->n = kept;
}

/* Drops keys that stand in the list before, which no stage has yet. */
static void drop_repeats(struct misses *misses, uint8_t *hit) {
    enum { SLOTS = 4 * GROUP };
    uint16_t slot[SLOTS] = {0}; /* one more than where the key stands */
    size_t kept = 0;
    for (size_t i = 0; i < misses->n; i++) {
        const uint64_t hash = misses->hash[i];
        size_t at = hash % SLOTS;
        while (slot[at] && misses->hash[slot[at] - 1] != hash) at = (at + 1) % SLOTS;
        hit[misses->at[i]] = slot[at] != 0;
        if (slot[at]) continue;
        misses->hash[kept] = hash;
        slot[at] = (uint16_t)++kept;
    }
    misses->n = kept;
}

static int take_group(struct sieve *sieve, const uint64_t *hash, size_t n, uint8_t *hit) {
    struct misses misses;
    memcpy(misses.hash, hash, n * sizeof *hash);
    for (size_t i = 0; i < n; i++) misses.at[i] = (uint16_t)i;
    misses.n = n;
    /* The oldest first: it is small, and has what comes often. */
    for (size_t i = 0; i < sieve->stages; i++) ask_stage(sieve->stage[i], &misses, hit);
    drop_repeats(&misses, hit);
    const tamis_status status =
        tamis_add_hashes(sieve->stage[sieve->stages - 1], misses.hash, misses.n);
    if (status) return fail_why(sieve->args, NULL, status);
    sieve->taken += misses.n;
    sieve->keys += misses.n;
    if (sieve->taken >= sieve->capacity && !sieve->is_full) return grow(sieve);
    if (sieve->taken >= sieve->look_again) sieve_account(sieve);
    return 0;
}

int sieve_take(struct sieve *sieve, const uint64_t *hash, size_t n, uint8_t *hit) {
    int code = 0;
    for (size_t i = 0; i < n && !code; i += GROUP)
        code = take_group(sieve, hash + i, n - i < GROUP ? n - i : GROUP, hit + i);
    return code;
}
