/* SPDX-License-Identifier: MIT */
/* The spec: one line that describes a filter everywhere.
 *
 *     blocked:capacity=1M,fpr=1%,hash=sip13,key=outside
 *     └─kind  └─ options: common ones are in this file, the kind's own in its descriptor
 */
#include "core/spec.h"

#include <stdio.h>
#include <string.h>

#include "base/slips.h"
#include "core/memory.h"

#define DEFAULT_KIND "blocked"
#define DEFAULT_FPR  0.01

/* ---- Words ---------------------------------------------------------------------------------- */

int tamis__choice_index(const char *choices, const char *word) {
    const size_t len = strlen(word);
    int index = 0;
    for (const char *p = choices;; p++, index++) {
        const size_t n = strcspn(p, "|");
        if (n == len && memcmp(p, word, n) == 0) return index;
        p += n;
        if (!*p) return -1;
    }
}

/* ---- Common options ------------------------------------------------------------------------- */

typedef bool common_setter(tamis_parsed_spec *, const char *value);

static bool set_capacity(tamis_parsed_spec *r, const char *value) {
    r->has_capacity = true;
    if (!tamis_parse_count(value, &r->params.capacity)) return false;
    if (r->params.capacity <= TAMIS_MAX_CAPACITY) return true;
    tamis__fail(TAMIS_INVALID, "must be from 0 to 2^56, not %s", value);
    return false;
}

static bool set_fpr(tamis_parsed_spec *r, const char *value) {
    r->has_fpr = true;
    return tamis_parse_rate(value, &r->params.fpr);
}

static bool set_bits_to(tamis_parsed_spec *r, uint64_t bits, const char *range, const char *value) {
    if (r->has_bits) {
        tamis__fail(TAMIS_INVALID, "size and bits conflict; give only one");
        return false;
    }
    r->has_bits = true;
    r->params.bits = bits;
    if (bits >= 1 && bits <= TAMIS_MAX_PAYLOAD_BYTES * 8) return true;
    tamis__fail(TAMIS_INVALID, "must be from %s, not %s", range, value);
    return false;
}

static bool set_size(tamis_parsed_spec *r, const char *value) {
    uint64_t bytes;
    if (!tamis_parse_bytes(value, &bytes)) return false;
    /* Payloads are whole 8-byte words, and the size is an upper limit. */
    const uint64_t bits = bytes <= TAMIS_MAX_PAYLOAD_BYTES ? bytes / 8 * 64 : 0;
    return set_bits_to(r, bits, "8 bytes to 2^56", value);
}

static bool set_bits(tamis_parsed_spec *r, const char *value) {
    uint64_t bits;
    if (!tamis_parse_count(value, &bits)) return false;
    return set_bits_to(r, bits, "1 to 2^59", value);
}

static bool set_hash(tamis_parsed_spec *r, const char *value) {
    r->has_hash = true;
    for (int mode = TAMIS_HASH_XXH3; mode < TAMIS_HASH_MODES; mode++)
        if (strcmp(value, tamis__hash_name((tamis_hash_mode)mode)) == 0)
            return r->mode = (tamis_hash_mode)mode, true;
    tamis__fail(TAMIS_INVALID, "must be xxh3, xxh64, mix8 or sip13, not '%s'", value);
    return false;
}

static bool set_seed(tamis_parsed_spec *r, const char *value) {
    return tamis_parse_count(value, &r->params.seed);
}

static bool set_key(tamis_parsed_spec *r, const char *value) {
    for (int place = TAMIS_KEY_INSIDE; place < TAMIS_KEY_PLACES; place++)
        if (strcmp(value, tamis__key_place_name((tamis_key_place)place)) == 0)
            return r->key_place = (tamis_key_place)place, true;
    tamis__fail(TAMIS_INVALID, "must be inside or outside, not '%s'", value);
    return false;
}

/* One list for people, and one in the same order for the parser. Kinds with their own hash take the
 * options before hash. */
