/* SPDX-License-Identifier: MIT */
/* Building, the first half: keys are added.
 *
 *     keys ──hash──▶ straight into the filter        its shape is known, and order does not matter
 *                └─▶ records, sorted when all are there        everything else
 *                └─▶ records in the order of time              kinds that age, without a capacity
 *     keys ──the origin's hash──▶ a pile                       kinds of other systems, made once
 */
#include "build/builder.h"

#include <errno.h>
#include <string.h>

#include "bits/bits.h"
#include "core/saving.h"
#include "file/notes.h"
#include "hash/hash.h"
#include "tamis_engine.h"

enum { MAX_LABELS = 1 << 24, MAX_NAME = 255 };

uint64_t tamis__builder_memory(const tamis_builder *b) {
    return b->self.size + b->filter->self.size + b->filter->notes.size +
           tamis__bulk_memory(b->bulk) + (b->records ? tamis__records_memory(b->records) : 0) +
           tamis__names_memory(&b->labels) + b->pile.block.size;
}

/* ---- Creating ------------------------------------------------------------------------------- */

static tamis_status read_options(const struct tamis_builder_options *in,
                                 struct tamis_builder_options *out) {
    return tamis__read_struct(in, out, sizeof *out, "builder_options");
}

static tamis_status new_builder(tamis_builder **out, const struct tamis_builder_options *options,
                                const struct tamis_options *filter_options,
                                const tamis_entry *entry, const tamis_hasher *hasher) {
    const struct tamis_allocator allocator = tamis__allocator(filter_options);
    tamis_block self;
    tamis_builder *b = tamis__get(&allocator, sizeof *b, &self);
    if (!b) return TAMIS_NOMEM;
    b->self = self;
    b->options = *options;
    b->options.filter = NULL;
    b->options.temp_dir = NULL;
    b->filter = tamis__new(&allocator);
    if (!b->filter) {
        tamis__block_free(&allocator, &self);
        return TAMIS_NOMEM;
    }
    tamis__set_kind(b->filter, entry);
    tamis__keep_options(b->filter, filter_options);
    b->filter->image.hasher = *hasher;
    *out = b;
    return TAMIS_OK;
}

/* Opens records as the kind wants them, for the announced number. */
static tamis_status open_records(tamis_builder *b, const char *temp_dir, uint64_t announced) {
    const tamis_kind *kind = b->filter->kind;
    const bool is_built = kind->build;
    const tamis_record_form form = {
        .has_values = is_built ? kind->build->rule != TAMIS_RECORDS_KEYS
                               : (b->filter->can & TAMIS_CAN_PUT) != 0,
        .is_sequence = !is_built && b->filter->can & TAMIS_AGES,
        .keeps_equal = !is_built && !(b->filter->can & TAMIS_ADDS_ONCE),
        .rule = is_built ? kind->build->rule : TAMIS_RECORDS_LABELS,
    };
    const tamis_status rc = tamis__records_open(&b->records, &form, b->options.memory_limit,
                                                temp_dir, &b->filter->allocator);
    return rc ? rc : tamis__limit_start(b, announced);
}

/* Bins may take the builder's memory limit, less what it needs itself. Where keys are not counted
 * yet, the capacity is the expected number. */
static void open_bulk(tamis_builder *b) {
    const uint64_t limit = b->options.memory_limit;
    const uint64_t held = tamis__builder_memory(b);
    const uint64_t memory = limit == 0 ? UINT64_MAX : limit > held ? limit - held : 0;
    b->bulk = tamis__bulk_open(b->filter, b->filter->image.capacity, memory, b->options.threads,
                               &tamis__bulk_rule);
}

static tamis_status open_filter(tamis_builder *b, const tamis_shape *shape) {
    tamis__take_shape(&b->filter->image, shape);
    char *no_notes;
    const tamis_status rc = tamis__own(b->filter, &no_notes);
    if (rc) return rc;
    if (b->filter->kind->start) b->filter->kind->start(&b->filter->image.body);
    open_bulk(b);
    return TAMIS_OK;
}

