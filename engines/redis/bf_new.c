/* SPDX-License-Identifier: MIT */
/* BF.*: what new filters are.
 *
 * Of our own: scalable, whose stages double whatever the expansion says; what does not scale is
 * blocked, and classic where so few mistakes are wanted that blocks would cost too many bits. With
 * the setting bf-kind redisbloom: what RedisBloom itself would make, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/bf.h"
#include "engines/redis/little_endian.h"
#include "tamis_engine.h"

bf_params bf_usual_params(void) {
    return (bf_params){.rate = settings.bf_error_rate,
                       .capacity = settings.bf_initial_size,
                       .expansion = settings.bf_expansion_factor,
                       .is_fixed = settings.bf_expansion_factor == 0};
}

/* ---- Specs ----------------------------------------------------------------------------------- */

/* From here on blocks cost more bits than what they save in time is worth. */
static const double blocked_from = 1e-4;

/* RedisBloom caps at a quarter. Below, 64 bits of hash set a limit: among that many items two have
 * the same hash more often. */
static double possible_rate(const request *r, double rate, double capacity) {
    const double max = 0.25, min = fmax(1e-12, capacity * 0x1p-62);
    const double used = fmin(max, fmax(min, rate));
    if (used != rate)
        redis.Log(r->ctx, "notice", "an error rate of %g is made as %g: rates are from %g to %g",
                  rate, used, min, max);
    return used;
}

static const char *kind_for(const bf_params *w, double rate) {
    if (settings.bf_kind == KIND_ORIGIN) return "redisbloom";
    return !w->is_fixed ? "scalable" : rate < blocked_from ? "classic" : "blocked";
}

/* RedisBloom's own filters know all that their commands tell, and go through its files, which have
 * no notes. */
static void note_facts(creation *c, const bf_params *w) {
    const facts f = {.family = FAMILY_BF, .expansion = w->is_fixed ? 0 : (uint64_t)w->expansion};
    if (settings.bf_kind == KIND_ORIGIN) return;
    creation_facts(c, &f);
    if (w->tightening)
        creation_note_text(c, "redis.tightening", redis.StringPtrLen(w->tightening, NULL));
}

bool bf_plan(request *r, const bf_params *w, creation *c) {
    char spec[160], origin[64] = "";
    const double rate = possible_rate(r, w->rate, (double)w->capacity);
    *c = (creation){.event = "bloom.reserve"};
    if (settings.bf_kind == KIND_ORIGIN) {
        snprintf(origin, sizeof origin, ",expansion=%lld%s", w->expansion,
                 w->is_fixed ? ",scaling=no" : "");
    } else if (w->has_secret) {
        memcpy(c->secret, w->secret, SECRET_BYTES);
        c->has_secret = true;
    }
    snprintf(spec, sizeof spec, "%s:capacity=%lld,fpr=%.17g%s%s", kind_for(w, rate), w->capacity,
             rate, origin, c->has_secret ? ",hash=sip13" : "");
    const tamis_status rc = creation_plan(c, spec, strlen(spec));
    if (rc) {
        reply_error(r->ctx, "ERR could not create filter: %s", tamis_why());
        return false;
    }
    note_facts(c, w);
    return true;
}

/* Half of the seed is the key under which the other half is hashed, twice. */
bool bf_secret_of(const uint8_t seed[SEED_BYTES], uint8_t secret[SECRET_BYTES]) {
    const struct tamis_options options = value_options(seed);
    uint8_t text[SEED_BYTES - SECRET_BYTES + 1];
    tamis *keyed;
    if (tamis_create_with(&keyed, "classic:capacity=1,hash=sip13", &options)) return false;
    memcpy(text, seed + SECRET_BYTES, sizeof text - 1);
    for (uint8_t i = 0; i < SECRET_BYTES / 8; i++) {
        text[sizeof text - 1] = i;
        const uint64_t hash = tamis_hash(keyed, text, sizeof text);
        le_put(secret + 8 * i, 8, hash);
    }
    tamis_free(keyed);
    return true;
}

/* ---- Where scaling leads --------------------------------------------------------------------- */

/* As the origin does it: half the rate for each link. */
static double bytes_of_link(const bf_scaling *s, double capacity, int i) {
    const double ln2_squared = 0.480453013918201, rate = s->rate * exp2(-1 - i), word = 64;
    return rate > 0 ? ceil(capacity * -log(rate) / ln2_squared / word) * 8 : INFINITY;
}

/* As the kind scalable plans them: each stage has less of the rate, by squares. */
static double bytes_of_stage(const bf_scaling *s, double capacity, int i) {
    const double first_share = 0.607926, n = i + 1, line = 64;
    const double rate = fmax(1e-12, s->rate * first_share / (n * n));
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    char spec[128];
    snprintf(spec, sizeof spec, "%s:capacity=%.0f,fpr=%.17g",
             s->rate < blocked_from ? "classic" : "blocked", capacity, rate);
    if (tamis_plan_spec(spec, &plan)) return INFINITY;
    return line + ceil((double)plan.payload_bytes / line) * line;
}

/* One stage after the other, until there is room for `items`, or the next would pass `bytes`. */
static double scale(const bf_scaling *s, double items, double bytes, double *used) {
    enum { MAX_STAGES = 2048 };
    const double factor = s->is_origin ? (double)s->expansion : 2;
    double stage = (double)s->capacity, sum = 0;
    *used = 0;
    for (int i = 0; i < MAX_STAGES && sum < items; i++, stage *= factor) {
        const double more = s->is_origin ? bytes_of_link(s, stage, i) : bytes_of_stage(s, stage, i);
        if (!(*used + more <= bytes)) break;
        *used += more;
        sum += stage;
    }
    return sum;
}

uint64_t bf_scaled_bytes(const bf_scaling *s, uint64_t items) {
    double used;
    const double reached = scale(s, (double)items, 0x1p56, &used);
    return reached < (double)items ? UINT64_MAX : (uint64_t)used;
}

uint64_t bf_scaled_capacity(const bf_scaling *s, uint64_t bytes) {
    double used;
    return (uint64_t)fmin(scale(s, INFINITY, (double)bytes, &used), 0x1p62);
}
