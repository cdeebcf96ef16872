/* SPDX-License-Identifier: MIT */
/* Filters of other systems: from their bytes to a handle, and back. */
#include "foreign/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/slips.h"
#include "core/filter.h"
#include "foreign/bip158.h"

/* ---- Formats -------------------------------------------------------------------------------- */

static bool describe(const tamis_format *format, struct tamis_format_info *info) {
    if (!format) return false;
    const struct tamis_format_info full = {
        .name = format->name,
        .system = format->system,
        .kinds = format->kinds,
        .keys = format->keys,
        .limits = format->limits,
        .params = format->params,
        .param_count = format->param_count,
        .can_write = format->write,
        .has_several = format->find,
    };
    return !tamis__fill_struct(info, &full, sizeof full, "format_info");
}

size_t tamis_format_count(void) {
    return tamis__format_count();
}

bool tamis_format_at(size_t i, struct tamis_format_info *info) {
    return describe(tamis__format_at(i), info);
}

bool tamis_format_named(const char *name, struct tamis_format_info *info) {
    return describe(tamis__format_by_name(name), info);
}

/* ---- "parquet:column=name,group=0" ---------------------------------------------------------- */

static tamis_status unknown_format(const char *name) {
    char known[512] = "none"; /* in a build without formats */
    int at = 0;
    tamis_nearest nearest = {.typed = name};
    for (size_t i = 0; i < tamis__format_count(); i++)
        tamis__nearest_try(&nearest, tamis__format_at(i)->name);
    if (nearest.name)
        return tamis__fail(TAMIS_INVALID, "unknown format '%s'; did you mean %s?", name,
                           nearest.name);
    for (size_t i = 0; i < tamis__format_count() && at < (int)sizeof known; i++)
        at += snprintf(known + at, sizeof known - (size_t)at, "%s%s", i ? ", " : "",
                       tamis__format_at(i)->name);
    return tamis__fail(TAMIS_INVALID, "unknown format '%s'; there are %s", name, known);
}

static tamis_status unknown_param(const tamis_format *format, const char *name) {
    char known[256] = "none";
    int at = 0;
    tamis_nearest nearest = {.typed = name};
    for (size_t i = 0; i < format->param_count; i++)
        tamis__nearest_try(&nearest, format->params[i].name);
    if (nearest.name)
        return tamis__fail(TAMIS_INVALID, "the format %s has no parameter '%s'; did you mean %s?",
                           format->name, name, nearest.name);
    for (size_t i = 0; i < format->param_count && at < (int)sizeof known; i++)
        at += snprintf(known + at, sizeof known - (size_t)at, "%s%s", i ? ", " : "",
                       format->params[i].name);
    return tamis__fail(TAMIS_INVALID, "the format %s has no parameter '%s'; it knows %s",
                       format->name, name, known);
}

static tamis_status parse_param(const tamis_format *format, const char *text, size_t len,
                                tamis_format_args *args) {
    char name[TAMIS_FORMAT_TEXT], value[TAMIS_FORMAT_TEXT];
    const char *equals = memchr(text, '=', len);
    const size_t name_len = equals ? (size_t)(equals - text) : len;
    if (!equals || !tamis__copy_trimmed(name, sizeof name, text, name_len) ||
        !tamis__copy_trimmed(value, sizeof value, equals + 1, len - name_len - 1))
        return tamis__fail(TAMIS_INVALID, "'%.*s' should be name=value, of at most %d bytes each",
                           len > 40 ? 40 : (int)len, text, TAMIS_FORMAT_TEXT - 1);
    size_t i = 0;
    while (i < format->param_count && strcmp(name, format->params[i].name) != 0) i++;
    if (i == format->param_count) return unknown_param(format, name);
    if (args->has[i]) return tamis__fail(TAMIS_INVALID, "%s is given twice", name);
    args->has[i] = true;
    memcpy(args->text[i], value, sizeof value);
    if (tamis__is_text(&format->params[i]) ||
        tamis__parse_option(&format->params[i], value, &args->number[i]))
        return TAMIS_OK;
    return tamis__fail_in(TAMIS_INVALID, name);
}

static tamis_status parse(const char *text, const tamis_format **format, tamis_format_args *args) {
    char name[TAMIS_FORMAT_TEXT];
    memset(args, 0, sizeof *args);
    if (!text) return tamis__fail(TAMIS_INVALID, "the format is NULL");
    const size_t head = strcspn(text, ":");
    if (!tamis__copy_trimmed(name, sizeof name, text, head))
        return tamis__fail(TAMIS_INVALID, "unknown format '%.40s...'", text);
    *format = tamis__format_by_name(name);
    if (!*format) return unknown_format(name);
    for (const char *p = text + head + (text[head] == ':'); *p;) {
        const size_t len = strcspn(p, ",");
        const tamis_status rc = parse_param(*format, p, len, args);
        if (rc) return rc;
        p += len + (p[len] == ',');
    }
    return TAMIS_OK;
}

