#!/bin/bash
# What make install leaves is whole: the command, both libraries, the module, tamis.pc, find_package.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0
try() {
    n=$((n + 1))
    if "${@:2}" >"$work/log" 2>&1; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        sed 's/^/# /' "$work/log"
        code=1
    fi
}
root=$work/root
try "make install" make -s B="$B" install DESTDIR= PREFIX="$root"
try "the command runs" "$root/bin/tamis" --version
try "the library has its SONAME" sh -c "readelf -d $root/lib/libtamis.so | grep -q 'SONAME.*libtamis.so.0'"

try "the module has one name" sh -c \
    "[ \"\$(nm -D --defined-only $root/lib/redis/modules/tamis.so | sed 's/.* //')\" = RedisModule_OnLoad ]"

cat >"$work/a.c" <<'END'
#include <tamis.h>
int main(void) {
    tamis *f;
    if (tamis_create(&f, "classic:capacity=10")) return 1;
    tamis_add(f, "a", 1);
    int code = !tamis_has(f, "a", 1);
    tamis_free(f);
    return code;
}
END
export PKG_CONFIG_PATH=$root/lib/pkgconfig
try "pkg-config finds it" sh -c "$CC $work/a.c \$(pkg-config --cflags --libs tamis) -o $work/a"
try "and the program runs with the shared library" env LD_LIBRARY_PATH="$root/lib" "$work/a"
try "the version of tamis.pc is the header's" sh -c \
    "[ \"\$(pkg-config --modversion tamis)\" = \"\$($root/bin/tamis --version | sed -n '1s/^tamis //p')\" ]"

mkdir "$work/project" && cp "$work/a.c" "$work/project/"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(tamis 0.1 REQUIRED)
add_executable(shared a.c)
target_link_libraries(shared tamis::tamis)
add_executable(static a.c)
target_link_libraries(static tamis::static)
END
by_cmake() {
    cmake -S "$work/project" -B "$work/project/$1" -DCMAKE_PREFIX_PATH="$2" -DCMAKE_C_COMPILER="${CC%% *}" &&
        cmake --build "$work/project/$1" && "$work/project/$1/shared" && "$work/project/$1/static"
}
try "find_package finds it" by_cmake b1 "$root"

by_our_cmake() { # what it installs is looked at, not how fast that is
    cmake -S . -B "$work/cmake" -DCMAKE_INSTALL_PREFIX="$work/root2" -DCMAKE_C_COMPILER="${CC%% *}" \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 &&
        cmake --build "$work/cmake" -j2 && cmake --install "$work/cmake" &&
        "$work/root2/bin/tamis" --version
}
try "CMake builds and installs the same" by_our_cmake
try "find_package finds that too" by_cmake b2 "$work/root2"
same_files() { diff <(cd "$root" && find . | sort) <(cd "$work/root2" && find . | sort); }
try "with the same files" same_files

try "make uninstall leaves nothing" sh -c \
    "make -s uninstall DESTDIR= PREFIX=$root && [ -z \"\$(find $root -type f -o -type l)\" ]"
echo "1..$n"
exit ${code:-0}
