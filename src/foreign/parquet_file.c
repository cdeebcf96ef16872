/* SPDX-License-Identifier: MIT */
/* parquet: the filters inside a Parquet file.
 *
 *     "PAR1"   data, and somewhere among them filters (header and bitset, see parquet.c)
 *     footer   Thrift: schema, row groups, and in each of them a chunk for every column
 *     length   4 bytes  of the footer, little-endian
 *     "PAR1"
 *
 * A chunk has its column's path and physical type, which is how its keys become bytes, and the
 * offset of its filter if it has one; not every writer stores its length. So a file has a filter
 * for each column and row group, or for some of them: column=, index= and group= choose one, and
 * group=all joins those of a column that are of one size.
 *
 * The footer is walked again for every purpose and never kept: twice to list, once to choose, once
 * more to join. */
#include <stdio.h>
#include <string.h>

#include "bits/bits.h"
#include "foreign/parquet.h"
#include "foreign/thrift.h"

enum { COLUMN, INDEX, GROUP };
enum { MAGIC = 4, TAIL = 8 };
static const char name_of_format[] = "parquet";

static const struct tamis_option params[] = {
    {"column", NULL, 0, 0, "the only one that has a filter", "path of the column, a.b.c"},
    {"index", NULL, 0, INT32_MAX, "by its path", "number of the column, from 0, instead"},
    {"group", NULL, 0, 0, "the only one", "row group, from 0; or all: joined into one filter"},
};

/* ---- The footer ----------------------------------------------------------------------------- */

/* A column in a row group. `path` is only for display when is_odd: truncated, or with marks for
 * what cannot be typed as a parameter. */
typedef struct chunk {
    uint64_t group, index;
    char path[TAMIS_FORMAT_TEXT];
    bool is_odd, is_elsewhere, is_encrypted, has_filter, has_length;
    int64_t type, offset, length;
} chunk;

/* Called for every chunk, in the order of the file; any result but TAMIS_OK ends the walk. */
typedef tamis_status visitor(void *ctx, const chunk *);

typedef struct walk {
    tamis_thrift thrift;
    visitor *visit;
    void *ctx;
    tamis_status rc;
} walk;

/* Appends to the path what fits, and checks whether it could be typed. */
static void append_name(chunk *c, size_t *at, const uint8_t *name, uint64_t len) {
    for (uint64_t i = 0; i < len && *at < sizeof c->path; i++) {
        const bool is_control = name[i] < ' ' || name[i] == 0x7f;
        c->is_odd |= is_control || name[i] == ',';
        c->path[(*at)++] = (char)(is_control ? '?' : name[i]);
    }
}

static void take_path(tamis_thrift *t, chunk *c) {
    const uint64_t n = tamis__thrift_list(t, TAMIS_THRIFT_BINARY);
    const size_t max = sizeof c->path - 1;
    size_t at = 0;
    c->is_odd = false;
    for (uint64_t i = 0; i < n && !t->wrong; i++) {
        uint64_t len;
        const uint8_t *name = tamis__thrift_binary(t, &len);
        if (i) append_name(c, &at, (const uint8_t *)".", 1);
        append_name(c, &at, name, len);
    }
    c->is_odd |= at == 0 || at > max || c->path[0] == ' ' || c->path[at - 1] == ' ';
    c->path[at < max ? at : max] = '\0';
}

static void take_meta_data(tamis_thrift *t, chunk *c) {
    for (tamis_field field = {0, 0}; tamis__thrift_next(t, &field);) switch (tamis__field(field)) {
        case TAMIS_FIELD(1, I32): c->type = tamis__thrift_number(t, field.type); break;
        case TAMIS_FIELD(3, LIST): take_path(t, c); break;
        case TAMIS_FIELD(14, I64):
            c->offset = tamis__thrift_number(t, field.type);
            c->has_filter = true;
            break;
        case TAMIS_FIELD(15, I32):
            c->length = tamis__thrift_number(t, field.type);
            c->has_length = true;
            break;
        default: tamis__thrift_skip(t, field.type);
        }
}

