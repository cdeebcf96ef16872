/* What stands at a key: its life, its facts, and filters that come in chunks. */
#include "engines/redis/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/settings.h"

types value_types;
struct counters counters;

/* ---- Memory ---------------------------------------------------------------------------------- */

void *try_alloc(size_t size) {
    return redis.TryAlloc ? redis.TryAlloc(size) : redis.Alloc(size);
}

static void *filter_alloc(void *ctx, size_t size) {
    (void)ctx;
    void *memory = try_alloc(size);
    if (memory) atomic_fetch_add(&counters.bytes, size);
    return memory;
}

static void filter_free(void *ctx, void *memory, size_t size) {
    (void)ctx;
    if (memory) atomic_fetch_sub(&counters.bytes, size);
    redis.Free(memory);
}

struct tamis_options value_options(const uint8_t *secret) {
    static const struct tamis_allocator allocator = {filter_alloc, filter_free, NULL};
    return (struct tamis_options){
        .struct_size = sizeof(struct tamis_options),
        .allocator = &allocator,
        .secret = secret,
        .max_bytes = (uint64_t)settings.max_filter_bytes,
    };
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static const char note[] = "redis";

static const struct {
    const char *name;
    family family;
    const char *kind; /* of RedisBloom */
} families[] = {
    {"tamis", FAMILY_TAMIS, NULL},
    {"bf", FAMILY_BF, "redisbloom"},
    {"cf", FAMILY_CF, "rediscuckoo"},
    {"cms", FAMILY_CMS, "rediscms"},
};
enum { FAMILIES = sizeof families / sizeof *families };

static const struct {
    const char *name;
    size_t at;
} fields[] = {
    {"expansion", offsetof(facts, expansion)},   {"bucketsize", offsetof(facts, bucket_size)},
    {"iterations", offsetof(facts, iterations)}, {"filters", offsetof(facts, filters)},
    {"deleted", offsetof(facts, deleted)},       {"every", offsetof(facts, every)},
    {"ticked", offsetof(facts, ticked)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static uint64_t *field_of(facts *f, int i) {
    return (uint64_t *)(void *)((char *)f + fields[i].at);
}

void facts_write(const facts *f, char text[FACTS_MOST]) {
    facts copy = *f;
    int at = 0;
    for (int i = 0; i < FAMILIES; i++)
        if (families[i].family == f->family)
            at = snprintf(text, FACTS_MOST, "%s", families[i].name);
    for (int i = 0; i < FIELDS; i++)
        if (*field_of(&copy, i))
            at += snprintf(text + at, (size_t)(FACTS_MOST - at), " %s=%" PRIu64, fields[i].name,
                           *field_of(&copy, i));
}

/* "name=number" of a note; others are left alone, for those who come after us. */
static void read_field(facts *f, const char *word, size_t len) {
    for (int i = 0; i < FIELDS; i++) {
        const size_t name = strlen(fields[i].name);
        uint64_t number = 0;
        if (len <= name || memcmp(word, fields[i].name, name) != 0 || word[name] != '=') continue;
        for (size_t at = name + 1; at < len && word[at] >= '0' && word[at] <= '9'; at++)
            number = number * 10 + (uint64_t)(word[at] - '0');
        *field_of(f, i) = number;
    }
}

facts facts_of(const tamis *filter) {
    const char *text = filter ? tamis_note(filter, note) : NULL;
    facts f = {.family = FAMILY_TAMIS};
    struct tamis_info info = {.kind = ""};
    if (filter) tamis_facts(filter, &info, sizeof info);
    for (int i = 0; i < FAMILIES; i++) {
        const size_t len = strlen(families[i].name);
        const bool is_noted = text && strncmp(text, families[i].name, len) == 0 &&
                              (text[len] == ' ' || text[len] == 0);
        const bool is_kind = families[i].kind && strcmp(info.kind, families[i].kind) == 0;
        if (is_noted || is_kind) f.family = families[i].family;
    }
    while (text && *text) {
        const size_t len = strcspn(text, " ");
        read_field(&f, text, len);
        text += len + (text[len] == ' ');
    }
    if (!(info.abilities & TAMIS_CAN_TICK)) f.every = f.ticked = 0;
    return f;
}

/* Filters of RedisBloom know all that their commands tell, and ours are known by having no note. */
static bool needs_note(const value *v) {
    const bool is_plain = v->facts.family == FAMILY_TAMIS && !v->facts.every;
    return v->filter && !is_plain && value_type(v) == value_types.tamis;
}

void value_note_facts(value *v) {
    char text[FACTS_MOST];
    if (!needs_note(v)) return;
    facts_write(&v->facts, text);
    const char *now = tamis_note(v->filter, note);
    if (!now || strcmp(now, text) != 0) tamis_set_note(v->filter, note, text);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void count_as(value *v, family now) {
    if (v->counted_as) atomic_fetch_sub(&counters.values[v->counted_as], 1);
    if (now) atomic_fetch_add(&counters.values[now], 1);
    v->counted_as = now;
}

void value_set_facts(value *v, const facts *f) {
    v->facts = *f;
    count_as(v, f->family);
}

value *value_new(tamis *filter) {
    value *v = try_alloc(sizeof *v);
    if (!v) return NULL;
    *v = (value){.filter = NULL};
    atomic_init(&v->users, 1);
    value_replace(v, filter);
    const facts f = facts_of(filter);
    value_set_facts(v, &f);
    return v;
}

value *value_hold(value *v) {
    atomic_fetch_add(&v->users, 1);
    return v;
}

void value_release(value *v) {
    if (atomic_fetch_sub(&v->users, 1) > 1) return;
    count_as(v, 0);
    tamis_free(v->filter);
    arrival_free(v->arrival);
    redis.Free(v);
}

tamis *value_swap(value *v, tamis *filter) {
    struct tamis_info info = {.abilities = 0};
    tamis *before = v->filter;
    v->filter = filter;
    if (filter) tamis_facts(filter, &info, sizeof info);
    v->hashes_itself = info.abilities & TAMIS_OWN_HASH;
    return before;
}

void value_replace(value *v, tamis *filter) {
    tamis_free(value_swap(v, filter));
}

size_t value_bytes(const value *v) {
    const size_t filter = v->filter ? (size_t)tamis_stored_size(v->filter) : 0;
    return sizeof *v + filter + (v->arrival ? sizeof *v->arrival + (size_t)v->arrival->room : 0);
}

redis_type *value_type(const value *v) {
    struct tamis_info info;
    if (!v->filter || v->arrival) return value_types.tamis;
    tamis_facts(v->filter, &info, sizeof info);
    return strcmp(info.kind, "redisbloom") == 0    ? value_types.bloom
           : strcmp(info.kind, "rediscuckoo") == 0 ? value_types.cuckoo
           : strcmp(info.kind, "rediscms") == 0    ? value_types.countmin
                                                   : value_types.tamis;
}

/* ---- Arrivals -------------------------------------------------------------------------------- */

enum { PIECE = ARRIVAL_PIECE };

void arrival_free(arrival *a) {
    if (!a) return;
    for (uint64_t at = PIECE; at < a->room; at += PIECE) redis.Free(a->more[at / PIECE - 1]);
    redis.Free(a->more);
    redis.Free(a->bytes);
    redis.Free(a);
}

static const char *begin(value *v, chunk_form form, uint64_t total) {
    arrival *a = try_alloc(sizeof *a);
    if (!a) return "ERR Insufficient memory";
    *a = (arrival){.form = form, .total = total};
    arrival_free(v->arrival);
    v->arrival = a;
    return NULL;
}

/* Memory that is larger, with the same `have` bytes in front; NULL, and nothing changed, when there is
 * none. */
static void *larger(void *memory, size_t have, size_t size) {
    void *next = try_alloc(size);
    if (!next) return NULL;
    if (have) memcpy(next, memory, have);
    redis.Free(memory);
    return next;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The first piece doubles until it is whole. */
static bool grow_first(arrival *a, uint64_t need) {
    const uint64_t room = least(least(2 * need, PIECE), a->total);
    uint8_t *bytes = larger(a->bytes, (size_t)a->have, (size_t)room);
    if (!bytes) return false;
    a->bytes = bytes;
    a->room = room;
    return true;
}

static bool add_piece(arrival *a) {
    const size_t n = (size_t)(a->room / PIECE) - 1;
    if (n == a->more_room) {
        uint8_t **more = larger(a->more, n * sizeof *more, (2 * n + 8) * sizeof *more);
        if (!more) return false;
        a->more = more;
        a->more_room = 2 * n + 8;
    }
    const uint64_t size = least(PIECE, a->total - a->room);
    if (!(a->more[n] = try_alloc((size_t)size))) return false;
    a->room += size;
    return true;
}

/* Room follows what has come, not what was announced. */
static bool make_room(arrival *a, uint64_t need) {
    while (a->room < need)
        if (a->room < PIECE ? !grow_first(a, need) : !add_piece(a)) return false;
    return true;
}

static uint8_t *place_of(const arrival *a, uint64_t at) {
    return at < PIECE ? a->bytes + at : a->more[at / PIECE - 1] + at % PIECE;
}

const uint8_t *arrival_piece(const arrival *a, uint64_t at, size_t *size) {
    *size = (size_t)least(PIECE - at % PIECE, a->have - at);
    return place_of(a, at);
}

/* Does it have these bytes at its beginning? */
static bool begins_with(const arrival *a, const uint8_t *bytes, size_t size) {
    size_t n;
    if (a->have < size) return false;
    for (size_t at = 0; at < size; at += n) {
        const uint8_t *piece = arrival_piece(a, at, &n);
        if (n > size - at) n = size - at;
        if (memcmp(piece, bytes + at, n) != 0) return false;
    }
    return true;
}

static void put(arrival *a, uint64_t offset, const uint8_t *bytes, size_t size) {
    for (size_t at = 0, n; at < size; at += n) {
        n = (size_t)least(PIECE - (offset + at) % PIECE, size - at);
        memcpy(place_of(a, offset + at), bytes + at, n);
    }
}

/* Headers and notes come on top of what the setting allows. */
enum { BESIDE_PAYLOAD = 2 << 20 };

const char *arrival_take(value *v, chunk_form form, uint64_t offset, uint64_t total,
                         const void *bytes, size_t size) {
    if (total == 0 || total > (uint64_t)settings.max_filter_bytes + BESIDE_PAYLOAD)
        return "ERR the total must be from 1 byte to what max-filter-bytes allows";
    if (offset > total || size > total - offset) return "ERR the chunk reaches beyond the total";
    const arrival *now = v->arrival;
    const bool is_other = !now || now->total != total || now->form != form;
    if (offset == 0 && (is_other || !begins_with(now, bytes, size))) {
        const char *why = begin(v, form, total);
        if (why) return why;
    } else if (is_other) {
        return "ERR there is no such filter on its way: begin with offset 0";
    }
    arrival *a = v->arrival;
    if (offset > a->have) return "ERR there is a gap before this chunk";
    if (!make_room(a, offset + size)) return "ERR Insufficient memory";
    put(a, offset, bytes, size);
    if (offset + size > a->have) a->have = offset + size;
    return NULL;
}

/* ---- Through the gate ------------------------------------------------------------------------ */

/* All bytes in a row; NULL when there is no memory. */
static uint8_t *in_a_row(const arrival *a) {
    uint8_t *bytes = try_alloc((size_t)a->have);
    size_t n;
    for (uint64_t at = 0; bytes && at < a->have; at += n) {
        const uint8_t *piece = arrival_piece(a, at, &n);
        memcpy(bytes + at, piece, n);
    }
    return bytes;
}

static tamis_status pass_gate(chunk_form form, const void *bytes, size_t size, tamis **filter) {
    static const char *const formats[] = {NULL, "redisbloom", "rediscuckoo"};
    const struct tamis_options options = value_options(NULL);
    const tamis_status rc = form == FORM_IMAGE
                                ? tamis_load_with(filter, bytes, size, &options)
                                : tamis_import_with(filter, formats[form], bytes, size, &options);
    if (rc) atomic_fetch_add(&counters.refused, 1);
    return rc;
}

tamis_status arrival_finish(const arrival *a, tamis **filter) {
    if (a->have <= PIECE) return pass_gate(a->form, a->bytes, (size_t)a->have, filter);
    uint8_t *bytes = in_a_row(a);
    if (!bytes) return TAMIS_NOMEM;
    const tamis_status rc = pass_gate(a->form, bytes, (size_t)a->have, filter);
    redis.Free(bytes);
    return rc;
}