/* ---- Bytes from the caller ------------------------------------------------------------------ */

/* The caller's bytes may be a file that others write to, which may change between check and use. So
 * each byte is fetched once, into our copy, and formats see only that. Large files are fetched page
 * by page, as far as a format reads them. */
typedef struct arriving {
    tamis_source source;
    tamis_input input;
    struct tamis_allocator allocator;
    tamis_block bytes, has;
} arriving;

static tamis_status receive(arriving *a, const tamis_format *format) {
    const uint64_t size = a->source.size, pages = size / TAMIS_SOURCE_PAGE + 1;
    const void *room = format->brings ? tamis__get_sparse(&a->allocator, size, &a->bytes)
                                      : tamis__get(&a->allocator, size, &a->bytes);
    if (!room) return TAMIS_NOMEM;
    /* At the end of the block: a read past the bytes is one past our memory. */
    a->source.bytes = (uint8_t *)a->bytes.base + (a->bytes.size - size);
    a->source.has = tamis__get(&a->allocator, (pages / 64 + 1) * 8, &a->has);
    if (!a->source.has) return TAMIS_NOMEM;
    tamis__source_fence(&a->source);
    a->input = (tamis_input){a->source.bytes, size, &a->source};
    return format->brings ? TAMIS_OK : tamis__bring(&a->input, 0, size);
}

static void let_go(arriving *a) {
    tamis__source_unfence(&a->source);
    tamis__block_free(&a->allocator, &a->bytes);
    tamis__block_free(&a->allocator, &a->has);
}

/* A reader of bytes in memory. */
static bool read_memory(void *ctx, uint64_t offset, void *bytes, size_t size) {
    memcpy(bytes, (const uint8_t *)ctx + offset, size);
    return true;
}

/* ---- Import --------------------------------------------------------------------------------- */

/* Where the format does not give the number of keys, the bits do. */
static uint64_t items_of(const tamis_import_result *in, const tamis *f) {
    tamis_measurement m = {0};
    if (in->items) return in->items;
    f->kind->measure(&f->image.body, NULL, &m);
    return m.items.value < (double)TAMIS_MAX_CAPACITY ? (uint64_t)(m.items.value + 0.5)
                                                      : TAMIS_MAX_CAPACITY;
}

static tamis_status fill(tamis *f, const tamis_format *format, const tamis_input *input,
                         const tamis_import_result *in) {
    tamis_body *body = &f->image.body;
    tamis_status rc = TAMIS_OK;
    if (format->load)
        rc = format->load(input, in, body);
    else if (in->payload.size > body->size)
        rc = tamis__bad_format(format->name, "there are extra bytes after the filter");
    else
        memcpy(body->bytes, in->payload.bytes, (size_t)in->payload.size);
    if (!rc && f->kind->audit) rc = f->kind->audit(body);
    return rc;
}

/* The shape and what else is known before there is memory for it. */
static tamis_image image_of(const tamis_import_result *in, const tamis_entry *entry) {
    tamis_image image = {
        .entry = entry,
        .hasher.mode = in->hash,
        .capacity = in->capacity < TAMIS_MAX_CAPACITY ? in->capacity : TAMIS_MAX_CAPACITY,
        .one_in = in->fpr > 0 && in->fpr < 1 ? tamis__one_in(in->fpr) : 0,
        .body.kind = entry->kind,
    };
    memcpy(image.body.word, in->word, sizeof in->word);
    return image;
}

/* What fails half-way is left in *filter, for the caller to free. */
static tamis_status make(tamis **filter, const tamis_format *format, const tamis_input *input,
                         const tamis_import_result *in, const struct tamis_options *options) {
    const tamis_entry *entry = tamis__kind_by_name(in->kind, strlen(in->kind));
    const struct tamis_allocator allocator = tamis__allocator(options);
    tamis_image image = image_of(in, entry);
    if (entry->kind->check(in->word, &image.body.size))
        return tamis__fail_in(TAMIS_CORRUPT, format->name);
    tamis_status rc = tamis__new_with(filter, &image, &allocator, options);
    if (!rc) rc = fill(*filter, format, input, in);
    if (!rc) (*filter)->image.body.items = items_of(in, *filter);
    return rc;
}

/* Stores the text that came with the filter, verbatim. */
static tamis_status note_head(tamis *f, const tamis_format *format, const tamis_input *head) {
    tamis_block block;
    if (head->size == 0) return TAMIS_OK;
    char *text = tamis__get(&f->allocator, head->size + 1, &block);
    if (!text) return TAMIS_NOMEM;
    memcpy(text, head->bytes, (size_t)head->size);
    const tamis_status rc = tamis_set_note(f, "head", text);
    tamis__block_free(&f->allocator, &block);
    return rc == TAMIS_INVALID ? tamis__fail_in(TAMIS_CORRUPT, format->name) : rc;
}

