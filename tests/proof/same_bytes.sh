#!/bin/bash
# SPDX-License-Identifier: MIT
# The same images from every compiler, kernel and CPU, byte for byte.
cd "$(dirname "$0")/../.." || exit 2
images=${B:-build}/tests/portable/images
make -s "$images" >&2 || exit 1
unset B MAKEFLAGS MAKEOVERRIDES # the builds below are not the one that is being tested
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir "$work/include" && cp /usr/include/xxhash.h "$work/include/" # for cross compilers
n=0
same() { # what, how to run it...
    n=$((n + 1))
    if "${@:2}" >"$work/out" 2>"$work/log" && diff "$work/first" "$work/out" >>"$work/log"; then
        echo "ok $n - same bytes: $1"
    else
        echo "not ok $n - same bytes: $1"
        head -30 "$work/log" | sed 's/^/# /'
        code=1
    fi
}
program() { # name, make's settings...
    make -s B="build-$1" CFLAGS=-O2 "${@:2}" "build-$1/tests/portable/images" >"$work/build" 2>&1 && return
    n=$((n + 1)) code=1
    echo "not ok $n - same bytes: $1 does not compile"
    grep -v '^ *\(CC\|AR\|LINK\) ' "$work/build" | head -30 | sed 's/^/# /'
    return 1
}
TAMIS_CPU=plain "$images" >"$work/first" || exit 1
echo "# $(wc -l <"$work/first") images, plans and golden answers"
grep -q avx2 /proc/cpuinfo && same "AVX2" env TAMIS_CPU=avx2 "$images"
grep -q avx512_bitalg /proc/cpuinfo && same "AVX-512" env TAMIS_CPU=avx512 "$images"
# SHORT leaves out what differs least from the rest.
if [ -z "${SHORT:-}" ]; then
    program gcc-O0 CC=gcc CFLAGS=-O0 && same "gcc -O0" build-gcc-O0/tests/portable/images
    program gcc-native CC=gcc CFLAGS='-O3 -march=native' &&
        same "gcc -O3 -march=native" build-gcc-native/tests/portable/images
fi
program clang CC=clang-14 && {
    same "clang" build-clang/tests/portable/images
    same "clang, plain" env TAMIS_CPU=plain build-clang/tests/portable/images
}
cross() { # name, compiler, emulator
    program "$1" CC="$2" CPPFLAGS="-isystem $work/include" LDFLAGS=-static &&
        same "$1${3:+ under $3}" $3 "build-$1/tests/portable/images"
}
cross s390x s390x-linux-gnu-gcc qemu-s390x-static # big-endian
[ -n "${SHORT:-}" ] || cross arm64 aarch64-linux-gnu-gcc qemu-aarch64-static
cross i686 i686-linux-gnu-gcc "" # 32 bits
same "a CPU without AVX2" qemu-x86_64-static -cpu Nehalem "$images"
echo "1..$n"
[ -z "${SHORT:-}" ] && least=8 || least=5
[ "$n" -ge "$least" ] || { echo "not ok $((n + 1)) - only $n ways could be tried" && exit 1; }
exit ${code:-0}