static const struct tamis_option common[] = {
    {"capacity", NULL, 0, TAMIS_MAX_CAPACITY, "by size and fpr", "keys to plan for"},
    {"fpr", NULL, 0, 0, "1% when there is no size either",
     "wanted rate at capacity, from 1e-12 to below 1"},
    {"size", NULL, 8, TAMIS_MAX_PAYLOAD_BYTES, "by capacity and fpr",
     "bytes that the payload may have at most"},
    {"bits", NULL, 1, TAMIS_MAX_PAYLOAD_BYTES * 8, "by capacity and fpr",
     "the same in bits; classic and universal take exactly as many"},
    {"hash", "xxh3|xxh64|mix8|sip13", 0, 0, "xxh3",
     "how keys are hashed; mix8 suits single integers, sip13 is keyed"},
    {"seed", NULL, 0, UINT64_MAX, "0", "another hash function of the same family"},
    {"key", "inside|outside", 0, 0, "inside", "with sip13, where the secret is kept"},
};
enum { COMMON_COUNT = sizeof common / sizeof *common, COMMON_BEFORE_HASH = 4 };

static common_setter *const setters[COMMON_COUNT] = {set_capacity, set_fpr,  set_size, set_bits,
                                                     set_hash,     set_seed, set_key};

const struct tamis_option *tamis_common_options(size_t *count) {
    *count = COMMON_COUNT;
    return common;
}

/* ---- Options of the kind -------------------------------------------------------------------- */

bool tamis__is_text(const struct tamis_option *option) {
    return !option->choices && option->min == 0 && option->max == 0;
}

bool tamis__parse_option(const struct tamis_option *option, const char *value, uint64_t *out) {
    if (option->choices) {
        const int index = tamis__choice_index(option->choices, value);
        *out = (uint64_t)index;
        if (index >= 0) return true;
        tamis__fail(TAMIS_INVALID, "must be one of %s, not '%s'", option->choices, value);
        return false;
    }
    if (!tamis_parse_count(value, out)) return false;
    if (*out >= option->min && *out <= option->max) return true;
    tamis__fail(TAMIS_INVALID, "must be from %llu to %llu, not %s", (unsigned long long)option->min,
                (unsigned long long)option->max, value);
    return false;
}

static bool set_option(tamis_parsed_spec *r, size_t i, const char *value) {
    const struct tamis_option *option = &r->entry->kind->options[i];
    r->params.has_option[i] = true;
    if (tamis__is_text(option))
        return r->entry->kind->sizing->read_text(&r->params, i, value) == TAMIS_OK;
    return tamis__parse_option(option, value, &r->params.option[i]);
}

/* Names with commas between them, truncated to what an error message has room for. */
typedef struct list {
    char text[384];
} list;

static void append(list *l, const char *name) {
    const size_t at = strlen(l->text);
    snprintf(l->text + at, sizeof l->text - at, "%s%s", at ? ", " : "", name);
}

static tamis_status unknown_option(const tamis_kind *kind, const char *name) {
    list known = {""};
    tamis_nearest nearest = {.typed = name};
    const size_t shared = tamis__hashes_itself(kind) ? COMMON_BEFORE_HASH : COMMON_COUNT;
    for (size_t i = 0; i < shared + tamis__option_count(kind); i++) {
        const char *each = i < shared ? common[i].name : kind->options[i - shared].name;
        tamis__nearest_try(&nearest, each);
        append(&known, each);
    }
    if (nearest.name)
        return tamis__fail(TAMIS_INVALID, "%s has no option '%s'; did you mean %s?", kind->name,
                           name, nearest.name);
    return tamis__fail(TAMIS_INVALID, "%s has no option '%s'; it knows %s", kind->name, name,
                       known.text);
}

static tamis_status unknown_kind(const char *name) {
    list known = {""};
    for (size_t i = 0; i < tamis__kind_count(); i++)
        if (tamis__kind_at(i)->id < TAMIS_FOREIGN_FROM)
            append(&known, tamis__kind_at(i)->kind->name);
    return tamis__kind_refuse_name(name, known.text);
}

/* ---- Parsing -------------------------------------------------------------------------------- */

