/* SPDX-License-Identifier: MIT */
/* libbloom: Jyri Virkki's libbloom, as bloom_save of version 2.0 writes it, and the bits of 1.x.
 *
 *     0   "libbloom2"
 *     9   size of what follows, 2 bytes, 64
 *    11   entries, 4 bytes, and 4 of 0
 *    19   bits, 8
 *    27   bytes of them, 8
 *    35   hashes, 1, and 7 of 0
 *    43   the target rate, a double
 *    51   is ready: 1; version: 2, 0; and 5 of 0
 *    59   bits per entry, a double
 *    67   where the bits were in memory, 8: 0 here
 *    75   bits
 *
 * That is a C struct of a 64-bit machine, little-endian, with an address in it that is meaningless
 * elsewhere and differs in every run: it becomes 0. bloom_save does not truncate an older, longer
 * file, so that stray bytes may follow the bits: they are refused, or dropped with trailing=drop.
 *
 * Version 1 has no file. In memory it has bits, which are the whole of the format libbloom1, and
 * the same struct is kept here before them, with a 1 for the version. Its arithmetic has 32 bits
 * where that of version 2 has 64, so that the same keys set other bits. */
#include <math.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/foreign_bloom.h"
#include "foreign/format.h"
#include "foreign/murmur.h"

enum { BITS, HASHES, ENTRIES, RATE, PER_ENTRY, VERSION };
enum { VERSION_2, VERSION_1, VERSIONS };
enum { OPT_HASHES, OPT_ENTRIES, OPT_RATE, OPT_PER_ENTRY, OPT_VERSION };
enum {
    AT_SIZE = 9,
    AT_ENTRIES = 11,
    AT_BITS = 19,
    AT_BYTES = 27,
    AT_HASHES = 35,
    AT_RATE = 43,
    AT_READY = 51,
    AT_PER_ENTRY = 59,
    AT_ADDRESS = 67,
    HEADER = 75
};
enum { STRUCT = 64, FEWEST_ENTRIES = 1000 };
static const char magic[AT_SIZE + 1] = "libbloom2";
#define MAX_BITS  ((uint64_t)1 << 48)
#define LN2       0.693147180559945 /* with libbloom's digits */
#define LN2_TWICE 0.480453013918201

static const struct tamis_option options[] = {
    {"hashes", NULL, 1, 255, "as libbloom does", "probes per key"},
    {"entries", NULL, 0, UINT32_MAX, "the capacity, from 1000 on", "entries in the header"},
    {"rate", NULL, 0, UINT64_MAX, "fpr", "error in the header: the bits of a double, as a number"},
    {"per_entry", NULL, 0, UINT64_MAX, "by the rate", "bits per entry in the header, likewise"},
    {"version", "2|1", 0, 0, "2", "of libbloom"},
    {0},
};

/* ---- Positions ------------------------------------------------------------------------------ */

static void begin(const uint64_t word[], const struct tamis_key *key, tamis_walk *walk) {
    (void)word;
    walk->a = tamis__murmur2_32(key, 0x9747b28c);
    walk->b = tamis__murmur2_32(key, (uint32_t)walk->a);
}

static uint64_t next(const uint64_t word[], tamis_walk *walk) {
    const uint64_t now = walk->a;
    walk->a += walk->b;
    return (word[VERSION] == VERSION_1 ? (uint32_t)now : now) % word[BITS];
}

static double bits_per_entry(double rate) {
    return -log(rate) / LN2_TWICE;
}

static void header(const uint64_t word[], uint8_t *to) {
    memcpy(to, magic, AT_SIZE);
    to[AT_SIZE] = STRUCT;
    tamis__put32(to + AT_ENTRIES, (uint32_t)word[ENTRIES]);
    tamis__put64(to + AT_BITS, word[BITS]);
    tamis__put64(to + AT_BYTES, (word[BITS] + 7) / 8);
    to[AT_HASHES] = (uint8_t)word[HASHES];
    tamis__put64(to + AT_RATE, word[RATE]);
    to[AT_READY] = 1;
    to[AT_READY + 1] = word[VERSION] == VERSION_2 ? 2 : 1;
    tamis__put64(to + AT_PER_ENTRY, word[PER_ENTRY]);
}

static const tamis_bloomlike like = {.name = "libbloom",
                                     .header_bytes = HEADER,
                                     .header = header,
                                     .has_steps = true,
                                     .begin = begin,
                                     .next = next};

/* ---- Shape ---------------------------------------------------------------------------------- */

