-- SPDX-License-Identifier: MIT
-- The extension tamis: filters as values.
\echo Use "CREATE EXTENSION tamis" to load this file. \quit

-- ---- The type ---------------------------------------------------------------------------------

CREATE TYPE tamis;

CREATE FUNCTION tamis_in(cstring, oid, integer) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_out(tamis) RETURNS cstring
AS 'MODULE_PATHNAME', 'pg_tamis_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_recv(internal, oid, integer) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_send(tamis) RETURNS bytea
AS 'MODULE_PATHNAME', 'pg_tamis_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_typmod_in(cstring[]) RETURNS integer
AS 'MODULE_PATHNAME', 'pg_tamis_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_typmod_out(integer) RETURNS cstring
AS 'MODULE_PATHNAME', 'pg_tamis_typmod_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Bits do not compress, so values are stored as they are, and out of the row.
CREATE TYPE tamis (
    INPUT = tamis_in, OUTPUT = tamis_out, RECEIVE = tamis_recv, SEND = tamis_send,
    TYPMOD_IN = tamis_typmod_in, TYPMOD_OUT = tamis_typmod_out,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE tamis IS 'a filter: is a key in the set? No is certain; yes is wrong at a rate you choose';

CREATE FUNCTION tamis(bytea) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis(bytea) IS 'the filter of an image, which is checked';
CREATE FUNCTION tamis(filter tamis, kind integer, is_explicit boolean) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_of_kind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis(tamis, integer, boolean) IS 'the filter, if it is of the kind of the column: tamis(''blocked'')';
CREATE CAST (tamis AS tamis) WITH FUNCTION tamis(tamis, integer, boolean) AS IMPLICIT;
CREATE CAST (bytea AS tamis) WITH FUNCTION tamis(bytea);
CREATE CAST (tamis AS bytea) WITHOUT FUNCTION;

-- The name of a file in tamis.directory, whose image all backends share.
CREATE TYPE tamis_file;
CREATE FUNCTION tamis_file_in(cstring) RETURNS tamis_file
AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_file_out(tamis_file) RETURNS cstring
AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE tamis_file (
    INPUT = tamis_file_in, OUTPUT = tamis_file_out, INTERNALLENGTH = VARIABLE, ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE tamis_file IS
    'an image in tamis.directory, which all backends share: tamis_file(''seen.tamis'') @> key';

-- ---- Equal bytes, for DISTINCT, GROUP BY and joins --------------------------------------------

CREATE FUNCTION tamis_eq(tamis, tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_ne(tamis, tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_lt(tamis, tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_le(tamis, tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_gt(tamis, tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_ge(tamis, tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_cmp(tamis, tamis) RETURNS integer
AS 'MODULE_PATHNAME', 'pg_tamis_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_hash(tamis) RETURNS integer
AS 'MODULE_PATHNAME', 'pg_tamis_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_hash_extended(tamis, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'pg_tamis_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (LEFTARG = tamis, RIGHTARG = tamis, FUNCTION = tamis_eq, COMMUTATOR = =,
    NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = tamis, RIGHTARG = tamis, FUNCTION = tamis_ne, COMMUTATOR = <>,
    NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = tamis, RIGHTARG = tamis, FUNCTION = tamis_lt, COMMUTATOR = >,
    NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = tamis, RIGHTARG = tamis, FUNCTION = tamis_le, COMMUTATOR = >=,
    NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = tamis, RIGHTARG = tamis, FUNCTION = tamis_gt, COMMUTATOR = <,
    NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = tamis, RIGHTARG = tamis, FUNCTION = tamis_ge, COMMUTATOR = <=,
    NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR = (tamis, tamis) IS 'the same bytes';
COMMENT ON OPERATOR <> (tamis, tamis) IS 'not the same bytes';
COMMENT ON OPERATOR < (tamis, tamis) IS 'before, in the order of bytes';
COMMENT ON OPERATOR <= (tamis, tamis) IS 'before or the same, in the order of bytes';
COMMENT ON OPERATOR > (tamis, tamis) IS 'after, in the order of bytes';
COMMENT ON OPERATOR >= (tamis, tamis) IS 'after or the same, in the order of bytes';
CREATE OPERATOR CLASS tamis_ops DEFAULT FOR TYPE tamis USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 tamis_cmp(tamis, tamis);
CREATE OPERATOR CLASS tamis_hash_ops DEFAULT FOR TYPE tamis USING hash AS
    OPERATOR 1 =, FUNCTION 1 tamis_hash(tamis), FUNCTION 2 tamis_hash_extended(tamis, bigint);

-- ---- Making -----------------------------------------------------------------------------------

CREATE FUNCTION tamis_new(spec text) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_new' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_new(text) IS 'an empty filter: tamis_new(''blocked:capacity=1M,fpr=1%'')';

CREATE FUNCTION tamis_add(filter tamis, key anynonarray) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_add(filter tamis, key text) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_add(filter tamis, keys anyarray) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_add(tamis, anynonarray) IS 'the filter with one key more';
COMMENT ON FUNCTION tamis_add(tamis, text) IS 'the filter with one key more';
COMMENT ON FUNCTION tamis_add(tamis, anyarray) IS
    'the filter with more keys, at the cost of one: each call copies the filter';

CREATE FUNCTION tamis_remove(filter tamis, key anynonarray) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_remove' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_remove(filter tamis, key text) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_remove' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_remove(filter tamis, keys anyarray) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_remove' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_remove(tamis, anynonarray) IS
    'the filter without one add of a key, which must have been added';
COMMENT ON FUNCTION tamis_remove(tamis, text) IS
    'the filter without one add of a key, which must have been added';
COMMENT ON FUNCTION tamis_remove(tamis, anyarray) IS
    'the filter without one add of each key, which must have been added';

CREATE FUNCTION tamis_put(filter tamis, key anynonarray, value bigint) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_put' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_put(filter tamis, key text, value bigint) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_put' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_put(tamis, anynonarray, bigint) IS 'the map with another value of a key';
COMMENT ON FUNCTION tamis_put(tamis, text, bigint) IS 'the map with another value of a key';

CREATE FUNCTION tamis_union(a tamis, b tamis) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_union(tamis, tamis) IS 'the filter of both sets';
CREATE FUNCTION tamis_intersect(a tamis, b tamis) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_intersect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_intersect(tamis, tamis) IS
    'a filter of what both sets have, with a few more false positives than one of those keys alone';

CREATE FUNCTION tamis_fold(filter tamis, by bigint) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_fold' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_fold(tamis, bigint) IS 'the filter, smaller by a factor, at a higher rate';
CREATE FUNCTION tamis_resize(filter tamis, capacity bigint) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_resize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_resize(tamis, bigint) IS 'the filter with room for more keys, or for fewer';
CREATE FUNCTION tamis_tick(filter tamis) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_tick' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_tick(tamis) IS 'the filter one step of time later: old keys expire';

CREATE FUNCTION tamis_set_note(filter tamis, name text, value text) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_set_note' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION tamis_set_note(tamis, text, text) IS
    'the filter with a note; NULL removes it. The note "encoding" says how its keys became bytes';
CREATE FUNCTION tamis_note(filter tamis, name text) RETURNS text
AS 'MODULE_PATHNAME', 'pg_tamis_note' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_note(tamis, text) IS 'the value of a note, or NULL';

-- ---- Aggregates -------------------------------------------------------------------------------

CREATE FUNCTION tamis_build_row(internal, "any") RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_build_row' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_build_row(internal, "any", text) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_build_row' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_build_end(internal) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_build_end' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_build_join(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_build_join' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_build_out(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'pg_tamis_build_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_build_in(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_build_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE tamis_build("any") (
    SFUNC = tamis_build_row, STYPE = internal, FINALFUNC = tamis_build_end,
    COMBINEFUNC = tamis_build_join, SERIALFUNC = tamis_build_out, DESERIALFUNC = tamis_build_in,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_build("any", spec text) (
    SFUNC = tamis_build_row, STYPE = internal, FINALFUNC = tamis_build_end,
    COMBINEFUNC = tamis_build_join, SERIALFUNC = tamis_build_out, DESERIALFUNC = tamis_build_in,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE tamis_build("any") IS 'a filter of all keys that are not NULL, sized for them';
COMMENT ON AGGREGATE tamis_build("any", text) IS
    'a filter of all keys that are not NULL: tamis_build(key, ''fuse:fpr=1/256'')';

CREATE FUNCTION tamis_map_row(internal, "any", bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_map_row' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_map_row(internal, "any", bigint, text) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_map_row' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE tamis_build_map("any", value bigint) (
    SFUNC = tamis_map_row, STYPE = internal, FINALFUNC = tamis_build_end,
    FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
CREATE AGGREGATE tamis_build_map("any", value bigint, spec text) (
    SFUNC = tamis_map_row, STYPE = internal, FINALFUNC = tamis_build_end,
    FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
COMMENT ON AGGREGATE tamis_build_map("any", bigint) IS
    'a map from keys to values, without the keys: tamis_get() asks it';
COMMENT ON AGGREGATE tamis_build_map("any", bigint, text) IS
    'a map from keys to values: tamis_build_map(key, value, ''bloomier:value=8'')';

CREATE FUNCTION tamis_label_row(internal, "any", text) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_label_row' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_label_row(internal, "any", text, text) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_label_row' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE tamis_build_labels("any", label text) (
    SFUNC = tamis_label_row, STYPE = internal, FINALFUNC = tamis_build_end,
    FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
CREATE AGGREGATE tamis_build_labels("any", label text, spec text) (
    SFUNC = tamis_label_row, STYPE = internal, FINALFUNC = tamis_build_end,
    FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
COMMENT ON AGGREGATE tamis_build_labels("any", text) IS
    'many named sets in one filter: tamis_which() names those that have a key';
COMMENT ON AGGREGATE tamis_build_labels("any", text, text) IS
    'many named sets in one filter: tamis_build_labels(key, label, ''labels:fpr=0.1%'')';

CREATE FUNCTION tamis_union_row(internal, tamis) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_union_row' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_union_end(internal) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_union_end' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_union_join(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_union_join' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_union_out(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'pg_tamis_union_end' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_union_in(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_union_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE tamis_union(tamis) (
    SFUNC = tamis_union_row, STYPE = internal, FINALFUNC = tamis_union_end,
    COMBINEFUNC = tamis_union_join, SERIALFUNC = tamis_union_out, DESERIALFUNC = tamis_union_in,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE tamis_union(tamis) IS 'the filter of all sets: a week of days';

-- ---- Asking -----------------------------------------------------------------------------------

CREATE FUNCTION tamis_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'pg_tamis_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_selectivity(internal, oid, internal, integer) RETURNS double precision
AS 'MODULE_PATHNAME', 'pg_tamis_selectivity' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION tamis_has(filter tamis, key anynonarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_has' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE FUNCTION tamis_has(filter tamis, key text) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_has' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE FUNCTION tamis_is_in(key anynonarray, filter tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_is_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE FUNCTION tamis_is_in(key text, filter tamis) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_is_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
COMMENT ON FUNCTION tamis_has(tamis, anynonarray) IS 'is the key in the set? false is certain';
COMMENT ON FUNCTION tamis_has(tamis, text) IS 'is the key in the set? false is certain';
COMMENT ON FUNCTION tamis_is_in(anynonarray, tamis) IS 'is the key in the set? false is certain';
COMMENT ON FUNCTION tamis_is_in(text, tamis) IS 'is the key in the set? false is certain';

CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = anynonarray, FUNCTION = tamis_has,
    COMMUTATOR = <@, RESTRICT = tamis_selectivity, JOIN = contjoinsel);
CREATE OPERATOR <@ (LEFTARG = anynonarray, RIGHTARG = tamis, FUNCTION = tamis_is_in,
    COMMUTATOR = @>, RESTRICT = tamis_selectivity, JOIN = contjoinsel);
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = text, FUNCTION = tamis_has,
    COMMUTATOR = <@, RESTRICT = tamis_selectivity, JOIN = contjoinsel);
CREATE OPERATOR <@ (LEFTARG = text, RIGHTARG = tamis, FUNCTION = tamis_is_in,
    COMMUTATOR = @>, RESTRICT = tamis_selectivity, JOIN = contjoinsel);
COMMENT ON OPERATOR @> (tamis, anynonarray) IS 'has the key';
COMMENT ON OPERATOR @> (tamis, text) IS 'has the key';
COMMENT ON OPERATOR <@ (anynonarray, tamis) IS 'is in the set';
COMMENT ON OPERATOR <@ (text, tamis) IS 'is in the set';

CREATE FUNCTION tamis_has_any(filter tamis, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_has_any' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_has_any(tamis, anyarray) IS 'is one of the keys in the set? NULLs are not';
CREATE FUNCTION tamis_has_all(filter tamis, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_has_all' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_has_all(tamis, anyarray) IS 'are all keys in the set? NULLs are left out';

CREATE FUNCTION tamis_count(filter tamis, key anynonarray) RETURNS bigint
AS 'MODULE_PATHNAME', 'pg_tamis_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_count(filter tamis, key text) RETURNS bigint
AS 'MODULE_PATHNAME', 'pg_tamis_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_count(tamis, anynonarray) IS 'how often the key was added: never too low';
COMMENT ON FUNCTION tamis_count(tamis, text) IS 'how often the key was added: never too low';
CREATE FUNCTION tamis_get(filter tamis, key anynonarray) RETURNS bigint
AS 'MODULE_PATHNAME', 'pg_tamis_get' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_get(filter tamis, key text) RETURNS bigint
AS 'MODULE_PATHNAME', 'pg_tamis_get' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_get(tamis, anynonarray) IS 'the value of the key, or NULL';
COMMENT ON FUNCTION tamis_get(tamis, text) IS 'the value of the key, or NULL';
CREATE FUNCTION tamis_which(filter tamis, key anynonarray) RETURNS text[]
AS 'MODULE_PATHNAME', 'pg_tamis_which' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_which(filter tamis, key text) RETURNS text[]
AS 'MODULE_PATHNAME', 'pg_tamis_which' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_which(tamis, anynonarray) IS 'the labels of the sets that have the key';
COMMENT ON FUNCTION tamis_which(tamis, text) IS 'the labels of the sets that have the key';

-- ---- Telling ----------------------------------------------------------------------------------

CREATE FUNCTION tamis_info(filter tamis, OUT kind text, OUT spec text, OUT contract text,
    OUT capacity bigint, OUT items bigint, OUT distinct_items double precision,
    OUT distinct_error double precision, OUT fpr_asked double precision,
    OUT fpr_expected double precision, OUT fpr_now double precision, OUT fill double precision,
    OUT payload_bytes bigint, OUT stored_bytes bigint, OUT hash text, OUT secret text,
    OUT encoding text, OUT abilities text[], OUT is_saturated boolean, OUT is_degraded boolean,
    OUT caveat text)
AS 'MODULE_PATHNAME', 'pg_tamis_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_info(tamis) IS 'what a filter is, and how full';
CREATE FUNCTION tamis_items(filter tamis) RETURNS bigint
AS 'MODULE_PATHNAME', 'pg_tamis_items' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_items(tamis) IS 'how many adds there were, removes taken off';
CREATE FUNCTION tamis_rate(filter tamis) RETURNS double precision
AS 'MODULE_PATHNAME', 'pg_tamis_rate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_rate(tamis) IS 'the false-positive rate now, from the bits that are set';
CREATE FUNCTION tamis_spec(filter tamis) RETURNS text
AS 'MODULE_PATHNAME', 'pg_tamis_spec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_spec(tamis) IS 'the spec of an empty filter like this one';
CREATE FUNCTION tamis_doctor(filter tamis) RETURNS TABLE (finding text)
AS 'MODULE_PATHNAME', 'pg_tamis_doctor' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_doctor(tamis) IS 'what is wrong with a filter; no row when it is well';
CREATE FUNCTION tamis_labels(filter tamis) RETURNS TABLE (label text)
AS 'MODULE_PATHNAME', 'pg_tamis_labels' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_labels(tamis) IS 'the names of the sets of a filter with labels';
CREATE FUNCTION tamis_plan(spec text, OUT kind text, OUT capacity bigint, OUT fpr double precision,
    OUT bits_per_key double precision, OUT payload_bytes bigint, OUT stored_bytes bigint,
    OUT abilities text[])
AS 'MODULE_PATHNAME', 'pg_tamis_plan' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_plan(text) IS 'what a filter of this spec would cost';
CREATE FUNCTION tamis_kinds() RETURNS TABLE (kind text, contract text, is_built_once boolean, abilities text[])
AS 'MODULE_PATHNAME', 'pg_tamis_kinds' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_kinds() IS 'the kinds of filters';
CREATE FUNCTION tamis_version() RETURNS text
AS 'MODULE_PATHNAME', 'pg_tamis_version' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_version() IS 'the version of the library';

-- ---- Files and other systems ------------------------------------------------------------------

CREATE FUNCTION tamis_has(file tamis_file, key anynonarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_file_has' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_has(file tamis_file, key text) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_file_has' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_is_in(key anynonarray, file tamis_file) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_is_in_file' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_is_in(key text, file tamis_file) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_tamis_is_in_file' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_has(tamis_file, anynonarray) IS 'is the key in the set? false is certain';
COMMENT ON FUNCTION tamis_has(tamis_file, text) IS 'is the key in the set? false is certain';
COMMENT ON FUNCTION tamis_is_in(anynonarray, tamis_file) IS 'is the key in the set? false is certain';
COMMENT ON FUNCTION tamis_is_in(text, tamis_file) IS 'is the key in the set? false is certain';

CREATE OPERATOR @> (LEFTARG = tamis_file, RIGHTARG = anynonarray, FUNCTION = tamis_has,
    COMMUTATOR = <@, RESTRICT = contsel, JOIN = contjoinsel);
CREATE OPERATOR <@ (LEFTARG = anynonarray, RIGHTARG = tamis_file, FUNCTION = tamis_is_in,
    COMMUTATOR = @>, RESTRICT = contsel, JOIN = contjoinsel);
CREATE OPERATOR @> (LEFTARG = tamis_file, RIGHTARG = text, FUNCTION = tamis_has,
    COMMUTATOR = <@, RESTRICT = contsel, JOIN = contjoinsel);
CREATE OPERATOR <@ (LEFTARG = text, RIGHTARG = tamis_file, FUNCTION = tamis_is_in,
    COMMUTATOR = @>, RESTRICT = contsel, JOIN = contjoinsel);
COMMENT ON OPERATOR @> (tamis_file, anynonarray) IS 'has the key';
COMMENT ON OPERATOR @> (tamis_file, text) IS 'has the key';
COMMENT ON OPERATOR <@ (anynonarray, tamis_file) IS 'is in the set';
COMMENT ON OPERATOR <@ (text, tamis_file) IS 'is in the set';
CREATE FUNCTION tamis_info(file tamis_file, OUT kind text, OUT spec text, OUT contract text,
    OUT capacity bigint, OUT items bigint, OUT distinct_items double precision,
    OUT distinct_error double precision, OUT fpr_asked double precision,
    OUT fpr_expected double precision, OUT fpr_now double precision, OUT fill double precision,
    OUT payload_bytes bigint, OUT stored_bytes bigint, OUT hash text, OUT secret text,
    OUT encoding text, OUT abilities text[], OUT is_saturated boolean, OUT is_degraded boolean,
    OUT caveat text)
AS 'MODULE_PATHNAME', 'pg_tamis_file_info' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_info(tamis_file) IS 'what a filter is, and how full';
CREATE FUNCTION tamis_read(file tamis_file) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_read' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_read(tamis_file) IS 'the image as a value';
CREATE FUNCTION tamis_save(filter tamis, name text) RETURNS bigint
AS 'MODULE_PATHNAME', 'pg_tamis_save' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tamis_save(tamis, text) IS
    'writes an image to tamis.directory, or replaces one; returns its bytes';
REVOKE ALL ON FUNCTION tamis_save(tamis, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tamis_save(tamis, text) TO pg_write_server_files;

CREATE FUNCTION tamis_import(bytes bytea, format text) RETURNS tamis
AS 'MODULE_PATHNAME', 'pg_tamis_import' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_import(bytea, text) IS 'a filter that another system wrote: guava, redisbloom, ...';
CREATE FUNCTION tamis_export(filter tamis, format text) RETURNS bytea
AS 'MODULE_PATHNAME', 'pg_tamis_export' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tamis_export(tamis, text) IS 'a filter as another system would write it';