bool tamis__copy_trimmed(char *to, size_t max, const char *from, size_t len) {
    while (len && *from == ' ') from++, len--;
    while (len && from[len - 1] == ' ') len--;
    if (len >= max) return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

/* Reads one name=value, of `len` bytes. */
static tamis_status read_pair(const char *text, size_t len, struct tamis_spec_option *part) {
    const char *equals = memchr(text, '=', len);
    if (!equals)
        return tamis__fail(TAMIS_INVALID, "'%.*s' should be name=value", len > 40 ? 40 : (int)len,
                           text);
    const size_t name_len = (size_t)(equals - text);
    if (!tamis__copy_trimmed(part->name, sizeof part->name, text, name_len) ||
        !tamis__copy_trimmed(part->value, sizeof part->value, equals + 1, len - name_len - 1))
        return tamis__fail(TAMIS_INVALID, "'%.40s...' is too long for a name=value", text);
    return TAMIS_OK;
}

/* Reads the kind of "kind", "kind:pairs" or "pairs", "" where it is missing; `*pairs` is where the
 * pairs start. */
static tamis_status read_kind(const char *text, struct tamis_spec_option *part,
                              const char **pairs) {
    if (!text) return tamis__fail(TAMIS_INVALID, "the spec is NULL");
    const size_t head = strcspn(text, ":=");
    *part->kind = '\0';
    *pairs = text;
    if (text[head] == '=' || *text == '\0') return TAMIS_OK;
    if (!tamis__copy_trimmed(part->kind, sizeof part->kind, text, head))
        return tamis__fail(TAMIS_INVALID, "unknown kind '%.40s...'", text);
    *pairs = text + head + (text[head] == ':');
    return *part->kind ? TAMIS_OK : unknown_kind(part->kind);
}

/* Reads the pair at `*at`, which becomes the start of the next one. */
static tamis_status next_pair(const char **at, struct tamis_spec_option *part) {
    const size_t len = strcspn(*at, ",");
    const tamis_status rc = read_pair(*at, len, part);
    *at += len + ((*at)[len] == ',');
    return rc;
}

/* Common options come first, then the kind's own. Where both have the name, the kind's own is
 * meant: kinds of other systems have a seed or a choice of hashes that is not ours. */
static size_t find_option(const tamis_kind *kind, const char *name) {
    size_t i = 0, own = 0;
    const size_t options = tamis__option_count(kind);
    while (own < options && strcmp(name, kind->options[own].name) != 0) own++;
    if (own < options) return COMMON_COUNT + own;
    while (i < COMMON_COUNT && strcmp(name, common[i].name) != 0) i++;
    return i < COMMON_COUNT ? i : COMMON_COUNT + options;
}

/* `seen` has a bit for every option so far, so that none is given twice. */
static tamis_status set_pair(tamis_parsed_spec *r, const char *name, const char *value,
                             uint64_t *seen) {
    const tamis_kind *kind = r->entry->kind;
    const size_t i = find_option(kind, name);
    if (i == COMMON_COUNT + tamis__option_count(kind)) return unknown_option(kind, name);
    if (*seen >> i & 1) return tamis__fail(TAMIS_INVALID, "%s is given twice", name);
    *seen |= (uint64_t)1 << i;
    const bool is_set =
        i < COMMON_COUNT ? setters[i](r, value) : set_option(r, i - COMMON_COUNT, value);
    return is_set ? TAMIS_OK : tamis__fail_in(TAMIS_INVALID, name);
}

static tamis_status check_hashing(tamis_parsed_spec *r) {
    if (tamis__hashes_itself(r->entry->kind)) {
        if (r->has_hash || r->params.seed || r->key_place)
            return tamis__fail(TAMIS_INVALID, "%s hashes keys its own way: no hash, seed or key",
                               r->entry->kind->name);
        r->mode = TAMIS_HASH_OWN;
        return TAMIS_OK;
    }
    if (r->mode != TAMIS_HASH_SIP13 && r->key_place)
        return tamis__fail(TAMIS_INVALID, "key=%s needs hash=sip13",
                           tamis__key_place_name(r->key_place));
    if (r->mode == TAMIS_HASH_SIP13 && r->params.seed)
        return tamis__fail(TAMIS_INVALID, "seed is not for sip13, which has a secret key");
    if (r->mode == TAMIS_HASH_SIP13 && !r->key_place) r->key_place = TAMIS_KEY_INSIDE;
    return TAMIS_OK;
}

static tamis_status check_sizing(tamis_parsed_spec *r, bool is_open) {
    if (r->has_capacity && r->has_fpr && r->has_bits)
        return tamis__fail(TAMIS_INVALID, "capacity, fpr and size: give two, the third follows");
    const tamis_kind *kind = r->entry->kind;
    if (!r->has_capacity && !r->has_bits && TAMIS_ENTRY(kind, sizing, is_sized) &&
        kind->sizing->is_sized(&r->params))
        r->is_unasked = r->has_capacity = true; /* capacity 0 */
    r->is_unasked = r->is_unasked && !r->has_fpr;
    if (TAMIS_ENTRY(kind, sizing, whole) && !r->has_capacity)
        return tamis__fail(TAMIS_INVALID,
                           "capacity is missing: a %s cannot count the keys of the whole",
                           kind->name);
    if (!is_open && !r->has_capacity && !(r->has_fpr && r->has_bits))
        return tamis__fail(TAMIS_INVALID,
                           "capacity is missing (or give both size and fpr, and it follows)");
    if (!r->has_fpr && !r->has_bits) {
        r->has_fpr = true;
        r->params.fpr = DEFAULT_FPR;
    }
    return TAMIS_OK;
}

static tamis_status parse(const char *text, bool is_open, tamis_parsed_spec *r) {
    memset(r, 0, sizeof *r);
    r->mode = TAMIS_HASH_XXH3;
    struct tamis_spec_option part;
    const char *at;
    tamis_status rc = read_kind(text, &part, &at);
    if (rc) return rc;
    const char *name = *part.kind ? part.kind : DEFAULT_KIND;
    r->entry = tamis__kind_by_name(name, strlen(name));
    if (!r->entry) return unknown_kind(name);

    uint64_t seen = 0;
    while (*at && !rc) {
        rc = next_pair(&at, &part);
        if (!rc) rc = set_pair(r, part.name, part.value, &seen);
    }
    if (!rc) rc = check_hashing(r);
    return rc ? rc : check_sizing(r, is_open);
}

tamis_status tamis__spec_parse(const char *text, tamis_parsed_spec *r) {
    return parse(text, false, r);
}

tamis_status tamis__spec_parse_open(const char *text, tamis_parsed_spec *r) {
    return parse(text, true, r);
}

/* ---- Reading and changing the text ---------------------------------------------------------- */

tamis_status tamis_spec_read(const char *spec, size_t i, struct tamis_spec_option *option) {
    struct tamis_spec_option full = TAMIS_SPEC_OPTION_INIT;
    const char *at;
    tamis_status rc = read_kind(spec, &full, &at);
    for (size_t skip = i; !rc && skip && *at; skip--) rc = next_pair(&at, &full);
    if (rc) return rc;
    full.name[0] = full.value[0] = '\0';
    const char *pair = at;
    if (*pair) rc = next_pair(&at, &full);
    if (*pair && !rc && !full.name[0])
        rc = tamis__fail(TAMIS_INVALID, "'%.40s' should be name=value", pair);
    return rc ? rc : tamis__fill_struct(option, &full, sizeof full, "tamis_spec_option");
}

/* Refuses a word that would not be read back as written. */
static tamis_status check_word(const char *word, const char *what, const char *ends, size_t room) {
    const size_t len = strlen(word);
    if (len > 0 && len < room && strcspn(word, ends) == len) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "'%.40s' cannot be a %s in a spec", word, what);
}