/* Version 2 multiplies with more digits, and truncation may give another bit. */
static double bits_for(uint64_t entries, double rate, uint64_t version) {
    return version == VERSION_2 ? (double)floorl((long double)entries * bits_per_entry(rate))
                                : floor((double)entries * bits_per_entry(rate));
}

static double hashes_for(double per_entry) {
    return fmin(fmax(1, ceil(LN2 * per_entry)), TAMIS_LIKE_MAX_HASHES);
}

static tamis_status check_limits(uint64_t entries, double bits, uint64_t version) {
    const uint64_t max_entries = version == VERSION_2 ? UINT32_MAX : INT32_MAX;
    if (entries > max_entries)
        return tamis__fail(TAMIS_TOO_LARGE, "libbloom has at most %llu entries, not %llu",
                           (unsigned long long)max_entries, (unsigned long long)entries);
    if (bits < 1)
        return tamis__fail(TAMIS_INVALID,
                           "libbloom makes no filter of 0 bits: a lower rate is needed");
    if (bits > (version == VERSION_2 ? (double)MAX_BITS : INT32_MAX))
        return tamis__fail(TAMIS_TOO_LARGE, "libbloom has at most 2^%d bits in version %d",
                           version == VERSION_2 ? 48 : 31, version == VERSION_2 ? 2 : 1);
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const uint64_t entries = params->capacity > FEWEST_ENTRIES ? params->capacity : FEWEST_ENTRIES;
    const uint64_t version = params->option[OPT_VERSION];
    const double bits =
        params->bits ? (double)params->bits : bits_for(entries, params->fpr, version);
    const double per_entry = params->bits ? bits / (double)entries : bits_per_entry(params->fpr);
    const double rate = params->bits ? exp(-per_entry * LN2_TWICE) : params->fpr;
    const tamis_status rc = check_limits(entries, bits, version);
    if (rc) return rc;
    word[BITS] = (uint64_t)bits;
    word[HASHES] = tamis__like_hashes(params, hashes_for(per_entry));
    word[ENTRIES] = params->has_option[OPT_ENTRIES] ? params->option[OPT_ENTRIES] : entries;
    word[RATE] =
        params->has_option[OPT_RATE] ? params->option[OPT_RATE] : tamis__bits_of_double(rate);
    word[PER_ENTRY] = params->has_option[OPT_PER_ENTRY] ? params->option[OPT_PER_ENTRY]
                                                        : tamis__bits_of_double(per_entry);
    word[VERSION] = version;
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[VERSION] >= VERSIONS || word[ENTRIES] > UINT32_MAX)
        return tamis__fail(TAMIS_CORRUPT, "libbloom has no version word %llu, or %llu entries",
                           (unsigned long long)word[VERSION], (unsigned long long)word[ENTRIES]);
    return tamis__like_check(&like, word, 1, word[VERSION] == VERSION_2 ? MAX_BITS : INT32_MAX,
                             size);
}

/* ---- The kind ------------------------------------------------------------------------------- */

const tamis_kind tamis__libbloom = {
    .name = "libbloom",
    .contract = "a Bloom filter that libbloom can read and write",
    .word = {"bits", "hashes", "entries", "rate", "per_entry", "version"},
    .options = options,
    .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .own = &like,
    .plan = plan,
    .check = check,
    .probes = tamis__like_probes,
    .rate = tamis__like_rate,
    .start = tamis__like_start,
    .audit = tamis__like_audit,
    .measure = tamis__like_measure,
    .query = tamis__foreign_bloom_query,
    .add = tamis__like_add,
    .sets = &(const tamis_sets){.merge = tamis__like_merge, .intersect = tamis__like_intersect},
};

/* ---- The file of version 2 ------------------------------------------------------------------ */

enum { SAID_TRAILING };

static const struct tamis_option params[] = {
    {"trailing", "refuse|drop", 0, 0, "refuse", "bytes after the bits, of an older, longer file"},
};

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    const uint8_t *p = in->bytes;
    if (in->size < HEADER || memcmp(p, magic, AT_SIZE) != 0)
        return tamis__bad_format("libbloom", "they do not start with libbloom2 and a header of 75");
    const uint64_t bits = tamis__get64(p + AT_BITS), bytes = tamis__get64(p + AT_BYTES);
    if (bytes != bits / 8 + (bits % 8 != 0))
        return tamis__bad_format("libbloom", "the header says %llu bits in %llu bytes",
                                 (unsigned long long)bits, (unsigned long long)bytes);
    if (bytes > in->size - HEADER)
        return tamis__bad_format(
            "libbloom", "the header says %llu bytes of bits, but there are %llu",
            (unsigned long long)bytes, (unsigned long long)(in->size - HEADER));
    if (bytes < in->size - HEADER && !args->number[SAID_TRAILING])
        return tamis__bad_format("libbloom",
                                 "%llu bytes follow the bits, as in a file that was longer before "
                                 "(trailing=drop leaves them out)",
                                 (unsigned long long)(in->size - HEADER - bytes));
    const uint64_t rate = tamis__get64(p + AT_RATE), entries = tamis__get32(p + AT_ENTRIES);
    *out = (tamis_import_result){
        .kind = "libbloom",
        .word = {bits, p[AT_HASHES], entries, rate, tamis__get64(p + AT_PER_ENTRY), VERSION_2},
        .capacity = entries,
        .fpr = tamis__double_of_bits(rate),
        .payload = {p, HEADER + bytes, NULL}};
    return TAMIS_OK;
}

