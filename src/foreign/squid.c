/* SPDX-License-Identifier: MIT */
/* squid: a cache digest of the Squid proxy, which one Squid fetches from another to know its
 * contents.
 *
 *      0  current version    2 bytes, big-endian like all of them; 5
 *      2  required version   2        3
 *      4  capacity           4        keys it was planned for
 *      8  count              4        keys that were added, each as often as it was
 *     12  deleted            4        keys that left the cache; their bits stay
 *     16  bytes of bits      4        (capacity * bits per entry + 7) / 8
 *     20  bits per entry     1        5, unless configured otherwise
 *     21  hashes             1        4
 *     22  reserved         106
 *    128  bits                        bit i is bit i % 8 of byte i / 8
 *
 * A key is the MD5 of one byte for the method (1: GET, 2: POST, 3: PUT, 4: HEAD) and the URL; its
 * four big-endian words, modulo the number of bits, are the four positions. The method is not in
 * the file. With store_keys=1 a key of 16 bytes is such an MD5 itself, which Squid writes in its
 * store.log in hex; every other key is a URL still.
 *
 * There are always four probes, so that a digest of a low rate is large: 5 bits per entry give 9 %,
 * 11 give 1 %. For a rate, the plan takes the fewest whole bits per entry that keep it. */
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/foreign_hashes.h"
#include "foreign/format.h"

enum { BITS, HASHES, CAPACITY, PER_ENTRY, METHOD, STORE_KEYS };
enum { OPT_PER_ENTRY, OPT_METHOD, OPT_STORE_KEYS };
enum { GET, POST, PUT, HEAD, METHODS };
enum { PROBES = 4, MAX_PER_ENTRY = 255, CURRENT = 5, REQUIRED = 3, OLDEST = 3 };
enum { HEADER = 128, AT_REQUIRED = 2, AT_CAPACITY = 4, AT_COUNT = 8, AT_DELETED = 12 };
enum { AT_BYTES = 16, AT_PER_ENTRY = 20, AT_HASHES = 21 };
#define MAX_BITS ((uint64_t)INT32_MAX - 7)

static const struct tamis_option options[] = {
    {"bits_per_entry", NULL, 1, MAX_PER_ENTRY, "the fewest that keep the rate",
     "bits for each key of the capacity; Squid itself takes 5"},
    {"method", "get|post|put|head", 0, 0, "get", "of the requests that the URLs are for"},
    {"store_keys", NULL, 0, 1, "0", "1: keys of 16 bytes are store keys, not URLs"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    uint8_t digest[TAMIS_MD5_BYTES];
    if (word[STORE_KEYS] && key->len == TAMIS_MD5_BYTES) {
        memcpy(digest, key->bytes, TAMIS_MD5_BYTES);
    } else {
        const uint8_t method = (uint8_t)(word[METHOD] + 1);
        const struct tamis_key parts[] = {{&method, 1}, *key};
        tamis__md5(parts, 2, digest);
    }
    walk->a = tamis__get64_big(digest);
    walk->b = tamis__get64_big(digest + 8);
}

/* The upper half of `a`, its lower half, and the same of `b`. */
static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    const uint64_t now = walk->a >> 32;
    walk->a = walk->a << 32 | walk->b >> 32;
    walk->b <<= 32;
    return now % word[BITS];
}

static const tamis_bloomlike like = {
    .name = "squid", .header_bytes = HEADER, .begin = begin, .next = next};

/* ---- Counts --------------------------------------------------------------------------------- */

static uint64_t count_of(const tamis_body *f) {
    return tamis__get32_big(f->bytes + AT_COUNT);
}

