/* SPDX-License-Identifier: MIT */
/* bloomier: a map that is built once and does not store its keys.
 *
 * Every key gets a row of bits, its value and a guard made from its hash, and one of two engines
 * stores the rows so that the key's hash alone leads back to them. A key that was never put finds
 * some other row, whose guard matches with probability 2^-guard; then it gets a meaningless value.
 *
 *     engine=ribbon    rows are solutions of equations    about 1.002 (value + guard) bits a key
 *     engine=fuse      rows are xors of three cells       about 1.12 (value + guard), and faster
 *
 *     row:  [ value bits | guard bits ]       guard=0: every non-member gets a value
 *
 * With update=yes values can be set again. The row then only says which of its four slots belongs
 * to the key, no two keys share one, and values are in the slots:
 *
 *     cells:  ....a......│..a.....│.......a│...a....       xor: [ own: 2 bits | guard ]
 *     slots:  ...........│..V.....│........│........       own = 1: the value of a is V
 *
 * Chazelle, Kilian, Rubinfeld and Tal, "The Bloomier filter" (2004), who had both tables; the
 * engines are those of kinds/band.h and kinds/peel.h. */
#include <math.h>

#include "kinds/band.h"
#include "kinds/peel.h"
#include "kinds/segments.h"

enum { ENGINE = TAMIS_SEGMENT_WORDS, VALUE, GUARD, UPDATE };
enum { OPT_SEGMENT, OPT_ENGINE, OPT_VALUE, OPT_GUARD, OPT_UPDATE };
enum { RIBBON, FUSE };
enum { MAX_VALUE = 64, MAX_GUARD = 32 };

static const struct tamis_option options[] = {
    TAMIS_SEGMENT_OPTION,
    {"engine", "ribbon|fuse", 0, 0, "ribbon; fuse with update=yes",
     "how rows are stored: ribbon is smaller, fuse is faster"},
    {"value", NULL, 1, MAX_VALUE, "as the largest value needs", "bits of a value"},
    {"guard", NULL, 0, MAX_GUARD, "by fpr or size",
     "bits that reject non-members: the rate is 2^-guard"},
    {"update", "no|yes", 0, 0, "no", "may values be set again? takes two bits more, and slots"},
    {0},
};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* update takes four cells: two bits name one of them. */
static tamis_peel_form fuse_of(const uint64_t word[]) {
    return (tamis_peel_form){
        .segments = word[TAMIS_SEGMENTS],
        .arity = word[UPDATE] ? 4 : 3,
        .value_bits = (unsigned)word[VALUE],
        .guard_bits = (unsigned)word[GUARD],
        .has_slots = word[UPDATE],
    };
}

static tamis_band_form ribbon_of(const uint64_t word[]) {
    return (tamis_band_form){
        .value_bits = (unsigned)word[VALUE],
        .guard_bits = (unsigned)word[GUARD],
    };
}

/* Expected bytes for n keys. */
static uint64_t expect(const uint64_t word[], uint64_t keys) {
    const uint64_t segments = word[TAMIS_SEGMENTS];
    return tamis__segment_offsets_size(segments) +
           (word[ENGINE] == FUSE ? tamis__peel_expect(fuse_of(word), keys)
                                 : tamis__band_expect(ribbon_of(word), keys, segments));
}

/* The most guard bits with which the payload fits the size; where values of any width are to be
 * expected, the widest values first. Segments differ by chance: each is planned with four standard
 * deviations more keys. */
static tamis_status widest(const tamis_params *params, uint64_t min_value, uint64_t word[]) {
    const uint64_t segments = word[TAMIS_SEGMENTS];
    const uint64_t spare =
        segments > 1 ? 4 * (uint64_t)sqrt((double)(params->capacity / segments)) : 0;
    const uint64_t keys = params->capacity + spare * segments;
    const uint64_t max = params->has_option[OPT_GUARD] ? word[GUARD] : MAX_GUARD;
    const uint64_t min = params->has_option[OPT_GUARD] ? word[GUARD] : 0;
    for (; word[VALUE] >= min_value; word[VALUE]--)
        for (word[GUARD] = max + 1; word[GUARD]-- > min;)
            if (expect(word, keys) <= params->bits / 8) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "size=%llu is too small for %llu keys with %llu bits each",
                       (unsigned long long)(params->bits / 8), (unsigned long long)params->capacity,
                       (unsigned long long)(min_value + min));
}

/* Guard bits by the parameters; values have word[VALUE] bits, or at least `min_value`. */
static tamis_status choose_guard(const tamis_params *params, uint64_t min_value, uint64_t word[]) {
    if (params->has_option[OPT_GUARD]) word[GUARD] = params->option[OPT_GUARD];
    if (params->bits) return widest(params, min_value, word);
    if (params->has_option[OPT_GUARD]) return TAMIS_OK;
    word[GUARD] = tamis__peel_guard_for(params->fpr);
    if (word[GUARD] <= MAX_GUARD) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "fpr=%.3g is too low; the minimum for bloomier is 2^-%d",
                       params->fpr, MAX_GUARD);
}

