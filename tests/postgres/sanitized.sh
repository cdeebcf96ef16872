#!/bin/bash
# SPDX-License-Identifier: MIT
# The extension in a server with sanitizers: library and extension are checked, the server is not.
# Memory that the server gives in pieces of its own has no guards, but what the library takes beside
# it has, and every misplaced read of a number, shift and overflow is seen. PROGRAMS= for another size.
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES # the build below is not the one under test
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
chmod 777 "$work" # the server may run as somebody else
library=$(realpath "$(${CC:-gcc} -print-file-name=libasan.so)")
built=${TAMIS_SANITIZED:-$PWD/build-san/postgres}
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:log_path=$work/report
export UBSAN_OPTIONS=print_stacktrace=1:log_path=$work/report
export TAMIS=$PWD/build/tamis
. "$PWD/tests/support/sanitized.inc"
build() {
    flock Makefile make -s -j2 SAN=1 build-san/libtamis.a && flock Makefile make -s -j2 build/tamis && mkdir -p "$built" &&
        make -s -C "$built" -f "$PWD/engines/postgres/Makefile" VPATH="$PWD/engines/postgres" TAMIS="$PWD" \
            TAMIS_LIB="$PWD/build-san/libtamis.a" \
            COPT="-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
}
# A server that starts under libasan may wait forever for the lock of the C library's translations,
# where a library of its own (libgpg-error) asked for them before. So there are none.
translations() {
    ${CC:-gcc} -x c -shared -fPIC -o "$work/plain.so" - <<'end'
#define SAME(call, arguments, text) char *call arguments { return (char *)(text); }
SAME(gettext, (const char *text), text)
SAME(dgettext, (const char *domain, const char *text), (domain, text))
SAME(ngettext, (const char *one, const char *more, unsigned long n), n == 1 ? one : more)
SAME(dngettext, (const char *domain, const char *one, const char *more, unsigned long n), (domain, n == 1 ? one : more))
SAME(textdomain, (const char *domain), domain)
SAME(bindtextdomain, (const char *domain, const char *folder), (domain, folder))
SAME(bind_textdomain_codeset, (const char *domain, const char *codes), (domain, codes))
end
}
checked() {
    TAMIS_POSTGRES=$built TAMIS_POSTGRES_PRELOAD="$library $work/plain.so" timeout 600 "$@"
}
if [ ! -e "$library" ] || ! command -v "${PG_CONFIG:-pg_config}" >/dev/null ||
    [ ! -x "$("${PG_CONFIG:-pg_config}" --bindir)/initdb" ]; then
    echo "ok 1 - # SKIP there is no server, or no sanitizer to load into it" && echo 1..1 && exit
fi
try "the extension is built for the sanitizers" build
try "and what it is loaded with" translations
[ -z "$code" ] || { echo "1..$n" && exit 1; }
for program in values keys slices; do
    [ ! -e "tests/postgres/$program.py" ] || try "checked: tests/postgres/$program.py" checked "tests/postgres/$program.py"
done
programs=${PROGRAMS:-${SHORT:+20}}
try "checked: ${programs:-60} random programs" checked env PROGRAMS="${programs:-60}" tests/postgres/programs.py
for part in errors files many; do
    try "checked: $part of faults.py" checked env PROGRAMS= ONLY=$part tests/postgres/faults.py
done
echo "1..$n"
exit ${code:-0}