/* It is a signed number of 32 bits there, and saturates. */
static void set_count(tamis_body *f, uint64_t count) {
    tamis__put32_big(f->bytes + AT_COUNT, count < INT32_MAX ? (uint32_t)count : INT32_MAX);
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static uint64_t bits_for(uint64_t capacity, uint64_t per_entry) {
    return (capacity * per_entry + 7) / 8 * 8;
}

static tamis_status too_large(uint64_t capacity, uint64_t per_entry) {
    return tamis__fail(TAMIS_TOO_LARGE,
                       "a Squid digest has at most 2^31-8 bits, too few for %llu keys with %llu "
                       "bits each",
                       (unsigned long long)capacity, (unsigned long long)per_entry);
}

/* The fewest bits per entry that keep the rate. */
static tamis_status by_rate(uint64_t capacity, double fpr, uint64_t *per_entry) {
    uint64_t low = 0, high = MAX_PER_ENTRY;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        const uint64_t word[] = {bits_for(capacity, middle), PROBES};
        if (tamis__like_rate(word, capacity) > fpr)
            low = middle;
        else
            high = middle;
    }
    const uint64_t word[] = {bits_for(capacity, high), PROBES};
    *per_entry = high;
    if (tamis__like_rate(word, capacity) <= fpr) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID,
                       "four probes and at most 255 bits per entry cannot reach a rate of %g", fpr);
}

static tamis_status by_bits(uint64_t capacity, uint64_t bits, uint64_t *per_entry) {
    *per_entry = bits / 8 * 8 / capacity;
    if (*per_entry > MAX_PER_ENTRY) *per_entry = MAX_PER_ENTRY;
    if (*per_entry) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID,
                       "a Squid digest has at least one bit per key: %llu bits are too few for "
                       "%llu keys",
                       (unsigned long long)bits, (unsigned long long)capacity);
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t capacity = params->capacity ? params->capacity : 1;
    uint64_t per_entry = params->option[OPT_PER_ENTRY];
    tamis_status rc = TAMIS_OK;
    if (capacity > MAX_BITS) return too_large(capacity, per_entry ? per_entry : 1);
    if (!params->has_option[OPT_PER_ENTRY])
        rc = params->bits ? by_bits(capacity, params->bits, &per_entry)
                          : by_rate(capacity, params->fpr, &per_entry);
    if (rc) return rc;
    if (capacity * per_entry > MAX_BITS) return too_large(capacity, per_entry);
    if (params->bits && bits_for(capacity, per_entry) > params->bits)
        return tamis__fail(TAMIS_INVALID, "%llu keys with %llu bits each need more than %llu bits",
                           (unsigned long long)capacity, (unsigned long long)per_entry,
                           (unsigned long long)params->bits);
    word[BITS] = bits_for(capacity, per_entry);
    word[HASHES] = PROBES;
    word[CAPACITY] = capacity;
    word[PER_ENTRY] = per_entry;
    word[METHOD] = params->option[OPT_METHOD];
    word[STORE_KEYS] = params->option[OPT_STORE_KEYS];
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    const uint64_t capacity = word[CAPACITY], per_entry = word[PER_ENTRY];
    if (per_entry == 0 || per_entry > MAX_PER_ENTRY)
        return tamis__fail(TAMIS_CORRUPT, "a Squid digest has 1 to %d bits per entry, not %llu",
                           MAX_PER_ENTRY, (unsigned long long)per_entry);
    if (capacity == 0 || capacity > MAX_BITS / per_entry)
        return tamis__fail(TAMIS_CORRUPT,
                           "a Squid digest with %llu bits per entry has a capacity from 1 to %llu, "
                           "not %llu",
                           (unsigned long long)per_entry,
                           (unsigned long long)(MAX_BITS / per_entry),
                           (unsigned long long)capacity);
    if (word[HASHES] != PROBES || word[BITS] != bits_for(capacity, per_entry))
        return tamis__fail(TAMIS_CORRUPT,
                           "a Squid digest of this capacity has %llu bits and 4 hashes, not %llu "
                           "and %llu",
                           (unsigned long long)bits_for(capacity, per_entry),
                           (unsigned long long)word[BITS], (unsigned long long)word[HASHES]);
    if (word[METHOD] >= METHODS || word[STORE_KEYS] > 1)
        return tamis__fail(TAMIS_CORRUPT,
                           "method is 0 to 3 and store_keys 0 or 1, not %llu and %llu",
                           (unsigned long long)word[METHOD], (unsigned long long)word[STORE_KEYS]);
    return tamis__like_check(&like, word, 8, MAX_BITS, size);
}

/* ---- The control block ---------------------------------------------------------------------- */

static uint64_t get16_big(const uint8_t *p) {
    return (uint64_t)p[0] << 8 | p[1];
}

