#!/bin/bash
# Faults planted one by one into a copy of the library; the named test must go red for each. What a
# lying kind cannot show, because it sits in core or in the gate, is shown here; most of them are
# mistakes that real filter software shipped.
#
#     fault  program  trial  file  what to replace  by what
. "$(dirname "$0")/../help/planted.inc"
prepare include src tests -- build/tests/unit/test_{symbols,talk}

try() { # program, trial
    make -s CFLAGS=-O1 "build/tests/$1" >build.log 2>&1 || return 2
    limited "build/tests/$1" ${2:+"$2"} >test.log 2>&1 && grep -q '^ok' test.log || return 1
}

plant "the way of a hash does not depend on the key" unit/test_symbols "" \
    src/jobs/roster.c "c->state = tamis__hash_u64(&r->way, c->hash) | 1;" "c->state = c->hash * UINT64_C(0x9e3779b97f4a7c15) | 1;"
plant "the next symbol is a little too near" unit/test_symbols "each_hash_is_where_chance_puts_it" \
    src/jobs/roster.c "((double)c->next + 1.5)" "((double)c->next + 1.4)"
plant "a hash twice is let in" unit/test_symbols "" \
    src/jobs/roster.c "        if (r->table[slot])
" "        if (false)
"
plant "a stretch starts where the last one did" unit/test_symbols "" \
    src/jobs/symbols.c "const uint64_t from = s->to," "const uint64_t from = s->from,"
plant "what is here comes out as new" unit/test_symbols "" \
    src/jobs/peeler.c "return is_waiting ? TAMIS_OK : wrong(" "return is_waiting || symbol + 1 ? TAMIS_OK : wrong("
plant "an empty symbol 0 is enough" unit/test_symbols "" \
    src/jobs/peeler.c "if (!is_empty(&p->cells[i])) return wrong" "if (false) return wrong"
plant "frames have no number" unit/test_talk "" \
    src/jobs/frames.c "tamis__put64(where, number);" "tamis__put64(where, number & 0);"
plant "the digest is not compared" unit/test_talk "" \
    src/jobs/hearing.c "if (t->is_whole && !are_equal(&d, &t->their_digest))" "if (false)"
plant "symbols that nobody asked for are taken" unit/test_talk "" \
    src/jobs/hearing.c "if (t->n_symbols >= t->credit && !t->options.is_one_way)" "if (false)"
plant "a key may be any" unit/test_talk "" \
    src/jobs/hearing.c "if (t->options.hash_of(t->options.ctx, key, len) != " "if (len > 100 && t->options.hash_of(t->options.ctx, key, len) != "
plant "all symbols are asked for at once" unit/test_talk "" \
    src/jobs/saying.c "if (want > t->most_symbols) want" "if (want) want"
plant "a part passes for the whole" unit/test_talk "" \
    src/jobs/reconciling.c "    if (t->is_whole) return TAMIS_OK;" "    if (t->is_done) return TAMIS_OK;"
plant "a frame that failed is half said" unit/test_talk "" \
    src/jobs/reconciling.c "    if (!rc) return;
    t->out.size = 0;" "    if (!rc) return;"
finish