static void take_chunk(walk *w, chunk *c) {
    tamis_thrift *t = &w->thrift;
    c->path[0] = '\0';
    c->is_odd = true;
    c->is_elsewhere = c->is_encrypted = c->has_filter = c->has_length = false;
    c->type = -1;
    for (tamis_field field = {0, 0}; tamis__thrift_next(t, &field);) {
        const int32_t what = tamis__field(field);
        c->is_elsewhere |= what == TAMIS_FIELD(1, BINARY);
        c->is_encrypted |= what == TAMIS_FIELD(8, STRUCT) || what == TAMIS_FIELD(9, BINARY);
        if (what == TAMIS_FIELD(3, STRUCT))
            take_meta_data(t, c);
        else
            tamis__thrift_skip(t, field.type);
    }
    if (!t->wrong) w->rc = w->visit(w->ctx, c);
}

static void take_group(walk *w, chunk *c) {
    tamis_thrift *t = &w->thrift;
    for (tamis_field field = {0, 0}; !w->rc && tamis__thrift_next(t, &field);) {
        if (tamis__field(field) != TAMIS_FIELD(1, LIST)) {
            tamis__thrift_skip(t, field.type);
            continue;
        }
        const uint64_t n = tamis__thrift_list(t, TAMIS_THRIFT_STRUCT);
        for (c->index = 0; c->index < n && !w->rc && !t->wrong; c->index++) take_chunk(w, c);
    }
}

static void take_groups(walk *w) {
    tamis_thrift *t = &w->thrift;
    const uint64_t n = tamis__thrift_list(t, TAMIS_THRIFT_STRUCT);
    chunk c = {.group = 0};
    for (; c.group < n && !w->rc && !t->wrong; c.group++) take_group(w, &c);
}

/* Where the footer starts. */
static tamis_status find_footer(const tamis_input *in, uint64_t *start) {
    if (in->size < MAGIC + TAIL)
        return tamis__bad_format(name_of_format, "a Parquet file starts and ends with PAR1");
    tamis_status rc = tamis__bring(in, 0, MAGIC);
    if (!rc) rc = tamis__bring(in, in->size - TAIL, TAIL);
    if (rc) return rc;
    if (memcmp(in->bytes, "PAR", 3) != 0)
        return tamis__bad_format(name_of_format, "a Parquet file starts and ends with PAR1");
    const uint8_t *tail = in->bytes + in->size - TAIL;
    if (memcmp(tail + 4, "PARE", MAGIC) == 0)
        return tamis__fail(TAMIS_UNSUPPORTED, "parquet: the footer is encrypted, so filters cannot "
                                              "be found without its key");
    if (memcmp(tail + 4, "PAR1", MAGIC) != 0 || memcmp(in->bytes, "PAR1", MAGIC) != 0)
        return tamis__bad_format(name_of_format, "a Parquet file starts and ends with PAR1");
    const uint64_t length = tamis__get32(tail), room = in->size - MAGIC - TAIL;
    if (length > room)
        return tamis__bad_format(name_of_format,
                                 "the footer should have %llu bytes, but there are %llu",
                                 (unsigned long long)length, (unsigned long long)room);
    *start = in->size - TAIL - length;
    return TAMIS_OK;
}

static tamis_status walk_chunks(const tamis_input *in, visitor *visit, void *ctx) {
    uint64_t start = 0;
    tamis_status rc = find_footer(in, &start);
    if (!rc) rc = tamis__bring(in, start, in->size - start);
    if (rc) return rc;
    walk w = {{in->bytes + start, in->bytes + in->size - TAIL, NULL}, visit, ctx, TAMIS_OK};
    for (tamis_field field = {0, 0}; !w.rc && tamis__thrift_next(&w.thrift, &field);)
        if (tamis__field(field) == TAMIS_FIELD(4, LIST))
            take_groups(&w);
        else
            tamis__thrift_skip(&w.thrift, field.type);
    if (w.rc) return w.rc;
    return w.thrift.wrong ? tamis__bad_format(name_of_format, "in the footer %s", w.thrift.wrong)
                          : TAMIS_OK;
}

/* ---- One filter ----------------------------------------------------------------------------- */

/* Where a filter is, all of it before the footer. */
typedef struct place {
    uint64_t offset, header, bitset;
} place;

static tamis_status misplaced(const chunk *c) {
    return tamis__bad_format(
        name_of_format,
        "the filter of column %llu in row group %llu should be at %lld, which is "
        "not in the data",
        (unsigned long long)c->index, (unsigned long long)c->group, (long long)c->offset);
}