static void start(tamis_body *f) {
    f->bytes[1] = CURRENT;
    f->bytes[AT_REQUIRED + 1] = REQUIRED;
    tamis__put32_big(f->bytes + AT_CAPACITY, (uint32_t)f->word[CAPACITY]);
    tamis__put32_big(f->bytes + AT_BYTES, (uint32_t)(f->word[BITS] / 8));
    f->bytes[AT_PER_ENTRY] = (uint8_t)f->word[PER_ENTRY];
    f->bytes[AT_HASHES] = PROBES;
}

/* What Squid requires of a digest; the numbers of the shape are checked elsewhere. */
static const char *why_not(const uint8_t *header) {
    const uint64_t current = get16_big(header), required = get16_big(header + AT_REQUIRED);
    if (required > CURRENT || current < OLDEST || current > INT16_MAX || required > current)
        return "its versions are not for a reader of version 5";
    if (tamis__get32_big(header + AT_COUNT) > INT32_MAX ||
        tamis__get32_big(header + AT_DELETED) > INT32_MAX)
        return "a count is negative";
    return NULL;
}

static tamis_status audit(const tamis_body *f) {
    const char *why = why_not(f->bytes);
    if (why) return tamis__fail(TAMIS_CORRUPT, "the header of a Squid digest: %s", why);
    if (tamis__get32_big(f->bytes + AT_CAPACITY) != f->word[CAPACITY] ||
        tamis__get32_big(f->bytes + AT_BYTES) != f->word[BITS] / 8 ||
        f->bytes[AT_PER_ENTRY] != f->word[PER_ENTRY] || f->bytes[AT_HASHES] != PROBES)
        return tamis__fail(TAMIS_CORRUPT, "the header of squid does not match its shape");
    return tamis__audit_padding(f, tamis__like_stored(&like, f->word));
}

/* ---- The kind ------------------------------------------------------------------------------- */

static tamis_status add(tamis_body *f, tamis_batch b) {
    tamis__like_add(f, b);
    set_count(f, count_of(f) + b.n);
    return TAMIS_OK;
}

static tamis_status merge(tamis_body *into, const tamis_body *from) {
    set_count(into, count_of(into) + count_of(from));
    return tamis__like_merge(into, from);
}

/* The number of keys in both is unknown; at most that of either. */
static tamis_status intersect(tamis_body *into, const tamis_body *from) {
    if (count_of(from) < count_of(into)) set_count(into, count_of(from));
    return tamis__like_intersect(into, from);
}

const tamis_kind tamis__squid = {
    .name = "squid",
    .contract = "a Bloom filter that Squid exchanges with its neighbours",
    .word = {"bits", "hashes", "capacity", "bits_per_entry", "method", "store_keys"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ANY_ORDER,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = start,
    .audit = audit,
    .measure = tamis__like_measure,
    .query = tamis__foreign_bloom_query,
    .add = add,
    .sets = &(const tamis_sets){.merge = merge, .intersect = intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

enum { SAID_METHOD, SAID_STORE_KEYS, PARAMS }; /* the options from the method on */

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    if (in->size < HEADER) return tamis__too_short("squid", in, HEADER);
    const uint8_t *p = in->bytes;
    const uint64_t bytes = tamis__get32_big(p + AT_BYTES);
    const char *why = why_not(p);
    if (why) return tamis__bad_format("squid", "%s", why);
    if (in->size != HEADER + bytes)
        return tamis__bad_format("squid", "the header says %llu bytes of bits, there are %llu",
                                 (unsigned long long)bytes,
                                 (unsigned long long)(in->size - HEADER));
    *out = (tamis_import_result){.kind = "squid",
                                 .word = {bytes * 8, p[AT_HASHES],
                                          tamis__get32_big(p + AT_CAPACITY), p[AT_PER_ENTRY],
                                          args->number[SAID_METHOD], args->number[SAID_STORE_KEYS]},
                                 .capacity = tamis__get32_big(p + AT_CAPACITY),
                                 .items = tamis__get32_big(p + AT_COUNT),
                                 .payload = *in};
    return TAMIS_OK;
}

const tamis_format tamis__format_squid = {
    .name = "squid",
    .system = "Squid cache digest",
    .kinds = "squid",
    .keys = "utf8 hex",
    .limits = "version 5; the method of the requests is not in the file",
    .params = &options[OPT_METHOD],
    .param_count = PARAMS,
    .read = read,
    .write = tamis__like_write,
};