static bool shape_is_known(const tamis_parsed_spec *r) {
    return r->has_capacity || (r->has_fpr && r->has_bits);
}

/* Refuses a spec that can never work before the first key: with the given capacity, or none. */
static tamis_status plan_early(const tamis_parsed_spec *r, uint64_t max_bytes, tamis_shape *shape) {
    const tamis_kind *kind = r->entry->kind;
    if (tamis__hashes_itself(kind) && !kind->build && !shape_is_known(r))
        return tamis__fail(TAMIS_INVALID,
                           "capacity is missing: %s hashes keys its own way, and then they cannot "
                           "be counted first",
                           kind->name);
    if (kind->build && r->has_fpr && r->has_bits)
        return tamis__fail(TAMIS_INVALID,
                           "%s is as large as its keys need: give fpr or size, not both",
                           kind->name);
    tamis_parsed_spec early = *r;
    early.has_capacity = r->has_capacity || !shape_is_known(r);
    const tamis_status rc = tamis__request_plan(&early, shape);
    return rc ? rc : tamis__within_limit(max_bytes, shape->size);
}

/* Keys go straight in when the shape is known now, and the order of adds does not matter, or is
 * time. The shape of a growing filter depends on how adds are cut into calls, and records that will
 * be verified must be kept. */
static bool goes_straight(const tamis_builder *b) {
    const tamis_kind *kind = b->filter->kind;
    if (kind->build) return false;
    if (tamis__hashes_itself(kind)) return true;
    if (!shape_is_known(&b->request)) return false;
    if (b->filter->can & TAMIS_AGES) return true;
    return b->filter->can & TAMIS_ANY_ORDER && !TAMIS_ENTRY(kind, reshape, grow) &&
           !b->options.verify;
}

tamis_status tamis_builder_create_with(tamis_builder **builder, const char *spec,
                                       const struct tamis_builder_options *options) {
    struct tamis_builder_options o;
    struct tamis_options fo;
    tamis_parsed_spec request;
    tamis_shape shape;
    tamis_hasher hasher;
    tamis_builder *b;
    *builder = NULL;
    tamis_status rc = read_options(options, &o);
    if (!rc) rc = tamis__read_options(o.filter, &fo);
    if (!rc) rc = tamis__spec_parse_open(spec, &request);
    if (!rc) rc = plan_early(&request, fo.max_bytes, &shape);
    if (!rc) rc = tamis__make_hasher(&request, fo.secret, &hasher);
    if (!rc) rc = new_builder(&b, &o, &fo, request.entry, &hasher);
    tamis__wipe(&hasher, sizeof hasher);
    if (rc) return rc;
    b->request = request;
    /* Values are checked against the shape as they come. */
    memcpy(b->filter->image.body.word, shape.word, sizeof shape.word);
    tamis__derive(b->filter);
    if (goes_straight(b))
        rc = open_filter(b, &shape);
    else if (tamis__builds_whole(request.entry->kind))
        rc = tamis__pile_start(b);
    else
        rc = open_records(b, o.temp_dir, request.has_capacity ? request.params.capacity : 0);
    if (rc) {
        tamis_builder_free(b);
        return rc;
    }
    *builder = b;
    return TAMIS_OK;
}

tamis_status tamis_builder_create(tamis_builder **builder, const char *spec, uint64_t memory_limit,
                                  const char *temp_dir) {
    const struct tamis_builder_options options = {
        .struct_size = sizeof options, .memory_limit = memory_limit, .temp_dir = temp_dir};
    return tamis_builder_create_with(builder, spec, &options);
}

void tamis_builder_free(tamis_builder *b) {
    if (!b) return;
    const struct tamis_allocator allocator = b->filter->allocator;
    tamis_block self = b->self;
    tamis__bulk_free(b->bulk);
    tamis__records_free(b->records);
    tamis__block_free(&allocator, &b->pile.block);
    tamis__names_free(&b->labels, &allocator);
    tamis_free(b->filter);
    tamis__block_free(&allocator, &self);
}