static tamis_status locate(const tamis_input *in, const chunk *c, place *at) {
    uint64_t end = 0;
    tamis_status rc = find_footer(in, &end);
    if (rc) return rc;
    if (c->offset < MAGIC || (uint64_t)c->offset >= end) return misplaced(c);
    at->offset = (uint64_t)c->offset;
    const tamis_input rest = {in->bytes + at->offset, end - at->offset, NULL};
    const uint64_t max = TAMIS_PARQUET_MAX_HEADER;
    rc = tamis__bring(in, at->offset, rest.size < max ? rest.size : max);
    if (!rc) rc = tamis__parquet_header(name_of_format, &rest, &at->header, &at->bitset);
    if (rc) return rc;
    if (!c->has_length || c->length == (int64_t)(at->header + at->bitset)) return TAMIS_OK;
    return tamis__bad_format(name_of_format,
                             "the filter at %llu has %lld bytes by the footer, %llu by its header",
                             (unsigned long long)at->offset, (long long)c->length,
                             (unsigned long long)(at->header + at->bitset));
}

/* ---- Choosing ------------------------------------------------------------------------------- */

typedef struct choice {
    const char *column; /* NULL: not given */
    bool has_index, has_group, is_all;
    uint64_t index, group;
    char text[160]; /* all of it, as typed */
} choice;

static tamis_status understand(const tamis_format_args *args, choice *w) {
    *w = (choice){.column = args->has[COLUMN] ? args->text[COLUMN] : NULL,
                  .has_index = args->has[INDEX],
                  .index = args->number[INDEX],
                  .is_all = args->has[GROUP] && strcmp(args->text[GROUP], "all") == 0};
    w->has_group = args->has[GROUP] && !w->is_all;
    for (size_t i = 0, at = 0; i < sizeof params / sizeof *params && at < sizeof w->text; i++)
        if (args->has[i])
            at += (size_t)snprintf(w->text + at, sizeof w->text - at, "%s%s=%s", at ? "," : "",
                                   params[i].name, args->text[i]);
    if (!w->has_group || tamis_parse_count(args->text[GROUP], &w->group)) return TAMIS_OK;
    return tamis__fail_in(TAMIS_INVALID, "group must be a number or all");
}

static bool fits(const choice *w, const chunk *c) {
    if (w->column && (c->is_odd || strcmp(w->column, c->path) != 0)) return false;
    if (w->has_index && w->index != c->index) return false;
    return !w->has_group || w->group == c->group;
}

/* Is there a filter, here and readable? */
static bool is_readable(const chunk *c) {
    return c->has_filter && !c->is_elsewhere && !c->is_encrypted;
}

/* The state of a walk in search of one filter. */
typedef struct search {
    const tamis_input *in;
    choice choice;
    uint64_t filters, fitting, encrypted;
    chunk first; /* the first match */
    uint64_t other_column, last_group;
    bool is_several_columns, is_several_groups;
    place at;                        /* of the first, for group=all */
    uint64_t names_group, names_len; /* columns that have filters in the first such group */
    char names[160];
} search;

static void note_name(search *s, const chunk *c) {
    if (s->filters++ == 0) s->names_group = c->group;
    s->last_group = c->group;
    if (c->group != s->names_group || s->names_len >= sizeof s->names) return;
    char *to = s->names + s->names_len;
    const size_t room = sizeof s->names - s->names_len;
    const char *comma = s->names_len ? ", " : "";
    const int len = c->is_odd
                        ? snprintf(to, room, "%sindex=%llu", comma, (unsigned long long)c->index)
                        : snprintf(to, room, "%s%s", comma, c->path);
    s->names_len += (uint64_t)len;
    if (s->names_len >= sizeof s->names) memcpy(s->names + sizeof s->names - 4, "...", 4);
}

