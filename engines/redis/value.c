/* SPDX-License-Identifier: MIT */
/* The value stored at a key: its memory, its facts, its life. */
#include "engines/redis/value.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/redis/bounds.h"
#include "engines/redis/freeing.h"

types value_types;
struct counters counters;

/* ---- Memory ---------------------------------------------------------------------------------- */

void *try_alloc(size_t size) {
    return redis.TryAlloc ? redis.TryAlloc(size) : redis.Alloc(size);
}

/* Zeros. Where others wait (a script makes a filter, say) without touching the pages of what is
 * large: they are given back, and come as zeros again, each when it is used. A filter of 2 GiB is
 * made within a millisecond then. The worker touches them all, so that no add has to. Elsewhere
 * than on Linux giving back may leave the contents. */
static void clear(uint8_t *memory, size_t size) {
#ifdef __linux__
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (page - (uintptr_t)memory % page) % page;
    if (size >= LARGE_BYTES && is_server_thread()) {
        const size_t pages = (size - before) / page * page, behind = before + pages;
        if (madvise(memory + before, pages, MADV_DONTNEED) == 0) {
            memset(memory, 0, before);
            memset(memory + behind, 0, size - behind);
            return;
        }
    }
#endif
    memset(memory, 0, size);
}

/* All memory of filters comes along here, also that of growth and copies, so that the limits hold
 * for it: those of the moment, for whoever asks. A filter's own limit would bind replicas as
 * well. */
static void *filter_alloc(void *ctx, size_t size) {
    (void)ctx;
    if (!bounds_allow_filter(size)) return NULL;
    void *memory = try_alloc(size);
    if (!memory) return NULL;
    clear(memory, size);
    atomic_fetch_add(&counters.bytes, size);
    return memory;
}

static void filter_free(void *ctx, void *memory, size_t size) {
    (void)ctx;
    if (memory) atomic_fetch_sub(&counters.bytes, size);
    redis.Free(memory);
}