/* ---- Continuing from a filter --------------------------------------------------------------- */

enum { NO_LABEL = -1 };

/* Labels may have other numbers here: `number` maps theirs to ours, or says that their keys are
 * left out. */
static tamis_status take_labels(tamis_builder *b, const tamis *f, const struct tamis_relabel *into,
                                int64_t *number) {
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < tamis_label_count(f) && !rc; i++) {
        const char *name = into ? into[i].name : tamis_label_name(f, i);
        if (name) rc = tamis_builder_label(b, name);
        number[i] = !name || (into && into[i].is_emptied) ? NO_LABEL : (int64_t)b->label;
    }
    return rc;
}

static tamis_status take_records(tamis_builder *b, const tamis *f, const int64_t *number) {
    uint64_t cursor = 0, hash, value;
    tamis_status rc = TAMIS_OK;
    while (!rc && tamis_next(f, &cursor, &hash, &value)) {
        if (f->can & TAMIS_CAN_LABEL) {
            if (number[value] == NO_LABEL) continue;
            b->label = (uint64_t)number[value];
            b->has_label = true;
        }
        rc = tamis_builder_add_hash(b, hash);
    }
    return rc;
}

static tamis_status take(tamis_builder *b, const tamis *f, const struct tamis_relabel *into) {
    const struct tamis_allocator *allocator = &b->filter->allocator;
    tamis_block block;
    int64_t *number = tamis__get(allocator, tamis_label_count(f) * sizeof *number, &block);
    if (!number) return TAMIS_NOMEM;
    tamis_status rc = take_labels(b, f, into, number);
    if (!rc) rc = take_records(b, f, number);
    b->has_label = false; /* these labels were not the caller's choice */
    tamis__block_free(allocator, &block);
    return rc;
}

tamis_status tamis__builder_take(tamis_builder *b, const tamis *f) {
    return take(b, f, NULL);
}

static tamis_status copy_notes(tamis_builder *b, const tamis *f) {
    const char *name, *value;
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; !rc && tamis_note_at(f, i, &name, &value); i++)
        rc = tamis_set_note(b->filter, name, value);
    return rc;
}

tamis_status tamis_builder_continue_labels(tamis_builder **builder, const tamis *f,
                                           const struct tamis_relabel *labels,
                                           const struct tamis_builder_options *options) {
    struct tamis_builder_options o;
    struct tamis_options fo;
    tamis_builder *b;
    *builder = NULL;
    tamis_status rc = read_options(options, &o);
    if (!rc) rc = tamis__read_options(o.filter, &fo);
    if (!rc && !(f->can & TAMIS_IS_BUILT && f->can & TAMIS_CAN_LIST))
        rc = tamis__cannot(f, "be built on: it does not list its keys");
    if (!rc) rc = new_builder(&b, &o, &fo, f->image.entry, &f->image.hasher);
    if (rc) return rc;
    b->is_continued = true;
    b->filter->image.capacity = f->image.capacity;
    b->filter->image.one_in = f->image.one_in;
    memcpy(b->filter->image.body.word, f->image.body.word, sizeof f->image.body.word);
    tamis__derive(b->filter);
    rc = open_records(b, o.temp_dir, f->image.body.items);
    if (!rc) rc = copy_notes(b, f);
    if (!rc) rc = take(b, f, labels);
    if (rc) {
        tamis_builder_free(b);
        return rc;
    }
    *builder = b;
    return TAMIS_OK;
}

tamis_status tamis_builder_continue(tamis_builder **builder, const tamis *f,
                                    const struct tamis_builder_options *options) {
    return tamis_builder_continue_labels(builder, f, NULL, options);
}

/* ---- Labels and notes ----------------------------------------------------------------------- */

static tamis_status cannot(const tamis_builder *b, const char *what) {
    return tamis__cannot(b->filter, what);
}

static tamis_status may_take(const tamis_builder *b) {
    if (b->is_closed)
        return tamis__fail(TAMIS_INVALID, "the builder has finished: it takes no more keys");
    return TAMIS_OK;
}

