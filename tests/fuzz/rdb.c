/* SPDX-License-Identifier: MIT */
/* Fuzz target of the module's values in RDB files and dumps, with a server that is none: what a
 * type reads comes from the input, field by field, and what it saves goes to a buffer in the same
 * form. Any fields are refused, with a line in the log where they were whole, or become a value
 * that can be asked, changed, copied, saved and loaded again, as the same. Checksums are off,
 * because nobody guesses those.
 *
 * The first byte of the input chooses the type, the second one its encoding. TAMIS_SEEDS names a
 * folder that gets sound inputs to start from. */
#include "tests/fuzz/rdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/redis/bounds.h"
#include "engines/redis/persist.h"
#include "engines/redis/settings.h"
#include "tests/support/module.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_true) {
    if (!is_true) abort();
}

/* ---- A server that is none ------------------------------------------------------------------- */

struct redis_io {
    const uint8_t *at, *end;
    bool is_bad;
    unsigned told; /* lines in the log */
    uint8_t *out;
    size_t size, room;
};

static bool take(redis_io *io, void *to, size_t n) {
    if (io->is_bad || (size_t)(io->end - io->at) < n) {
        io->is_bad = true;
        memset(to, 0, n);
        return false;
    }
    memcpy(to, io->at, n);
    io->at += n;
    return true;
}

static void give(redis_io *io, const void *from, size_t n) {
    if (n > io->room - io->size) {
        io->room = 2 * (io->size + n);
        io->out = realloc(io->out, io->room);
        demand(io->out != NULL);
    }
    if (n) memcpy(io->out + io->size, from, n);
    io->size += n;
}

static uint64_t load_unsigned(redis_io *io) {
    uint64_t x;
    take(io, &x, sizeof x);
    return x;
}

static double load_double(redis_io *io) {
    double x;
    take(io, &x, sizeof x);
    return x;
}

/* A string that is longer than what is left is an error of the file, as in the server. */
static char *load_string(redis_io *io, size_t *size) {
    uint32_t n;
    char *text = NULL;
    *size = 0;
    if (!take(io, &n, sizeof n)) return NULL;
    if (n > (size_t)(io->end - io->at)) {
        io->is_bad = true;
        return NULL;
    }
    text = malloc(n ? n : 1);
    demand(text && take(io, text, n));
    *size = n;
    return text;
}

static int is_error(redis_io *io) {
    return io->is_bad;
}

static void save_unsigned(redis_io *io, uint64_t x) {
    give(io, &x, sizeof x);
}

static void save_double(redis_io *io, double x) {
    give(io, &x, sizeof x);
}

static void save_string(redis_io *io, const char *text, size_t size) {
    const uint32_t n = (uint32_t)size;
    demand(n == size);
    give(io, &n, sizeof n);
    give(io, text, size);
}

static void log_line(redis_io *io, const char *level, const char *format, ...) {
    demand(*level && *format);
    io->told++;
}

static void emit(redis_io *io, const char *command, const char *format, ...) {
    demand(*command && *format);
    io->told++;
}

static void digest_bytes(redis_digest *d, const char *text, size_t size) {
    uint8_t sum = 0;
    (void)d;
    for (size_t i = 0; i < size; i++) sum ^= (uint8_t)text[i]; /* every byte must be there */
    *(volatile uint8_t *)&sum = sum;
}

static void digest_number(redis_digest *d, long long x) {
    (void)d, (void)x;
}

static void digest_end(redis_digest *d) {
    (void)d;
}

enum { OWN, BLOOM, CUCKOO, COUNTMIN, TYPES };
static redis_methods methods[TYPES];
static const int encodings[TYPES] = {PERSIST_ENCODING, BLOOM_ENCODING, CUCKOO_ENCODING,
                                     ORIGIN_CMS_ENCODING};

static void start(void) {
    if (methods[OWN].rdb_load) return;
    test_be_a_server();
    redis.Alloc = malloc, redis.TryAlloc = malloc, redis.Free = free;
    redis.LoadUnsigned = load_unsigned, redis.LoadDouble = load_double;
    redis.LoadStringBuffer = load_string, redis.IsIOError = is_error;
    redis.SaveUnsigned = save_unsigned, redis.SaveDouble = save_double;
    redis.SaveStringBuffer = save_string, redis.LogIOError = log_line, redis.EmitAOF = emit;
    redis.DigestAddStringBuffer = digest_bytes, redis.DigestAddLongLong = digest_number;
    redis.DigestEndSequence = digest_end;
    settings.max_filter_bytes = 16 << 20;
    methods[OWN] = persist_own_methods();
    methods[BLOOM] = origin_bloom_methods();
    methods[CUCKOO] = persist_cuckoo_methods();
    methods[COUNTMIN] = origin_cms_methods();
}

static unsigned type_of(const value *v) {
    const redis_type *type = value_type(v);
    return type == value_types.bloom      ? BLOOM
           : type == value_types.cuckoo   ? CUCKOO
           : type == value_types.countmin ? COUNTMIN
                                          : OWN;
}

/* ---- What is done with a value --------------------------------------------------------------- */

static redis_io saved(value *v) {
    redis_io io = {.is_bad = false};
    methods[type_of(v)].rdb_save(&io, v);
    return io;
}

