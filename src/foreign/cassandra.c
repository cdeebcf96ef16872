/* SPDX-License-Identifier: MIT */
/* cassandra: the Filter.db beside each SSTable of Apache Cassandra.
 *
 *     hashes  4 bytes  big-endian, k
 *     words   4 bytes  big-endian, w
 *     bits    8 w
 *
 * The layout depends on the version of the SSTable, which only the file's name shows
 * (nb-1-big-Filter.db), so that it must be given:
 *
 *     version           server         bits                           a key starts at, and steps by
 *     na nb nc  oa  da  4.0 and later  bytes, as anywhere             h2, h1
 *     ma to me          3.x            each 8 bytes are reversed      h2, h1
 *     ja jb ka la lb    2.x            the same                       h1, h2
 *
 * h1 and h2 are the halves of MurmurHash3 of the partition key as stored in the SSTable, where the
 * last bytes are taken as signed: text as UTF-8, int and bigint big-endian, and a key of several
 * columns as a 16-bit length, the bytes and a zero for each. An empty file is a filter that was
 * switched off (a rate of 1): it answers maybe to everything. Its payload is eight zeros. */
#include <math.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/murmur.h"

enum { BITS, HASHES, VERSION };
enum { SINCE_4, SINCE_3, SINCE_2, FAMILIES };
enum { OPT_HASHES, OPT_VERSION };
enum { HEADER = 8, NO_FILTER_BYTES = 8, EXCESS_BITS = 20 };
#define MAX_BITS ((uint64_t)INT32_MAX * 64)

/* The first three are the names of the families in specs. */
#define VERSIONS      "nb|me|lb|na|nc|oa|da|ma|mb|mc|md|ja|jb|ka|la"
#define VERSIONS_HELP "of the SSTable, as in its name: ja to lb, ma to me, na to oa, da"
static const uint8_t family[] = {SINCE_4, SINCE_3, SINCE_2, SINCE_4, SINCE_4,
                                 SINCE_4, SINCE_4, SINCE_3, SINCE_3, SINCE_3,
                                 SINCE_3, SINCE_2, SINCE_2, SINCE_2, SINCE_2};

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as Cassandra does", "probes per key, k"},
    {"version", VERSIONS, 0, 0, "nb", VERSIONS_HELP},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    const tamis_pair h = tamis__murmur3_cassandra(key);
    const bool is_old = word[VERSION] == SINCE_2;
    walk->a = is_old ? h.h1 : h.h2;
    walk->b = is_old ? h.h2 : h.h1;
}

/* Java takes the absolute value of the signed remainder: which is the remainder of the absolute
 * value. That of the least number of 64 bits is 2^63 and has no sign here. */
static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    const uint64_t now = walk->a;
    walk->a += walk->b;
    return (now >> 63 ? 0 - now : now) % word[BITS];
}

static void header(const uint64_t word[], uint8_t *to) {
    tamis__put32_big(to, (uint32_t)word[HASHES]);
    tamis__put32_big(to + 4, (uint32_t)(word[BITS] / 64));
}

static const tamis_bloomlike plain = {.name = "cassandra",
                                      .header_bytes = HEADER,
                                      .header = header,
                                      .has_steps = true,
                                      .begin = begin,
                                      .next = next};
static const tamis_bloomlike reversed = {.name = "cassandra",
                                         .header_bytes = HEADER,
                                         .header = header,
                                         .is_big_endian = true,
                                         .has_steps = true,
                                         .begin = begin,
                                         .next = next};