static bool is_name(const char *name) {
    const size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f) return false;
    return len >= 1 && len <= MAX_NAME && tamis__note_value_is_legal(name);
}

tamis_status tamis_builder_label(tamis_builder *b, const char *name) {
    tamis_status rc = may_take(b);
    if (rc) return rc;
    if (!(b->filter->can & TAMIS_CAN_LABEL)) return cannot(b, "have labels");
    if (!is_name(name))
        return tamis__fail(TAMIS_INVALID,
                           "a label has 1 to %d bytes of UTF-8 without control characters",
                           MAX_NAME);
    uint64_t number = b->labels.count;
    if (!tamis__names_find(&b->labels, name, &number)) {
        if (b->labels.count == MAX_LABELS)
            return tamis__fail(TAMIS_INVALID, "there cannot be more than %d labels", MAX_LABELS);
        rc = tamis__limit_names(b);
        if (!rc) rc = tamis__names_add(&b->labels, name, &b->filter->allocator);
        if (rc) return rc;
    }
    b->label = number;
    b->has_label = true;
    return TAMIS_OK;
}

tamis_status tamis_builder_set_note(tamis_builder *b, const char *name, const char *value) {
    return tamis_set_note(b->filter, name, value);
}

uint64_t tamis_builder_hash(const tamis_builder *b, const void *key, size_t len) {
    const tamis_build_whole *whole = TAMIS_ENTRY(b->filter->kind, build, whole);
    const struct tamis_key one = {key, len};
    return whole ? whole->hash(b->filter->image.body.word, &one) : tamis_hash(b->filter, key, len);
}

void tamis_builder_hash_many(const tamis_builder *b, const struct tamis_key *keys, size_t n,
                             uint64_t *hashes) {
    if (!tamis__builds_whole(b->filter->kind))
        tamis_hash_many(b->filter, keys, n, hashes);
    else
        for (size_t i = 0; i < n; i++)
            hashes[i] = tamis_builder_hash(b, keys[i].bytes, keys[i].len);
}

uint64_t tamis_builder_hash_pieces(const tamis_builder *b, tamis_next_piece *next, void *ctx) {
    return tamis_hash_pieces(b->filter, next, ctx);
}

void tamis_builder_get_info(const tamis_builder *b, struct tamis_builder_info *info) {
    tamis__fill_struct(info, &b->info, sizeof b->info, "builder_info");
}

uint64_t tamis_builder_conflict(const tamis_builder *b) {
    return b->conflict;
}

/* ---- Adding --------------------------------------------------------------------------------- */

/* Straight into the filter, whose add takes all or none; or into bins, which take all. */
static tamis_status add_straight(tamis_builder *b, tamis_keys keys, size_t n) {
    tamis_status rc = TAMIS_OK;
    if (b->bulk) {
        tamis__bulk_put(b->bulk, keys, n);
        tamis__add_items(b->filter, n);
    } else if (keys.hashes)
        rc = tamis_add_hashes(b->filter, keys.hashes, n);
    else if (keys.numbers)
        rc = tamis_add_u64s(b->filter, keys.numbers, n);
    else if (keys.packed)
        rc = tamis_add_packed(b->filter, keys.packed, keys.width, n);
    else
        rc = tamis_add_many(b->filter, keys.strings, n);
    if (!rc) b->adds += n;
    return rc;
}

/* Keys added before any label get the label "default". */
static tamis_status need_label(tamis_builder *b) {
    return b->filter->can & TAMIS_CAN_LABEL && !b->has_label ? tamis_builder_label(b, "default")
                                                             : TAMIS_OK;
}

static uint64_t value_of_add(const tamis_builder *b) {
    const tamis_kind *kind = b->filter->kind;
    return b->filter->can & TAMIS_CAN_LABEL ? b->label : kind->build ? kind->build->member : 1;
}