static tamis_status choose_engine(const tamis_params *params, uint64_t word[]) {
    word[UPDATE] = tamis__chosen(params, OPT_UPDATE, 0);
    word[ENGINE] = tamis__chosen(params, OPT_ENGINE, word[UPDATE] ? FUSE : RIBBON);
    if (word[UPDATE] && word[ENGINE] != FUSE)
        return tamis__fail(TAMIS_INVALID, "update=yes needs engine=fuse");
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const bool has_value = params->has_option[OPT_VALUE];
    tamis_status rc = choose_engine(params, word);
    if (rc) return rc;
    word[TAMIS_SEGMENT_KEYS] = tamis__segment_keys(params);
    word[TAMIS_SEGMENTS] = tamis__segments_for(word, params->capacity);
    word[VALUE] = has_value ? params->option[OPT_VALUE] : MAX_VALUE;
    rc = choose_guard(params, has_value ? word[VALUE] : 1, word);
    if (rc) return rc;
    word[TAMIS_SEGMENT_BYTES] = expect(word, params->capacity);
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[ENGINE] > FUSE || word[UPDATE] > 1 || (word[UPDATE] && word[ENGINE] != FUSE))
        return tamis__fail(TAMIS_CORRUPT, "bloomier has no engine %llu with update %llu",
                           (unsigned long long)word[ENGINE], (unsigned long long)word[UPDATE]);
    if (word[VALUE] < 1 || word[VALUE] > MAX_VALUE || word[GUARD] > MAX_GUARD)
        return tamis__fail(TAMIS_CORRUPT,
                           "bloomier cannot have values of %llu bits, guards of %llu",
                           (unsigned long long)word[VALUE], (unsigned long long)word[GUARD]);
    return tamis__segments_check(word, 0, size);
}

static uint64_t probes(const uint64_t word[]) {
    return word[ENGINE] == FUSE ? fuse_of(word).arity : word[VALUE] + word[GUARD];
}

static double rate(const uint64_t word[], uint64_t items) {
    return items ? ldexp(1, -(int)word[GUARD]) : 0;
}

static uint64_t max_value(const uint64_t word[]) {
    return tamis__field_mask((unsigned)word[VALUE]);
}

static unsigned lacks(const uint64_t word[]) {
    return word[UPDATE] ? 0 : TAMIS_CAN_PUT;
}

static uint64_t keys_of_segment(const tamis_body *f, const uint8_t *segment) {
    return f->word[ENGINE] == FUSE ? tamis__peel_keys(segment) : tamis__band_keys(segment);
}

static tamis_status audit(const tamis_body *f) {
    const bool is_fuse = f->word[ENGINE] == FUSE;
    uint64_t keys = 0;
    tamis_status rc = tamis__segments_audit(f, 0, is_fuse ? TAMIS_PEEL_HEADER : TAMIS_BAND_MIN);
    for (uint64_t i = 0; i < f->word[TAMIS_SEGMENTS] && !rc; i++) {
        uint64_t size;
        const uint8_t *segment = tamis__segment(f, i, &size);
        rc = is_fuse ? tamis__peel_audit(fuse_of(f->word), segment, size)
                     : tamis__band_audit(ribbon_of(f->word), segment, size);
        keys += keys_of_segment(f, segment);
    }
    if (!rc && keys != f->items)
        rc = tamis__fail(TAMIS_CORRUPT, "damaged: segments of %llu keys, not %llu",
                         (unsigned long long)keys, (unsigned long long)f->items);
    return rc;
}

/* ---- Building ------------------------------------------------------------------------------- */

static tamis_status fit(const tamis_params *params, const tamis_census *census, uint64_t word[]) {
    word[TAMIS_SEGMENTS] = tamis__segments_for(word, census->records);
    if (params->has_option[OPT_VALUE]) return TAMIS_OK;
    word[VALUE] = census->max ? tamis__log2_floor(census->max) + 1 : 1;
    return choose_guard(params, word[VALUE], word);
}

static uint64_t work(const uint64_t word[], uint64_t n) {
    return word[ENGINE] == FUSE ? tamis__peel_work(fuse_of(word), n)
                                : tamis__band_work(ribbon_of(word), n);
}

static uint64_t max(const uint64_t word[], uint64_t n) {
    return word[ENGINE] == FUSE ? tamis__peel_max_bytes(fuse_of(word), n)
                                : tamis__band_max_bytes(ribbon_of(word), n);
}