static const tamis_bloomlike *like_of(const uint64_t word[]) {
    return word[VERSION] == SINCE_4 ? &plain : &reversed;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Cassandra plans by this table: the first row whose rate is no higher than the target. */
static const struct {
    double rate;
    uint8_t bits, hashes; /* bits per key */
} table[] = {
    {0.393, 1, 2},      {0.283, 3, 1},      {0.237, 3, 2},      {0.221, 4, 1},
    {0.155, 4, 2},      {0.147, 4, 3},      {0.109, 5, 2},      {0.092, 5, 3},
    {0.0804, 6, 2},     {0.0609, 6, 3},     {0.0561, 6, 4},     {0.0423, 7, 3},
    {0.0359, 7, 4},     {0.0347, 7, 5},     {0.0306, 8, 3},     {0.024, 8, 4},
    {0.0217, 8, 5},     {0.0216, 8, 6},     {0.0166, 9, 4},     {0.0141, 9, 5},
    {0.0133, 9, 6},     {0.0118, 10, 4},    {0.00943, 10, 5},   {0.00844, 10, 6},
    {0.00819, 10, 7},   {0.0065, 11, 5},    {0.00552, 11, 6},   {0.00513, 11, 7},
    {0.00509, 11, 8},   {0.00459, 12, 5},   {0.00371, 12, 6},   {0.00329, 12, 7},
    {0.00314, 12, 8},   {0.00255, 13, 6},   {0.00217, 13, 7},   {0.00199, 13, 8},
    {0.00194, 13, 9},   {0.00179, 14, 6},   {0.00146, 14, 7},   {0.00129, 14, 8},
    {0.00121, 14, 9},   {0.0012, 14, 10},   {0.001, 15, 7},     {0.000852, 15, 8},
    {0.000775, 15, 9},  {0.000744, 15, 10}, {0.000702, 16, 7},  {0.000574, 16, 8},
    {0.000505, 16, 9},  {0.00047, 16, 10},  {0.000459, 16, 11}, {0.000394, 17, 8},
    {0.000335, 17, 9},  {0.000302, 17, 10}, {0.000287, 17, 11}, {0.000284, 17, 12},
    {0.000275, 18, 8},  {0.000226, 18, 9},  {0.000198, 18, 10}, {0.000183, 18, 11},
    {0.000176, 18, 12}, {0.000155, 19, 9},  {0.000132, 19, 10}, {0.000118, 19, 11},
    {0.000111, 19, 12}, {0.000109, 19, 13}, {0.000108, 20, 9},  {8.89e-05, 20, 10},
    {7.77e-05, 20, 11}, {7.12e-05, 20, 12}, {6.79e-05, 20, 13}, {6.71e-05, 20, 14},
};
enum { ROWS = sizeof table / sizeof *table };

static tamis_status plan_by_table(const tamis_params *params, uint64_t word[]) {
    size_t row = 0;
    while (row < ROWS && table[row].rate > params->fpr) row++;
    if (row == ROWS)
        return tamis__fail(TAMIS_INVALID, "cassandra plans rates down to 6.71e-05, not %g",
                           params->fpr);
    word[BITS] = (params->capacity * table[row].bits + EXCESS_BITS + 63) / 64 * 64;
    word[HASHES] = tamis__like_hashes(params, table[row].hashes);
    return TAMIS_OK;
}

/* Cassandra cannot plan for a size; the usual best number of hashes goes with it. */
static tamis_status plan_by_size(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    word[BITS] = params->bits / 64 * 64;
    if (word[BITS] == 0)
        return tamis__fail(TAMIS_INVALID,
                           "cassandra has words of 64 bits: bits=%llu is not a multiple",
                           (unsigned long long)params->bits);
    word[HASHES] = tamis__like_hashes(params, floor((double)word[BITS] / keys * log(2) + 0.5));
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const tamis_status rc = (params->bits ? plan_by_size : plan_by_table)(params, word);
    if (rc) return rc;
    if (word[BITS] > MAX_BITS)
        return tamis__fail(TAMIS_TOO_LARGE, "cassandra has at most 2^31-1 words of 64 bits");
    word[VERSION] = family[params->option[OPT_VERSION]];
    return TAMIS_OK;
}

/* A filter that was switched off. Without bits and hashes, adding and merging do nothing. */
static bool is_off(const uint64_t word[]) {
    return word[BITS] == 0 && word[HASHES] == 0;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[VERSION] >= FAMILIES)
        return tamis__fail(TAMIS_CORRUPT, "cassandra has no versions of family %llu",
                           (unsigned long long)word[VERSION]);
    if (!is_off(word)) return tamis__like_check(like_of(word), word, 64, MAX_BITS, size);
    *size = NO_FILTER_BYTES;
    return TAMIS_OK;
}