tamis_status tamis_builder_add_hashes(tamis_builder *b, const uint64_t *hashes, size_t n) {
    tamis_status rc = may_take(b);
    if (!rc) rc = need_label(b);
    if (rc) return rc;
    if (tamis__builds_whole(b->filter->kind))
        return tamis__pile_keys(b, (tamis_keys){.hashes = hashes}, n);
    if (!b->records) return add_straight(b, (tamis_keys){.hashes = hashes}, n);
    if (b->adds + n > b->max_adds) rc = tamis__limit_adds(b, b->adds + n);
    if (!rc) rc = tamis__records_put(b->records, hashes, n, value_of_add(b));
    if (!rc) b->adds += n;
    return rc;
}

tamis_status tamis_builder_add_hash(tamis_builder *b, uint64_t hash) {
    return tamis_builder_add_hashes(b, &hash, 1);
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* A call that failed forgets all its keys, including those before the failure. */
static void take_back(tamis_builder *b, tamis_keys keys, size_t n) {
    uint64_t room[TAMIS_BATCH];
    for (size_t i = 0, m; i < n; i += m) {
        m = smaller(n - i, TAMIS_BATCH); /* there is no payload yet */
        tamis__records_take_back(b->records, tamis__hashes_of(b->filter, keys, i, m, room), m);
        b->adds -= m;
    }
}

static tamis_status add_records(tamis_builder *b, tamis_keys keys, size_t n) {
    if (tamis__collects(b, n)) return tamis__collect(b, keys, n);
    uint64_t room[TAMIS_BATCH];
    tamis_status rc = TAMIS_OK;
    for (size_t m, done = 0; done < n && !rc; done += m) {
        m = smaller(n - done, TAMIS_BATCH);
        rc = tamis_builder_add_hashes(b, tamis__hashes_of(b->filter, keys, done, m, room), m);
        if (rc) take_back(b, keys, done);
    }
    return rc;
}

static tamis_status add_all(tamis_builder *b, tamis_keys keys, size_t n) {
    const tamis_status rc = may_take(b);
    if (rc) return rc;
    if (tamis__builds_whole(b->filter->kind)) return tamis__pile_keys(b, keys, n);
    return b->records ? add_records(b, keys, n) : add_straight(b, keys, n);
}

tamis_status tamis_builder_add_many(tamis_builder *b, const struct tamis_key *keys, size_t n) {
    return add_all(b, (tamis_keys){.strings = keys}, n);
}

tamis_status tamis_builder_add_u64s(tamis_builder *b, const uint64_t *keys, size_t n) {
    return add_all(b, (tamis_keys){.numbers = keys}, n);
}

tamis_status tamis_builder_add_packed(tamis_builder *b, const void *keys, size_t width, size_t n) {
    return add_all(b, (tamis_keys){.packed = keys, .width = width}, n);
}

tamis_status tamis_builder_add(tamis_builder *b, const void *key, size_t len) {
    const struct tamis_key one = {key, len};
    return tamis_builder_add_many(b, &one, 1);
}

tamis_status tamis_builder_add_u64(tamis_builder *b, uint64_t key) {
    return tamis_builder_add_u64s(b, &key, 1);
}

static tamis_status put_value(tamis_builder *b, uint64_t hash, uint64_t value) {
    tamis_status rc = TAMIS_OK;
    if (!b->records) rc = tamis_put_hash(b->filter, hash, value);
    if (b->records && b->adds >= b->max_adds) rc = tamis__limit_adds(b, b->adds + 1);
    if (b->records && !rc) rc = tamis__records_put(b->records, &hash, 1, value);
    if (!rc) b->adds++;
    return rc;
}

tamis_status tamis_builder_put_hash(tamis_builder *b, uint64_t hash, uint64_t value) {
    const tamis_kind *kind = b->filter->kind;
    tamis_status rc = may_take(b);
    if (!rc && !(kind->values && (kind->build || kind->values->put))) rc = cannot(b, "have values");
    if (!rc) rc = tamis__value_fits(kind, b->filter->image.body.word, value);
    return rc ? rc : put_value(b, hash, value);
}

tamis_status tamis_builder_put(tamis_builder *b, const void *key, size_t len, uint64_t value) {
    return tamis_builder_put_hash(b, tamis_hash(b->filter, key, len), value);
}

static tamis_status values_fit(const tamis_builder *b, const uint64_t *values, size_t n) {
    tamis_status rc = b->filter->can & TAMIS_CAN_GET ? TAMIS_OK : cannot(b, "have values");
    for (size_t i = 0; i < n && !rc; i++)
        rc = tamis__value_fits(b->filter->kind, b->filter->image.body.word, values[i]);
    return rc;
}

static tamis_status put_all(tamis_builder *b, tamis_keys keys, const uint64_t *values, size_t n) {
    uint64_t room[TAMIS_BATCH];
    tamis_status rc = values_fit(b, values, n);
    for (size_t i = 0, m; i < n && !rc; i += m) {
        m = smaller(n - i, TAMIS_BATCH);
        const uint64_t *hashes = tamis__hashes_of(b->filter, keys, i, m, room);
        for (size_t k = 0; k < m && !rc; k++) {
            rc = tamis_builder_put_hash(b, hashes[k], values[i + k]);
            if (rc && b->records) take_back(b, keys, i + k);
        }
    }
    return rc;
}

tamis_status tamis_builder_put_many(tamis_builder *b, const struct tamis_key *keys,
                                    const uint64_t *values, size_t n) {
    return put_all(b, (tamis_keys){.strings = keys}, values, n);
}

tamis_status tamis_builder_put_u64s(tamis_builder *b, const uint64_t *keys, const uint64_t *values,
                                    size_t n) {
    return put_all(b, (tamis_keys){.numbers = keys}, values, n);
}

tamis_status tamis_builder_put_packed(tamis_builder *b, const void *keys, size_t width,
                                      const uint64_t *values, size_t n) {
    return put_all(b, (tamis_keys){.packed = keys, .width = width}, values, n);
}

tamis_status tamis_builder_put_hashes(tamis_builder *b, const uint64_t *hashes,
                                      const uint64_t *values, size_t n) {
    return put_all(b, (tamis_keys){.hashes = hashes}, values, n);
}

tamis_status tamis_builder_put_u64(tamis_builder *b, uint64_t key, uint64_t value) {
    return tamis_builder_put_u64s(b, &key, &value, 1);
}

tamis_status tamis_builder_exclude_hash(tamis_builder *b, uint64_t hash) {
    const tamis_kind *kind = b->filter->kind;
    const tamis_status rc = may_take(b);
    if (rc) return rc;
    if (!kind->build || !kind->build->member) return cannot(b, "have known-good keys");
    return put_value(b, hash, 0);
}

tamis_status tamis_builder_exclude(tamis_builder *b, const void *key, size_t len) {
    return tamis_builder_exclude_hash(b, tamis_hash(b->filter, key, len));
}

/* ---- Finishing ------------------------------------------------------------------------------ */

static tamis_status may_finish(tamis_builder *b) {
    if (b->is_done) return tamis__fail(TAMIS_INVALID, "the builder has handed over its filter");
    b->is_closed = true;
    tamis__bulk_close(b->bulk);
    b->bulk = NULL;
    return TAMIS_OK;
}

tamis_status tamis_builder_finish(tamis_builder *b, tamis **filter) {
    const int saved = errno;
    *filter = NULL;
    tamis_status rc = may_finish(b);
    if (!rc) rc = tamis__assemble(b, filter);
    if (!rc) tamis__derive(*filter);
    errno = saved;
    return rc;
}

tamis_status tamis__builder_finish_at(tamis_builder *b, tamis_goal goal) {
    const int saved = errno;
    tamis_status rc = may_finish(b);
    if (!rc) rc = tamis__assemble_to(b, goal);
    errno = saved;
    return rc;
}

tamis_status tamis_builder_finish_to(tamis_builder *b, const char *path) {
    return tamis__builder_finish_at(b, (tamis_goal){path, NULL});
}

tamis_status tamis_edit_build(tamis_edit *edit, tamis_builder *b) {
    return tamis__builder_finish_at(b, tamis__edit_goal(edit));
}