static value *loaded(unsigned type, const redis_io *from) {
    redis_io io = {.at = from->out, .end = from->out + from->size};
    value *v = methods[type].rdb_load(&io, encodings[type]);
    demand(v && !io.is_bad && io.at == io.end); /* what was saved loads, to its last byte */
    return v;
}

/* Saved, loaded and saved again it is the same. */
static void goes_round(value *v) {
    const unsigned type = type_of(v);
    redis_io first = saved(v);
    value *again = loaded(type, &first);
    redis_io second = saved(again);
    demand(type_of(again) == type && first.size == second.size);
    demand(memcmp(first.out, second.out, first.size) == 0);
    demand(again->facts.family == v->facts.family);
    value_release(again);
    free(first.out);
    free(second.out);
}

/* As a client's command: a filter that grew beyond the limits would not be loaded again. */
static void change(tamis *f) {
    const bounds before = bounds_enter_callback();
    static const struct tamis_key keys[] = {{"a", 1}, {"bc", 2}, {"tamis", 5}};
    uint8_t hit[3];
    if (tamis_add_many(f, keys, 3) == TAMIS_OK) {
        tamis_has_many(f, keys, 3, hit);
        demand(hit[2]);
    }
    tamis_remove(f, "bc", 2);
    tamis_count(f, "a", 1);
    if (tamis_merge(f, f) == TAMIS_OK) demand(tamis_fpr_now(f) >= 0);
    bounds_leave(before);
}

static void use(value *v) {
    const unsigned type = type_of(v);
    redis_io log = {.is_bad = false};
    demand(methods[type].mem_usage(v) > 0 && methods[type].free_effort(NULL, v) > 0);
    methods[type].digest(NULL, v);
    methods[type].aof_rewrite(&log, NULL, v);
    demand(log.told > 0); /* nothing may get lost in a rewrite */
    goes_round(v);
    value *twin = methods[type].copy(NULL, NULL, v);
    demand(twin && twin->facts.family == v->facts.family);
    if (twin->filter) {
        change(twin->filter);
        goes_round(twin);
    }
    methods[type].free(twin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    start();
    if (size < 2) return 0;
    const unsigned type = data[0] % TYPES;
    redis_io io = {.at = data + 2, .end = data + size};
    value *v = methods[type].rdb_load(&io, encodings[type] + (int8_t)data[1]);
    if (!v) return 0;
    demand(!io.is_bad); /* a value from half a file */
    use(v);
    methods[type_of(v)].free(v);
    return 0;
}

/* ---- Seeds ----------------------------------------------------------------------------------- */

static const char *const specs[] = {
    "blocked:capacity=20",      "blocked:capacity=20,hash=sip13",
    "split:capacity=20",        "scalable:capacity=5",
    "multiset:capacity=20",     "cuckoo:capacity=20",
    "quotient:capacity=20",     "counting:capacity=20",
    "window:capacity=20",       "countmin:columns=20,rows=3",
    "grow:capacity=5",          "approximator:capacity=20",
    "redisbloom:capacity=8",    "redisbloom:capacity=30,scaling=no",
    "rediscuckoo:capacity=8",   "rediscuckoo:capacity=32,bucket_size=4",
    "rediscms:width=9,depth=2",
};
enum { SPECS = sizeof specs / sizeof *specs };

static value *make(const char *spec) {
    static const uint8_t secret[16] = "0123456789abcdef";
    const struct tamis_options options = value_options(strstr(spec, "sip13") ? secret : NULL);
    tamis *f;
    demand(tamis_create_with(&f, spec, &options) == TAMIS_OK);
    for (uint64_t i = 0; i < 20 && tamis_add_u64(f, i) == TAMIS_OK;) i++;
    if (strncmp(spec, "multiset", 8) == 0) tamis_set_note(f, "redis", "cf bucketsize=2 filters=1");
    if (strncmp(spec, "scalable", 8) == 0) tamis_set_note(f, "redis", "bf expansion=2");
    value *v = value_new(f);
    demand(v != NULL);
    return v;
}

/* The second half of them have beside them a filter of which a part has come, or all, at the
 * gate. */
size_t rdb_seed(unsigned i, uint8_t bytes[RDB_MAX_SEED]) {
    start();
    if (i >= 2 * SPECS) return 0;
    value *v = make(specs[i % SPECS]);
    if (i >= SPECS)
        demand(!arrival_take(v, i % 2 ? FORM_REDISBLOOM : FORM_IMAGE, 0, i % 3 ? 100 : 10,
                             "some bytes", 10));
    redis_io io = saved(v);
    bytes[0] = (uint8_t)type_of(v);
    bytes[1] = 0;
    demand(io.size + 2 <= RDB_MAX_SEED);
    memcpy(bytes + 2, io.out, io.size);
    goes_round(v);
    free(io.out);
    value_release(v);
    return io.size + 2;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static uint8_t bytes[RDB_MAX_SEED];
    const char *dir = getenv("TAMIS_SEEDS");
    (void)argc, (void)argv;
    for (unsigned i = 0; dir; i++) {
        char path[1000];
        const size_t size = rdb_seed(i, bytes);
        if (!size) break;
        snprintf(path, sizeof path, "%s/seed-%u", dir, i);
        FILE *file = fopen(path, "wb");
        demand(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    }
    return 0;
}