static double rate(const uint64_t word[], uint64_t items) {
    return is_off(word) ? 1 : tamis__like_rate(word, items);
}

/* ---- The kind ------------------------------------------------------------------------------- */

static const tamis_bloomlike layouts = {.by_shape = like_of};

static tamis_status audit(const tamis_body *f) {
    if (!is_off(f->word)) return tamis__like_audit(f);
    return tamis__get64(f->bytes) == 0
               ? TAMIS_OK
               : tamis__fail(TAMIS_CORRUPT, "a filter that is switched off is not empty");
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    if (is_off(f->word))
        memset(hit, 1, b.n);
    else
        tamis__foreign_bloom_query(f, b, hit);
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    if (is_off(f->word))
        *out = (tamis_measurement){
            .bits_set = 1, .bits = 1, .fpr = 1, .items = {INFINITY, INFINITY}}; /* as if full */
    else
        tamis__like_measure(f, other, out);
}

const tamis_kind tamis__cassandra = {
    .name = "cassandra",
    .contract = "a Bloom filter that Apache Cassandra can read and write",
    .word = {"bits", "hashes", "version"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .own = &layouts,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = rate,
    .start = tamis__like_start,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = tamis__like_add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The format ----------------------------------------------------------------------------- */

enum { PARAM_VERSION };

static const struct tamis_option params[] = {
    {"version", VERSIONS, 0, 0, "must be said", VERSIONS_HELP},
};

static tamis_status version_said(const tamis_format_args *args, uint64_t *out) {
    if (!args->has[PARAM_VERSION])
        return tamis__fail(TAMIS_INVALID,
                           "cassandra needs the version of the SSTable, the two letters in the "
                           "name of the file, as in cassandra:version=nb");
    *out = family[args->number[PARAM_VERSION]];
    return TAMIS_OK;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    static const uint8_t no_bytes[1];
    *out = (tamis_import_result){.kind = "cassandra", .payload = {no_bytes, 0, NULL}};
    const tamis_status rc = version_said(args, &out->word[VERSION]);
    if (rc || in->size == 0) return rc;
    if (in->size < HEADER) return tamis__too_short("cassandra", in, HEADER);
    const uint64_t words = tamis__get32_big(in->bytes + 4);
    if (words == 0 || words > INT32_MAX || in->size != HEADER + 8 * words)
        return tamis__bad_format(
            "cassandra", "%llu words need %llu bytes, not %llu", (unsigned long long)words,
            (unsigned long long)(HEADER + 8 * words), (unsigned long long)in->size);
    out->word[BITS] = words * 64;
    out->word[HASHES] = tamis__get32_big(in->bytes);
    out->capacity = tamis__like_capacity(words * 64, out->word[HASHES]);
    out->payload = *in;
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    const uint64_t *word = out->body->word;
    const uint8_t *bytes = out->body->bytes;
    uint64_t version = 0;
    tamis_status rc = version_said(args, &version);
    if (rc || is_off(word)) return rc;
    if (version == word[VERSION]) return tamis__like_write(out, args);
    if (version == SINCE_2 || word[VERSION] == SINCE_2)
        return tamis__fail(
            TAMIS_UNSUPPORTED,
            "SSTables up to lb place keys differently from those from ma on: without the "
            "keys one cannot be converted to the other");
    rc = tamis__export_write(out, bytes, HEADER);
    return rc ? rc : tamis__export_reversed(out, bytes + HEADER, word[BITS] / 8);
}

const tamis_format tamis__format_cassandra = {
    .name = "cassandra",
    .system = "Cassandra Filter.db",
    .kinds = "cassandra",
    .keys = "utf8 int32be int64be uuid bytes",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read,
    .write = write,
};
