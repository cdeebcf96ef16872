/* SPDX-License-Identifier: MIT */
/* Values of the module for Redis and Valkey: saved, rewritten, digested and copied, whole and in
 * pieces; and what is refused. The server here is a few stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engines/redis/persist.h"
#include "engines/redis/settings.h"
#include "engines/redis/work.h"
#include "tests/support/module.h"

enum { CHUNK = 1 << 20 };

/* ---- A server -------------------------------------------------------------------------------- */

/* A file of numbers and strings, and the commands of an append-only file. */
typedef struct field {
    bool is_text;
    uint64_t number;
    char *bytes;
    size_t size;
} field;

struct redis_io {
    field fields[24];
    size_t count, at;
    bool is_bad;
    char log[256];
    struct emitted {
        char name[16];
        long long offset, total;
        char *bytes;
        size_t size;
        char form[16];
    } commands[24];
    size_t command_count;
};

struct redis_digest {
    uint8_t *bytes;
    size_t size, room;
    uint64_t total; /* including what is not kept */
    long long numbers[4];
    size_t count;
    bool is_ended, is_counting;
};

static long blocks, refuse_from; /* live blocks; size from which allocations fail */

static void *give(size_t size) {
    if (refuse_from && size >= (size_t)refuse_from) return NULL;
    blocks++;
    return malloc(size ? size : 1);
}

static void take_back(void *memory) {
    blocks -= memory != NULL;
    free(memory);
}

static field *next_free(redis_io *io) {
    assert_true(io->count < sizeof io->fields / sizeof *io->fields);
    return &io->fields[io->count++];
}

static void save_unsigned(redis_io *io, uint64_t x) {
    *next_free(io) = (field){.number = x};
}