static tamis_status check_pair(const char *name, const char *value) {
    const struct tamis_spec_option *part;
    if (!name) return check_word(value, "kind", ":=,", sizeof part->kind);
    const tamis_status rc = check_word(name, "name", ":=,", sizeof part->name);
    return rc ? rc : check_word(value, "value", ",", sizeof part->value);
}

/* Text, written as far as there is room, and counted in full. */
typedef struct writing {
    char *text;
    size_t size, len;
} writing;

static void put(writing *w, const char *words) {
    if (w->len < w->size) snprintf(w->text + w->len, w->size - w->len, "%s", words);
    w->len += strlen(words);
}

static void put_pair(writing *w, const char *name, const char *value) {
    put(w, name);
    put(w, "=");
    put(w, value);
}

size_t tamis_spec_set(const char *spec, const char *name, const char *value, char *text,
                      size_t size) {
    struct tamis_spec_option part;
    writing w = {.text = text, .size = size};
    bool is_set = !name; /* without a name, the kind is */
    const char *at;
    if (size) *text = '\0';
    if (check_pair(name, value) || read_kind(spec, &part, &at)) return 0;

    put(&w, name ? part.kind : value);
    const char *before = w.len > 0 ? ":" : "";
    for (; *at; before = ",") {
        if (next_pair(&at, &part)) return size ? *text = '\0', 0 : 0;
        const bool is_it = name && strcmp(part.name, name) == 0;
        put(&w, before);
        put_pair(&w, part.name, is_it ? value : part.value);
        is_set = is_set || is_it;
    }
    if (is_set) return w.len;
    put(&w, before);
    put_pair(&w, name, value);
    return w.len;
}