static tamis_status load(const tamis_input *in, const tamis_import_result *arrival, tamis_body *f) {
    (void)in;
    memcpy(f->bytes, arrival->payload.bytes, (size_t)arrival->payload.size);
    memset(f->bytes + AT_ADDRESS, 0, HEADER - AT_ADDRESS);
    return TAMIS_OK;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    if (out->body->word[VERSION] != VERSION_2)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "libbloom 1 places keys differently and has no file: write libbloom1");
    return tamis__like_write(out, args);
}

const tamis_format tamis__format_libbloom = {
    .name = "libbloom",
    .system = "libbloom 2.0 bloom_save",
    .kinds = "libbloom",
    .keys = "utf8 bytes",
    .limits = "the memory address in the header is written as 0",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .has_magic = true,
    .read = read,
    .load = load,
    .write = write,
};

/* ---- The bits of version 1 ------------------------------------------------------------------ */

enum { SAID_ENTRIES, SAID_ERROR };

static const struct tamis_option params_1[] = {
    {"entries", NULL, FEWEST_ENTRIES, INT32_MAX, NULL, "as given to bloom_init"},
    {"error", NULL, 0, 0, NULL, "as given to bloom_init"},
};

static tamis_status read_1(const tamis_input *in, const tamis_format_args *args,
                           tamis_import_result *out) {
    const uint64_t entries = args->number[SAID_ENTRIES];
    double rate;
    if (!args->has[SAID_ENTRIES] || !args->has[SAID_ERROR])
        return tamis__fail(TAMIS_INVALID,
                           "bits alone do not say it: libbloom1:entries=N,error=RATE is needed");
    if (!tamis_parse_rate(args->text[SAID_ERROR], &rate))
        return tamis__fail_in(TAMIS_INVALID, "error");
    const double bits = bits_for(entries, rate, VERSION_1), per_entry = bits_per_entry(rate);
    const tamis_status rc = check_limits(entries, bits, VERSION_1);
    if (rc) return rc;
    const uint64_t bytes = ((uint64_t)bits + 7) / 8;
    if (bytes != in->size)
        return tamis__bad_format("libbloom1",
                                 "%llu entries at %g have %llu bytes, but there are %llu",
                                 (unsigned long long)entries, rate, (unsigned long long)bytes,
                                 (unsigned long long)in->size);
    *out = (tamis_import_result){.kind = "libbloom",
                                 .word = {(uint64_t)bits, (uint64_t)hashes_for(per_entry), entries,
                                          tamis__bits_of_double(rate),
                                          tamis__bits_of_double(per_entry), VERSION_1},
                                 .capacity = entries,
                                 .fpr = rate};
    return TAMIS_OK;
}

static tamis_status load_1(const tamis_input *in, const tamis_import_result *arrival,
                           tamis_body *f) {
    (void)arrival;
    header(f->word, f->bytes);
    memcpy(f->bytes + HEADER, in->bytes, (size_t)in->size);
    return TAMIS_OK;
}

static tamis_status write_1(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    if (out->body->word[VERSION] != VERSION_1)
        return tamis__fail(TAMIS_UNSUPPORTED, "libbloom 2 places keys differently: write libbloom");
    return tamis__export_write(out, out->body->bytes + HEADER, (out->body->word[BITS] + 7) / 8);
}

const tamis_format tamis__format_libbloom1 = {
    .name = "libbloom1",
    .system = "libbloom 1.x, the bits in memory",
    .kinds = "libbloom",
    .keys = "utf8 bytes",
    .limits = "entries= and error= must be said to read it",
    .params = params_1,
    .param_count = sizeof params_1 / sizeof *params_1,
    .read = read_1,
    .load = load_1,
    .write = write_1,
};