static tamis_status is_like_first(search *s, const chunk *c) {
    place at;
    if (strcmp(c->path, s->first.path) != 0)
        return tamis__fail(
            TAMIS_UNSUPPORTED,
            "column %llu is not the same in row groups %llu and %llu: choose a group",
            (unsigned long long)c->index, (unsigned long long)s->first.group,
            (unsigned long long)c->group);
    const tamis_status rc = locate(s->in, c, &at);
    if (rc) return rc;
    if (s->fitting == 1) s->at = at;
    if (at.bitset != s->at.bitset)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "the filters of the column differ in size, %llu bytes in row group "
                           "%llu, %llu in row group %llu: they cannot be joined, choose a group",
                           (unsigned long long)s->at.bitset, (unsigned long long)s->first.group,
                           (unsigned long long)at.bitset, (unsigned long long)c->group);
    /* Without overlaps, filters are no larger than the file, and joining is as fast. */
    if (at.bitset > s->in->size / s->fitting)
        return tamis__bad_format(name_of_format, "filters overlap");
    return TAMIS_OK;
}

static tamis_status look(void *ctx, const chunk *c) {
    search *s = ctx;
    s->encrypted += c->is_encrypted;
    if (!is_readable(c)) return TAMIS_OK;
    note_name(s, c);
    if (!fits(&s->choice, c)) return TAMIS_OK;
    if (s->fitting++ == 0) s->first = *c;
    if (c->index != s->first.index) {
        s->is_several_columns = true;
        s->other_column = c->index;
    }
    s->is_several_groups |= c->group != s->first.group;
    return s->choice.is_all && !s->is_several_columns ? is_like_first(s, c) : TAMIS_OK;
}

/* One filter is left, or one for each group to be joined; else lists what there is. */
static tamis_status decide(const search *s) {
    const unsigned long long first = s->first.index, other = s->other_column, last = s->last_group;
    if (s->filters == 0 && s->encrypted)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "parquet: the columns are encrypted, and so are their "
                           "filters; without the keys they cannot be read");
    if (s->filters == 0)
        return tamis__fail(TAMIS_UNSUPPORTED, "parquet: no column of the file has a filter");
    if (s->fitting == 0)
        return tamis__fail(TAMIS_INVALID,
                           "no filter is that of %s: there are filters for %s, in row groups %llu "
                           "to %llu%s",
                           s->choice.text, s->names, (unsigned long long)s->names_group, last,
                           s->encrypted ? "; others are encrypted" : "");
    if (s->is_several_columns && s->choice.column)
        return tamis__fail(TAMIS_INVALID,
                           "the columns %llu and %llu are both called %s: choose with index=N",
                           first, other, s->first.path);
    if (s->is_several_columns)
        return tamis__fail(TAMIS_INVALID,
                           "several columns have a filter, choose with column=NAME or index=N: %s",
                           s->names);
    if (s->is_several_groups && !s->choice.is_all)
        return tamis__fail(TAMIS_INVALID,
                           "the column has a filter in %llu row groups, up to %llu: choose with "
                           "group=N, or join them with group=all",
                           (unsigned long long)s->fitting, last);
    return TAMIS_OK;
}

/* ---- Reading -------------------------------------------------------------------------------- */

enum { AT_INDEX, AT_PATH, AT_JOINED };

static uint64_t hash_of_path(const chunk *c) {
    const tamis_hasher hasher = {.mode = TAMIS_HASH_XXH64};
    return tamis__hash(&hasher, c->path, strlen(c->path));
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    search s = {.in = in};
    place at;
    tamis_status rc = understand(args, &s.choice);
    if (!rc) rc = walk_chunks(in, look, &s);
    if (!rc) rc = decide(&s);
    if (!rc) rc = locate(in, &s.first, &at);
    if (!rc) rc = tamis__bring(in, at.offset + at.header, at.bitset);
    if (rc) return rc;
    *out = tamis__parquet_arrival(in->bytes + at.offset + at.header, at.bitset);
    out->at[AT_INDEX] = s.first.index;
    out->at[AT_PATH] = hash_of_path(&s.first);
    out->at[AT_JOINED] = s.choice.is_all;
    return TAMIS_OK;
}

typedef struct joining {
    const tamis_input *in;
    const tamis_import_result *from;
    tamis_body *body;
} joining;

static tamis_status join(void *ctx, const chunk *c) {
    const joining *j = ctx;
    place at;
    if (!is_readable(c) || c->index != j->from->at[AT_INDEX] ||
        hash_of_path(c) != j->from->at[AT_PATH])
        return TAMIS_OK;
    tamis_status rc = locate(j->in, c, &at);
    if (!rc && at.bitset == j->body->size)
        rc = tamis__bring(j->in, at.offset + at.header, at.bitset);
    if (rc || at.bitset != j->body->size) return rc;
    const uint8_t *bitset = j->in->bytes + at.offset + at.header;
    for (uint64_t i = 0; i < j->body->size; i += 8)
        tamis__or64(j->body->bytes + i, tamis__get64(bitset + i));
    return TAMIS_OK;
}