static char *copy_of(const char *bytes, size_t size) {
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static void save_string(redis_io *io, const char *bytes, size_t size) {
    *next_free(io) = (field){.is_text = true, .bytes = copy_of(bytes, size), .size = size};
}

/* After the first missing field, everything reads as 0. */
static const field *next(redis_io *io, bool is_text) {
    io->is_bad |= io->at >= io->count || io->fields[io->at].is_text != is_text;
    return io->is_bad ? NULL : &io->fields[io->at++];
}

static uint64_t load_unsigned(redis_io *io) {
    const field *f = next(io, false);
    return f ? f->number : 0;
}

static char *load_string(redis_io *io, size_t *size) {
    const field *f = next(io, true);
    *size = f ? f->size : 0;
    if (!f) return NULL;
    char *bytes = give(f->size);
    assert_non_null(bytes);
    memcpy(bytes, f->bytes, f->size);
    return bytes;
}

static int is_error(redis_io *io) {
    return io->is_bad;
}

static void log_line(redis_io *io, const char *level, const char *format, ...) {
    va_list list;
    assert_string_equal(level, "warning");
    va_start(list, format);
    vsnprintf(io->log, sizeof io->log, format, list);
    va_end(list);
}

static void emit(redis_io *io, const char *name, const char *format, ...) {
    va_list list;
    if (strcmp(name, "TAMIS.LOAD") != 0) return; /* the command for the secret */
    assert_string_equal(format, "sllbcc");
    assert_true(io->command_count < sizeof io->commands / sizeof *io->commands);
    struct emitted *c = &io->commands[io->command_count++];
    va_start(list, format);
    assert_ptr_equal(va_arg(list, redis_string *), io);
    c->offset = va_arg(list, long long);
    c->total = va_arg(list, long long);
    const char *bytes = va_arg(list, const char *);
    c->size = va_arg(list, size_t);
    assert_string_equal(va_arg(list, const char *), "FORM");
    snprintf(c->form, sizeof c->form, "%s", va_arg(list, const char *));
    va_end(list);
    c->bytes = copy_of(bytes, c->size);
}

static void digest_bytes(redis_digest *d, const char *bytes, size_t size) {
    d->total += size;
    if (d->is_counting) return;
    if (d->size + size > d->room) {
        d->room = 2 * (d->size + size);
        d->bytes = realloc(d->bytes, d->room);
        assert_non_null(d->bytes);
    }
    memcpy(d->bytes + d->size, bytes, size);
    d->size += size;
}

static void digest_number(redis_digest *d, long long x) {
    assert_true(d->count < 4);
    d->numbers[d->count++] = x;
}

static void digest_end(redis_digest *d) {
    d->is_ended = true;
}

static redis_methods methods;

static int enter(void **state) {
    (void)state;
    blocks = refuse_from = 0;
    test_be_a_server();
    redis.Alloc = give, redis.TryAlloc = give, redis.Free = take_back;
    redis.LoadUnsigned = load_unsigned, redis.LoadStringBuffer = load_string;
    redis.SaveUnsigned = save_unsigned, redis.SaveStringBuffer = save_string;
    redis.IsIOError = is_error, redis.LogIOError = log_line, redis.EmitAOF = emit;
    redis.DigestAddStringBuffer = digest_bytes, redis.DigestAddLongLong = digest_number;
    redis.DigestEndSequence = digest_end;
    settings.max_filter_bytes = 64 << 20;
    methods = persist_own_methods();
    return 0;
}

/* The module must have freed everything. */
static int leave(void **state) {
    (void)state;
    return blocks != 0;
}

/* ---- Helpers --------------------------------------------------------------------------------- */

static value *make(const char *spec) {
    const struct tamis_options options = value_options(NULL);
    tamis *f;
    if (tamis_create_with(&f, spec, &options)) fail_msg("%s: %s", spec, tamis_why());
    for (uint64_t i = 0; i < 100; i++) assert_int_equal(tamis_add_u64(f, i), TAMIS_OK);
    value *v = value_new(f);
    assert_non_null(v);
    return v;
}

static void has_them(const value *v) {
    assert_non_null(v->filter);
    for (uint64_t i = 0; i < 100; i++) assert_true(tamis_has_u64(v->filter, i));
}

static uint8_t *image_of(const value *v, size_t *size) {
    *size = (size_t)tamis_image_size(v->filter);
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(tamis_serialize(v->filter, bytes, *size), TAMIS_OK);
    return bytes;
}

static redis_io *file(void) {
    redis_io *io = calloc(1, sizeof *io);
    assert_non_null(io);
    return io;
}

static void close_file(redis_io *io) {
    for (size_t i = 0; i < io->count; i++) free(io->fields[i].bytes);
    for (size_t i = 0; i < io->command_count; i++) free(io->commands[i].bytes);
    free(io);
}

static value *load(redis_io *io) {
    io->at = 0;
    return methods.rdb_load(io, PERSIST_ENCODING);
}

/* Loading fails with this line in the log. */
static void is_refused(redis_io *io, const char *log) {
    *io->log = '\0';
    assert_null(load(io));
    if (!strstr(io->log, log)) fail_msg("'%s' does not say '%s'", io->log, log);
}

/* Arbitrary bytes of an incomplete filter. */
static uint8_t some[3 * CHUNK];

static void begin_arrival(value *v, chunk_form form, size_t have, size_t total) {
    for (size_t i = 0; i < sizeof some; i++) some[i] = (uint8_t)(i * i >> 9);
    assert_null(arrival_take(v, form, 0, total, some, have));
}

static bool arrival_is(const value *v, chunk_form form, size_t have, size_t total) {
    const arrival *a = v->arrival;
    if (!a || a->form != form || a->have != have || a->total != total) return false;
    for (size_t at = 0; at < have; at += CHUNK)
        if (memcmp(a->piece[at / CHUNK], some + at, have - at < CHUNK ? have - at : CHUNK) != 0)
            return false;
    return true;
}

static const char *const small = "blocked:capacity=100";
static const char *const large = "blocked:capacity=100,size=3MiB";

/* ---- Tests ----------------------------------------------------------------------------------- */

/* With none, some or all of another filter received; also without a filter. */
static void what_is_saved_loads(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        chunk_form form;
        size_t have, total;
    } cases[] = {
        {small, FORM_IMAGE, 0, 0},        {large, FORM_IMAGE, 0, 0},
        {small, FORM_IMAGE, 10, 100},     {small, FORM_REDISBLOOM, 2 * CHUNK + 7, 3 * CHUNK},
        {NULL, FORM_REDISCUCKOO, 10, 11}, {NULL, FORM_IMAGE, CHUNK, CHUNK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        value *v = cases[i].spec ? make(cases[i].spec) : value_new(NULL), *again;
        redis_io *io = file();
        if (cases[i].have) begin_arrival(v, cases[i].form, cases[i].have, cases[i].total);
        methods.rdb_save(io, v);
        again = load(io);
        assert_non_null(again);
        assert_false(io->is_bad);
        assert_int_equal(io->at, io->count);
        if (cases[i].spec) {
            size_t sizes[2];
            uint8_t *a = image_of(v, &sizes[0]), *b = image_of(again, &sizes[1]);
            assert_int_equal(sizes[0], sizes[1]);
            assert_memory_equal(a, b, sizes[0]);
            has_them(again);
            free(a), free(b);
        } else {
            assert_null(again->filter);
        }
        if (cases[i].have)
            assert_true(arrival_is(again, cases[i].form, cases[i].have, cases[i].total));
        else
            assert_null(again->arrival);
        assert_string_equal(io->log, "");
        methods.free(again), methods.free(v);
        close_file(io);
    }
}

/* A file truncated after any of its fields. */
static void half_files_are_refused(void **state) {
    (void)state;
    value *v = make(large);
    redis_io *io = file();
    begin_arrival(v, FORM_IMAGE, CHUNK + 1, 2 * CHUNK);
    methods.rdb_save(io, v);
    const size_t count = io->count;
    assert_true(count > 8);
    for (io->count = 0; io->count < count; io->count++) {
        io->is_bad = false;
        assert_null(load(io));
    }
    io->is_bad = false;
    value *whole = load(io);
    assert_non_null(whole);
    methods.free(whole), methods.free(v);
    close_file(io);
}

static void bad_fields_are_refused(void **state) {
    (void)state;
    value *v = make(small);
    redis_io *io = file();
    begin_arrival(v, FORM_IMAGE, 10, 100);
    methods.rdb_save(io, v);
    assert_int_equal(io->count, 6); /* size, image, have, total, form, bytes */
    assert_null(methods.rdb_load(io, PERSIST_ENCODING + 1));
    assert_string_equal(io->log, "encoding 2 needs a newer module");
    io->fields[4].number = FORM_REDISCUCKOO + 1;
    is_refused(io, "");
    io->fields[4].number = FORM_IMAGE;
    io->fields[3].number = 9; /* have is 10 */
    is_refused(io, "filter refused: the chunk reaches beyond the total");
    io->fields[3].number = 100;
    io->fields[2].number = 9; /* the piece has 10 */
    is_refused(io, "filter refused: a piece of it has the wrong size");
    io->fields[2].number = 10;
    io->fields[1].bytes[40] ^= 1;
    is_refused(io, "filter refused: damaged");
    io->fields[1].bytes[40] ^= 1;
    io->fields[0].number = 0; /* no filter, and a string where a number should be */
    is_refused(io, "");
    methods.free(v);
    close_file(io);
    io = file();
    save_unsigned(io, 0), save_unsigned(io, 0); /* neither a filter nor part of one */
    is_refused(io, "");
    close_file(io);
}

/* The gate needs the pieces in one block: without memory for it, the error says so. */
static void memory_that_is_not_there(void **state) {
    (void)state;
    value *v = make(large);
    redis_io *io = file();
    methods.rdb_save(io, v);
    refuse_from = CHUNK + 1;
    is_refused(io, "filter refused: out of memory");
    refuse_from = 1;
    is_refused(io, "");
    tamis *f = value_swap(v, NULL);
    assert_null(persist_accept(io, TAMIS_OK, f)); /* and frees it */
    refuse_from = 0;
    assert_int_equal(tamis_load(&f, "", 0), TAMIS_CORRUPT);
    assert_null(persist_accept(io, TAMIS_CORRUPT, f));
    assert_non_null(strstr(io->log, "filter refused: not a Tamis image"));
    methods.free(v);
    close_file(io);
}

/* A rewritten log has each piece at its offset. */
static void what_is_rewritten_comes_back(void **state) {
    (void)state;
    value *v = make(large), *again = value_new(NULL);
    redis_io *io = file();
    begin_arrival(v, FORM_REDISBLOOM, CHUNK + 5, 2 * CHUNK);
    methods.aof_rewrite(io, (redis_string *)(void *)io, v);
    assert_int_equal(io->command_count, 6); /* 3 MiB and a header, then two pieces */
    for (size_t i = 0; i < io->command_count; i++) {
        const struct emitted *c = &io->commands[i];
        const bool is_image = i < 4;
        assert_string_equal(c->form, is_image ? "IMAGE" : "REDISBLOOM");
        assert_int_equal(c->total, is_image ? (long long)tamis_image_size(v->filter) : 2 * CHUNK);
        assert_null(arrival_take(again, is_image ? FORM_IMAGE : FORM_REDISBLOOM,
                                 (uint64_t)c->offset, (uint64_t)c->total, c->bytes, c->size));
        if (i != 3) continue;
        tamis *f;
        assert_int_equal(arrival_finish(again->arrival, false, &f), TAMIS_OK);
        value_replace(again, f);
    }
    has_them(again);
    assert_true(arrival_is(again, FORM_REDISBLOOM, CHUNK + 5, 2 * CHUNK));
    methods.free(v), methods.free(again);
    close_file(io);
}

/* A digest covers the image with its current facts, and any incomplete filter. */
static void digests_are_of_all_there_is(void **state) {
    (void)state;
    value *v = make("scalable:capacity=100");
    redis_digest d = {0};
    tamis *f;
    facts told = facts_of(v->filter);
    told.family = FAMILY_BF, told.expansion = 4;
    value_set_facts(v, &told);
    begin_arrival(v, FORM_REDISBLOOM, 10, 100);
    methods.digest(&d, v);
    assert_true(d.is_ended && d.count == 2 && d.size > 10);
    assert_true(d.numbers[0] == 100 && d.numbers[1] == FORM_REDISBLOOM);
    assert_memory_equal(d.bytes + d.size - 10, some, 10);
    assert_int_equal(tamis_load(&f, d.bytes, d.size - 10), TAMIS_OK);
    assert_int_equal(facts_of(f).expansion, 4);
    tamis_free(f);
    free(d.bytes);
    methods.free(v);
}

/* Untouched memory: a filter of more than 4 GiB only takes addresses. */
static void *map(void *ctx, size_t size) {
    (void)ctx;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *ctx, void *memory, size_t size) {
    (void)ctx;
    munmap(memory, size);
}

static void offsets_have_64_bits(void **state) {
    (void)state;
    if (sizeof(size_t) <= 4) skip();
    const struct tamis_allocator memory = {.alloc = map, .free = unmap, .is_zeroed = true};
    const struct tamis_options options = {
        .struct_size = sizeof options, .allocator = &memory, .max_bytes = (uint64_t)1 << 33};
    redis_digest d = {.is_counting = true};
    tamis *f;
    if (tamis_create_with(&f, "classic:capacity=1000,bits=34359738880", &options)) skip();
    value *v = value_new(f);
    methods.digest(&d, v);
    assert_true(d.total == tamis_image_size(f) && d.total > (uint64_t)1 << 32);
    methods.free(v);
}

static int moves;

static void *do_not_move(redis_defrag *ctx, void *memory) {
    (void)ctx, (void)memory;
    moves++;
    return NULL;
}

static bool go_on(job *j) {
    (void)j;
    return true;
}

/* A small filter is copied; a large one is shared at first, unless something still changes it. */
static void copies_are_their_own_or_shared(void **state) {
    (void)state;
    static const char *const huge = "blocked:capacity=100,size=8MiB";
    job reads = {.step = NULL}, changes = {.step = go_on};
    const struct {
        const char *spec;
        job *by;
        bool owes_tick, is_shared;
    } cases[] = {{small, NULL, false, false},
                 {huge, NULL, false, true},
                 {huge, NULL, true, false},
                 {huge, &reads, false, true},
                 {huge, &changes, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        value *v = make(cases[i].spec);
        begin_arrival(v, FORM_IMAGE, CHUNK + 1, 2 * CHUNK);
        v->job = cases[i].by;
        v->owes_tick = cases[i].owes_tick;
        if (v->owes_tick) atomic_fetch_add(&counters.owed, 1);
        value *twin = methods.copy(NULL, NULL, v);
        assert_non_null(twin);
        v->job = NULL;
        assert_int_equal(twin->filter == v->filter, cases[i].is_shared);
        assert_int_equal(filter_is_shared(v->filter), cases[i].is_shared);
        assert_int_equal(twin->owes_tick, cases[i].owes_tick);
        assert_int_equal(atomic_load(&counters.owed), 2 * cases[i].owes_tick);
        assert_true(arrival_is(twin, FORM_IMAGE, CHUNK + 1, 2 * CHUNK));
        /* Defragmentation leaves a shared filter in place; it moves an unshared one and its
         * value. */
        void *object = v;
        moves = 0;
        redis.DefragAlloc = do_not_move;
        assert_int_equal(methods.defrag(NULL, NULL, &object), 0);
        assert_int_equal(moves > 0, !cases[i].is_shared);
        assert_ptr_equal(object, v);
        assert_int_equal(methods.free_effort(NULL, v), 1 + methods.mem_usage(v) / 4096); /* pages */
        methods.free(v);
        has_them(twin);
        methods.free(twin);
        atomic_store(&counters.owed, 0);
    }
}

/* Also for a key that has no filter yet. */
static void what_is_on_its_way_is_copied(void **state) {
    (void)state;
    value *v = value_new(NULL);
    begin_arrival(v, FORM_REDISCUCKOO, 10, 11);
    value *twin = methods.copy(NULL, NULL, v);
    assert_non_null(twin);
    assert_null(twin->filter);
    methods.free(v);
    assert_true(arrival_is(twin, FORM_REDISCUCKOO, 10, 11));
    methods.free(twin);
}

int main(void) {
#define IN_SERVER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_SERVER(what_is_saved_loads),          IN_SERVER(half_files_are_refused),
        IN_SERVER(bad_fields_are_refused),       IN_SERVER(memory_that_is_not_there),
        IN_SERVER(what_is_rewritten_comes_back), IN_SERVER(digests_are_of_all_there_is),
        IN_SERVER(offsets_have_64_bits),         IN_SERVER(copies_are_their_own_or_shared),
        IN_SERVER(what_is_on_its_way_is_copied),
    };
    return cmocka_run_group_tests_name("redis persist", tests, NULL, NULL);
}
