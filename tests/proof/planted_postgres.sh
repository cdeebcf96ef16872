#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of the extension for PostgreSQL; the named test of
# tests/postgres must go red for each.
#
#     fault  test  file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"
prepare include src cli engines tests -- build/tamis $(command -v "${PG_CONFIG:-pg_config}" >/dev/null && echo postgres)

try() { # test of tests/postgres
    [ -e build/postgres/tamis.so ] || command -v "${PG_CONFIG:-pg_config}" >test.log || return 3
    make -s -j2 CFLAGS=-O1 postgres >build.log 2>&1 || return 2
    local programs=
    [ "$1" != programs ] || programs=40
    PROGRAMS=$programs TAMIS=$PWD/build/tamis TAMIS_POSTGRES=$PWD/build/postgres limited "tests/postgres/$1.py" >test.log 2>&1 || return 1
}

plant "a handle stays when another value of the same length comes" programs \
    engines/postgres/pg_calls.c "memcmp(VARDATA_ANY(bytes), call->header, known) == 0" "known > 0"
plant "a toasted value is known by its length" programs \
    engines/postgres/pg_calls.c "return memcmp(a, b, sizeof *a) == 0;" "return a->va_rawsize == b->va_rawsize;"
plant "the notes of a slice stay for the value before it" slices \
    engines/postgres/pg_calls.c "    call->obeys = NONE;" ""
plant "one filter of many rows is asked by slices" slices \
    engines/postgres/pg_calls.c "if (is_held(call, &pointer) || is_same(&pointer, &call->sliced)) return false;" ""
plant "a slice needs no note" slices \
    engines/postgres/pg_calls.c "s->items > 0" "false"
plant "a column of one kind takes any in binary" values \
    engines/postgres/pg_type.c "PointerGetDatum(pg_value_of_bytes(bytes, (size_t)size)), PG_GETARG_INT32(2)" \
    "PointerGetDatum(pg_value_of_bytes(bytes, (size_t)size)), -1"
plant "a secret of one builder is taken for that of another" values \
    engines/sql/sql_specs.c 'strcmp(option.name, "hash") == 0 && strcmp(option.value, "sip13") == 0;' "false;"
plant "the rows of the last 512 are left out" values \
    engines/postgres/pg_build.c "    flush(s);
    if (s->is_listed && !s->filter) return end_list(s);" "    if (s->is_listed && !s->filter) return end_list(s);"
plant "a limit binds who restores" replication \
    engines/postgres/pg_value.c "    room->options.should_stop = is_stopped;" \
    "    room->options.should_stop = is_stopped;
    room->options.max_bytes = (uint64_t)pg_max_bytes;"
plant "what cannot be a key is quietly no" keys \
    engines/postgres/pg_keys.c "    if (rc)
        refuse(why," "    if (rc && !why)
        refuse(why,"
plant "a union by aggregate grows beyond the limit" values \
    engines/postgres/pg_make.c "pg_within_limit(into, Max(one, other));" "(void)one, (void)other;"
finish