struct tamis_options value_options(const uint8_t *secret) {
    static const struct tamis_allocator allocator = {filter_alloc, filter_free, NULL, true};
    return (struct tamis_options){
        .struct_size = sizeof(struct tamis_options),
        .allocator = &allocator,
        .secret = secret,
    };
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static const char note[] = "redis";

static const struct {
    const char *name;
    family family;
    const char *kind;   /* of RedisBloom */
    const char *own[3]; /* kinds that its commands make: a note on another one is not believed */
} families[] = {
    {"bf", FAMILY_BF, "redisbloom", {"scalable", "blocked", "classic"}},
    {"cf", FAMILY_CF, "rediscuckoo", {"multiset"}},
    {"cms", FAMILY_CMS, "rediscms", {"countmin"}},
};
enum { FAMILIES = sizeof families / sizeof *families };

static bool is_noted(int at, const char *text, const char *kind) {
    const size_t len = strlen(families[at].name);
    if (!text || strncmp(text, families[at].name, len) != 0) return false;
    for (int i = 0; i < 3 && families[at].own[i]; i++)
        if (strcmp(families[at].own[i], kind) == 0) return text[len] == ' ' || text[len] == 0;
    return false;
}

/* Notes come from outside: numbers that the commands would not take are brought into range. */
static const struct {
    const char *name;
    size_t at;
    uint64_t max;
} fields[] = {
    {"expansion", offsetof(facts, expansion), 32768},
    {"bucketsize", offsetof(facts, bucket_size), 255},
    {"iterations", offsetof(facts, iterations), 65535},
    {"filters", offsetof(facts, filters), 65535},
    {"deleted", offsetof(facts, deleted), INT64_MAX},
    {"buckets", offsetof(facts, buckets), INT64_MAX},
    {"every", offsetof(facts, every), INT64_MAX},
    {"ticked", offsetof(facts, ticked), INT64_MAX},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static uint64_t *field_of(facts *f, int i) {
    return (uint64_t *)(void *)((char *)f + fields[i].at);
}

void facts_write(const facts *f, char text[MAX_FACTS]) {
    facts copy = *f;
    int at = snprintf(text, MAX_FACTS, "tamis");
    for (int i = 0; i < FAMILIES; i++)
        if (families[i].family == f->family) at = snprintf(text, MAX_FACTS, "%s", families[i].name);
    for (int i = 0; i < FIELDS && at < MAX_FACTS; i++)
        if (*field_of(&copy, i))
            at += snprintf(text + at, (size_t)(MAX_FACTS - at), " %s=%" PRIu64, fields[i].name,
                           *field_of(&copy, i));
}

/* "name=number" of a note; others are left alone, for those who come after us. */
static void read_field(facts *f, const char *word, size_t len) {
    for (int i = 0; i < FIELDS; i++) {
        const size_t name = strlen(fields[i].name);
        uint64_t number = 0;
        if (len <= name || memcmp(word, fields[i].name, name) != 0 || word[name] != '=') continue;
        for (size_t at = name + 1; at < len && word[at] >= '0' && word[at] <= '9'; at++)
            number = number > fields[i].max / 10 ? fields[i].max
                                                 : number * 10 + (uint64_t)(word[at] - '0');
        *field_of(f, i) = number > fields[i].max ? fields[i].max : number;
    }
}

facts facts_of(const tamis *filter) {
    const char *text = filter ? tamis_note(filter, note) : NULL;
    facts f = {.family = FAMILY_TAMIS};
    struct tamis_info info = {.struct_size = sizeof info, .kind = ""};
    if (filter) tamis_get_info(filter, &info);
    for (int i = 0; i < FAMILIES; i++) {
        const bool is_theirs = strcmp(info.kind, families[i].kind) == 0;
        if (is_theirs || is_noted(i, text, info.kind)) f.family = families[i].family;
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
    char text[MAX_FACTS];
    if (!needs_note(v)) return;
    facts_write(&v->facts, text);
    const char *now = tamis_note(v->filter, note);
    if (!now || strcmp(now, text) != 0) tamis_set_note(v->filter, note, text);
}

uint64_t filter_word(const tamis *filter, const char *name, uint64_t otherwise) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(filter, &info);
    for (int i = 0; i < TAMIS_WORDS && info.word_name[i]; i++)
        if (strcmp(info.word_name[i], name) == 0) return info.word[i];
    return otherwise;
}

/* ---- Filters that several values have -------------------------------------------------------- */

/* Few at a time, and mostly none. Values are freed on other threads too. */
typedef struct share {
    tamis *filter;
    unsigned users;
    struct share *next;
} share;

static struct {
    pthread_mutex_t mutex;
    share *first;
} shares = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Where its entry hangs, or where the list ends. */
static share **find_share(const tamis *filter) {
    share **at = &shares.first;
    while (*at && (*at)->filter != filter) at = &(*at)->next;
    return at;
}

bool filter_is_shared(const tamis *filter) {
    if (!filters_are_shared()) return false;
    pthread_mutex_lock(&shares.mutex);
    const bool is_shared = *find_share(filter) != NULL;
    pthread_mutex_unlock(&shares.mutex);
    return is_shared;
}

bool filter_share(tamis *filter) {
    pthread_mutex_lock(&shares.mutex);
    share **at = find_share(filter), *s = *at;
    if (!s && (s = try_alloc(sizeof *s))) {
        *s = (share){.filter = filter, .users = 1};
        *at = s;
        atomic_fetch_add(&counters.shared, 1);
    }
    if (s) s->users++;
    pthread_mutex_unlock(&shares.mutex);
    return s;
}

/* The last but one who lets go leaves it to the last alone. */
void filter_release(tamis *filter) {
    bool is_last = true;
    if (filter && filters_are_shared()) {
        pthread_mutex_lock(&shares.mutex);
        share **at = find_share(filter), *s = *at;
        if (s) is_last = false;
        if (s && --s->users == 1) {
            *at = s->next;
            redis.Free(s);
            atomic_fetch_sub(&counters.shared, 1);
        }
        pthread_mutex_unlock(&shares.mutex);
    }
    if (is_last) tamis_free(filter);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void count_as(value *v, family now) {
    if (v->counted_as) atomic_fetch_sub(&counters.values[v->counted_as], 1);
    if (now) atomic_fetch_add(&counters.values[now], 1);
    v->counted_as = now;
}

static void count_clock(bool had, bool has) {
    if (has && !had) atomic_fetch_add(&counters.clocks, 1);
    if (had && !has) atomic_fetch_sub(&counters.clocks, 1);
}

void value_set_facts(value *v, const facts *f) {
    count_clock(v->facts.every, f->every);
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
    count_clock(v->facts.every, false);
    if (v->owes_tick) atomic_fetch_sub(&counters.owed, 1);
    free_later(v->filter);
    arrival_free(v->arrival);
    redis.Free(v);
}

tamis *value_swap(value *v, tamis *filter) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis *before = v->filter;
    v->filter = filter;
    if (filter) tamis_get_info(filter, &info);
    v->hashes_itself = info.abilities & TAMIS_OWN_HASH;
    v->knows_time = info.abilities & TAMIS_CAN_TICK;
    return before;
}

void value_replace(value *v, tamis *filter) {
    filter_release(value_swap(v, filter));
}

size_t value_bytes(const value *v) {
    const size_t filter = v->filter ? (size_t)tamis_image_size(v->filter) : 0;
    return sizeof *v + filter + arrival_bytes(v->arrival);
}

redis_type *value_type(const value *v) {
    struct tamis_info info = TAMIS_INFO_INIT;
    if (!v->filter || v->arrival) return value_types.tamis;
    tamis_get_info(v->filter, &info);
    return strcmp(info.kind, "redisbloom") == 0    ? value_types.bloom
           : strcmp(info.kind, "rediscuckoo") == 0 ? value_types.cuckoo
           : strcmp(info.kind, "rediscms") == 0    ? value_types.countmin
                                                   : value_types.tamis;
}