static tamis_status load(const tamis_input *in, const tamis_import_result *from, tamis_body *body) {
    joining j = {in, from, body};
    if (from->at[AT_JOINED]) return walk_chunks(in, join, &j);
    memcpy(body->bytes, from->payload.bytes, (size_t)body->size);
    return TAMIS_OK;
}

/* ---- Listing -------------------------------------------------------------------------------- */

/* A column's path names it when no other column has the same one. That takes a walk of its own: a
 * slot for each hash of a path keeps the only column that came there. Files with many more columns
 * than slots get some of them listed by number. */
enum { SLOTS = 4096 };
#define FREE   0
#define SHARED UINT32_MAX
typedef struct listing {
    const tamis_input *in;
    choice choice;
    tamis_finder *each;
    void *ctx;
    uint32_t owner[SLOTS]; /* FREE, SHARED, or index + 1 */
} listing;

static uint32_t *slot_of(listing *l, const chunk *c) {
    return &l->owner[hash_of_path(c) % SLOTS];
}

static tamis_status learn(void *ctx, const chunk *c) {
    if (!is_readable(c) || c->is_odd) return TAMIS_OK;
    uint32_t *owner = slot_of(ctx, c);
    *owner = *owner == FREE || *owner == c->index + 1 ? (uint32_t)(c->index + 1) : SHARED;
    return TAMIS_OK;
}

/* Physical types, and how a value becomes the bytes of a key: plain, without a length. */
static const struct {
    const char *name, *keys;
} types[] = {{"BOOLEAN", NULL},       {"INT32", "int32"},
             {"INT64", "int64"},      {"INT96", "bytes"},
             {"FLOAT", "float"},      {"DOUBLE", "double"},
             {"BYTE_ARRAY", "bytes"}, {"FIXED_LEN_BYTE_ARRAY", "bytes"}};

static tamis_status tell(void *ctx, const chunk *c) {
    listing *l = ctx;
    place at;
    char name[2 * TAMIS_FORMAT_TEXT], choose[2 * TAMIS_FORMAT_TEXT];
    const unsigned long long index = c->index, group = c->group;
    if (!is_readable(c) || !fits(&l->choice, c)) return TAMIS_OK;
    const tamis_status rc = locate(l->in, c, &at);
    if (rc) return rc;
    const bool is_type = c->type >= 0 && c->type < (int64_t)(sizeof types / sizeof *types);
    snprintf(name, sizeof name, "column %s, row group %llu, %s", c->path, group,
             is_type ? types[c->type].name : "of an unknown type");
    if (c->is_odd || *slot_of(l, c) != c->index + 1)
        snprintf(choose, sizeof choose, "index=%llu,group=%llu", index, group);
    else
        snprintf(choose, sizeof choose, "column=%s,group=%llu", c->path, group);
    const struct tamis_found found = {.name = name,
                                      .choose = choose,
                                      .kind = "split",
                                      .keys = is_type ? types[c->type].keys : NULL,
                                      .offset = at.offset,
                                      .size = at.header + at.bitset};
    return l->each(l->ctx, &found) ? TAMIS_OK : TAMIS_CANCELLED;
}

static tamis_status find(const tamis_input *in, const tamis_format_args *args, tamis_finder *each,
                         void *ctx) {
    listing l = {.in = in, .each = each, .ctx = ctx};
    tamis_status rc = understand(args, &l.choice);
    if (!rc) rc = walk_chunks(in, learn, &l);
    if (!rc) rc = walk_chunks(in, tell, &l);
    return rc == TAMIS_CANCELLED ? TAMIS_OK : rc;
}

const tamis_format tamis__format_parquet = {
    .name = "parquet",
    .system = "Parquet file with split-block filters",
    .kinds = "split",
    .keys = "bytes utf8 int32 int64 float double",
    .limits =
        "a file is its own writer's; parquet-filter and parquet-bitset write the filter alone",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .has_magic = true,
    .brings = true,
    .find = find,
    .read = read,
    .load = load,
};
