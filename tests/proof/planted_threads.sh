#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into what threads share; the thread sanitizer must report each.
#
#     fault  law  file  what to replace  by what
built=build-thread
. "$(dirname "$0")/../support/planted.inc"
prepare include src tests examples -- SAN=thread build-thread/tests/laws/laws
export TAMIS_QUICK=1

try() { # law
    make -s -j2 SAN=thread build-thread/tests/laws/laws >build.log 2>&1 || return 2
    limited build-thread/tests/laws/laws "$1" >test.log 2>&1 && grep -q '^ok' test.log || return 1
}

plant "M18: bits are set by a plain store" "many_threads_meet: blocked" \
    src/bits/bits.h "atomic_fetch_or_explicit(word, bits, memory_order_relaxed);" \
    "tamis__put64(p, tamis__get64(p) | tamis__swap64(bits));"
plant "questions load plainly" "many_threads_meet: classic" \
    src/bits/bits.h "    if (!tamis__is_aligned8(p)) return tamis__get64(p);" "    if (p) return tamis__get64(p);"
plant "questions about fields load plainly" "many_threads_meet: approximator" \
    src/bits/packed.h "uint64_t x = tamis__load64(p) >> shift;" "uint64_t x = tamis__get64(p) >> shift;"
plant "inline questions load plainly" "many_threads_meet: split" \
    include/tamis_inline.h "return ((uintptr_t)block & 7) == 0;" "return block == NULL;"
plant "inline questions load vectors" "many_threads_meet: split" \
    include/tamis_inline.h "#if defined(TAMIS_INLINE_PLAIN)" "#if 0"
plant "kernels load vectors" "many_threads_meet: blocked" \
    src/cpu/cpu.c "#ifdef __SANITIZE_THREAD__" "#if 0"
plant "adds are counted plainly" "many_threads_meet: universal" \
    src/core/change.c "atomic_fetch_add_explicit((_Atomic uint64_t *)&f->image.body.items, n, memory_order_relaxed);" \
    "f->image.body.items += n;"
plant "counters go up by a plain store" "many_threads_meet: countmin" \
    src/kinds/countmin.c "tamis__raise32_shared(f->bytes + spot[i] * 4);" \
    "tamis__put32(f->bytes + spot[i] * 4, tamis__get32(f->bytes + spot[i] * 4) + 1);"
finish