static tamis_status make(const uint64_t word[], const tamis_segment *s, uint8_t *room, uint8_t *out,
                         uint64_t *size) {
    if (word[ENGINE] == FUSE) {
        const tamis_peel_task task = {
            .hash = s->hash, .value = s->value, .n = s->n, .stop = s->stop};
        return tamis__peel_make(fuse_of(word), &task, room, out, size);
    }
    const tamis_band_task task = {.hash = s->hash, .value = s->value, .n = s->n, .stop = s->stop};
    return tamis__band_make(ribbon_of(word), &task, room, out, size);
}

/* ---- Querying ------------------------------------------------------------------------------- */

/* All rows of a group are prefetched before the first is read. */
enum { GROUP = 32 };

static void aim_fuse(const tamis_peel_form *form, const tamis_body *f, uint64_t hash,
                     tamis_peel_aim *aim) {
    uint64_t rest;
    const uint64_t at = tamis__multiply(hash, form->segments, &rest);
    tamis__peel_aim_at(form, f->bytes + tamis__segment_start(f, at), rest, aim);
}

static void ask_fuse(const tamis_body *f, const uint64_t *hash, size_t n, uint64_t *value,
                     uint8_t *hit) {
    const tamis_peel_form form = fuse_of(f->word);
    tamis_peel_aim aim[GROUP];
    for (size_t i = 0; i < n; i++) aim_fuse(&form, f, hash[i], &aim[i]);
    for (size_t i = 0; i < n; i++) {
        hit[i] = tamis__peel_hit(&form, &aim[i]);
        if (hit[i] && value) tamis__peel_reach(&form, &aim[i]);
    }
    for (size_t i = 0; i < n && value; i++)
        if (hit[i]) value[i] = tamis__peel_value(&form, &aim[i]);
}

static void ask_ribbon(const tamis_body *f, const uint64_t *hash, size_t n, uint64_t *value,
                       uint8_t *hit) {
    const tamis_band_form form = ribbon_of(f->word);
    const tamis_band_set set = tamis__band_set(f, 0);
    tamis__band_ask_all(&form, &set, hash, n, value, hit);
}

static void get(const tamis_body *f, tamis_batch b, uint64_t *value, uint8_t *hit) {
    if (f->word[ENGINE] != FUSE) {
        ask_ribbon(f, b.hash, b.n, value, hit);
        return;
    }
    for (size_t group; b.n; b.hash += group, hit += group, b.n -= group) {
        group = b.n < GROUP ? b.n : GROUP;
        ask_fuse(f, b.hash, group, value, hit);
        if (value) value += group;
    }
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    get(f, b, NULL, hit);
}

/* ---- Setting values ------------------------------------------------------------------------- */

/* All keys are looked up before the first value is set. */
static tamis_status put(tamis_body *f, tamis_batch b, const uint64_t *value) {
    const tamis_peel_form form = fuse_of(f->word);
    tamis_peel_aim aim;
    for (size_t i = 0; i < b.n; i++) {
        aim_fuse(&form, f, b.hash[i], &aim);
        if (!tamis__peel_hit(&form, &aim))
            return tamis__fail(TAMIS_NOT_FOUND,
                               "the key is not in the map: only values of its keys can be set");
    }
    for (size_t i = 0; i < b.n; i++) {
        aim_fuse(&form, f, b.hash[i], &aim);
        tamis__peel_reach(&form, &aim);
        tamis__bits_put(f->bytes + (aim.slots - f->bytes), aim.slot, form.value_bits, value[i]);
    }
    return TAMIS_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* The fill is the share of bits that the rows of the keys take. */
static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    const uint64_t bits = f->size * 8;
    uint64_t keys = 0;
    (void)other;
    for (uint64_t i = 0; i < f->word[TAMIS_SEGMENTS]; i++)
        keys += keys_of_segment(f, f->bytes + tamis__segment_start(f, i));
    const uint64_t used = keys * (f->word[VALUE] + f->word[GUARD]);
    out->bits_set = used < bits ? used : bits;
    out->bits = bits;
    out->fpr = rate(f->word, keys);
    out->items = (struct tamis_estimate){(double)keys, 0};
}

static const tamis_build build = {
    .rule = TAMIS_RECORDS_VALUES,
    .made = TAMIS_SEGMENT_MADE,
    .cut = TAMIS_SEGMENT_CUT,
    .fit = fit,
    .segment = tamis__segment_of,
    .work = work,
    .max = max,
    .make = make,
};

const tamis_kind tamis__bloomier = {
    .name = "bloomier",
    .contract = "built once: the value of every key; others get one with chance 2^-guard",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "engine", "value", "guard", "update"},
    .options = options,
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .lacks = lacks,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .values = &(const tamis_values){.get = get, .put = put, .max_value = max_value},
    .build = &build,
};