tamis_status tamis_import_from(tamis **filter, const char *text, tamis_reader *read, void *ctx,
                               uint64_t size, const struct tamis_options *options) {
    arriving a = {.source = {.read = read, .ctx = ctx, .size = size}};
    const tamis_format *format;
    tamis_import_result in = {.hash = TAMIS_HASH_OWN};
    tamis_format_args args;
    struct tamis_options o;
    *filter = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (rc) return rc;
    a.allocator = tamis__allocator(&o);
    rc = parse(text, &format, &args);
    if (!rc) rc = receive(&a, format);
    if (!rc) rc = format->read(&a.input, &args, &in);
    if (!rc) rc = make(filter, format, &a.input, &in, &o);
    if (!rc) rc = note_head(*filter, format, &in.head);
    if (!rc) rc = tamis_set_note(*filter, "origin", text);
    if (rc) {
        tamis_free(*filter);
        *filter = NULL;
    }
    let_go(&a);
    return rc;
}

tamis_status tamis_import_with(tamis **filter, const char *format, const void *bytes, size_t size,
                               const struct tamis_options *options) {
    return tamis_import_from(filter, format, read_memory, (void *)(uintptr_t)bytes, size, options);
}

tamis_status tamis_import(tamis **filter, const char *format, const void *bytes, size_t size) {
    return tamis_import_with(filter, format, bytes, size, NULL);
}

/* For formats with one filter per file. */
static tamis_status find_the_one(const tamis_format *format, const tamis_input *input,
                                 const tamis_format_args *args, tamis_finder *each, void *ctx) {
    tamis_import_result in = {.hash = TAMIS_HASH_OWN};
    const tamis_status rc = format->read(input, args, &in);
    if (rc) return rc;
    const struct tamis_found found = {
        .name = format->system, .choose = "", .kind = in.kind, .size = input->size};
    each(ctx, &found);
    return TAMIS_OK;
}

tamis_status tamis_format_scan_from(const char *text, tamis_reader *read, void *read_ctx,
                                    uint64_t size, tamis_finder *each, void *ctx) {
    const struct tamis_options usual = {.struct_size = sizeof usual};
    arriving a = {.source = {.read = read, .ctx = read_ctx, .size = size},
                  .allocator = tamis__allocator(&usual)};
    const tamis_format *format;
    tamis_format_args args;
    tamis_status rc = parse(text, &format, &args);
    if (!rc) rc = receive(&a, format);
    if (!rc)
        rc = format->find ? format->find(&a.input, &args, each, ctx)
                          : find_the_one(format, &a.input, &args, each, ctx);
    let_go(&a);
    return rc;
}

tamis_status tamis_format_scan(const char *format, const void *bytes, size_t size,
                               tamis_finder *each, void *ctx) {
    return tamis_format_scan_from(format, read_memory, (void *)(uintptr_t)bytes, size, each, ctx);
}

/* ---- Export --------------------------------------------------------------------------------- */

/* Is `word` one of those in "a b c"? */
static bool is_among(const char *words, const char *word) {
    const size_t len = strlen(word);
    for (const char *p = words; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == len && memcmp(p, word, len) == 0) return true;
    return false;
}

static tamis_status may_leave(const tamis *f, const tamis_format *format) {
    if (!format->write)
        return tamis__fail(TAMIS_UNSUPPORTED, "%s can be read, not written%s%s", format->name,
                           format->limits ? ": " : "", format->limits ? format->limits : "");
    if (is_among(format->kinds, f->kind->name)) return TAMIS_OK;
    return tamis__fail(
        TAMIS_UNSUPPORTED,
        "%s holds filters of the kind %s: %s places keys otherwise, and cannot become "
        "one without the keys",
        format->name, format->kinds, f->kind->name);
}

tamis_status tamis_export(const tamis *f, const char *text, tamis_write_fn *put, void *ctx) {
    const tamis_export_source out = {
        .kind = f->kind->name,
        .body = &f->image.body,
        .hash = f->image.hasher.mode,
        .seed = f->image.hasher.seed,
        .head = tamis_note(f, "head"),
        .memory = &f->allocator,
        .put = put,
        .ctx = ctx,
    };
    const tamis_format *format;
    tamis_format_args args;
    tamis_status rc = parse(text, &format, &args);
    if (!rc) rc = may_leave(f, format);
    return rc ? rc : format->write(&out, &args);
}

/* ---- Bitcoin's block filters ---------------------------------------------------------------- */

static tamis_status is_block_filter(const tamis *f) {
    return strcmp(f->kind->name, "bip158") == 0 ? TAMIS_OK : tamis__cannot(f, "be a block filter");
}

tamis_status tamis_bip158_hash(const tamis *f, uint8_t hash[32]) {
    const tamis_status rc = is_block_filter(f);
    if (!rc) tamis__bip158_hash(&f->image.body, hash);
    return rc;
}

tamis_status tamis_bip158_header(const tamis *f, const uint8_t previous[32], uint8_t header[32]) {
    const tamis_status rc = is_block_filter(f);
    if (!rc) tamis__bip158_header(&f->image.body, previous, header);
    return rc;
}
