#!/bin/bash
# SPDX-License-Identifier: MIT
# What make install leaves is whole: the README's program is compiled with it and runs, by pkg-config and by
# CMake, and again after the tree has moved. Our CMake installs the same, of objects that were compiled alike;
# uninstalling leaves nothing; versions that another API may have are refused.
. "$(dirname "$0")/../support/trials.inc"
skip() { n=$((n + 1)) && echo "ok $n - $1 # SKIP $2"; }

root=$work/root
version=$(make -s -f - <<<$'include Makefile\n.PHONY: v\nv: ; @echo $(VERSION)' v)
try "make install" make -s B="$B" install DESTDIR= PREFIX="$root"
try "the command runs" "$root/bin/tamis" --version
try "the library has its SONAME" sh -c "readelf -d $root/lib/libtamis.so | grep -q 'SONAME.*\[libtamis.so.0.1\]'"

try "the module has one name" sh -c \
    "[ \"\$(nm -D --defined-only $root/lib/redis/modules/tamis.so | sed 's/.* //')\" = RedisModule_OnLoad ]"
try "the notices are with it" sh -c "grep -q 'MIT License' $root/share/doc/tamis/LICENSE &&
    grep -q 'Yann Collet' $root/share/doc/tamis/NOTICE"

# ---- Programs of others ---------------------------------------------------------------------------

mkdir "$work/project"
awk '/^```c$/ { is_c = 1; next } /^```/ { if (is_c) exit } is_c' README.md >"$work/project/pets.c"
said=$'cat: maybe\ndog: no'
cat >"$work/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(tamis 0.1 REQUIRED)
add_executable(shared pets.c)
target_link_libraries(shared tamis::tamis)
add_executable(static pets.c)
target_link_libraries(static tamis::static)
EOF
runs() { [ "$(cd "$work" && "$@")" = "$said" ]; }
by_pkg_config() { # folder of tamis.pc
    export PKG_CONFIG_PATH=$1
    # shellcheck disable=SC2046
    $CC "$work/project/pets.c" $(pkg-config --cflags --libs tamis) -o "$work/pets" &&
        runs env LD_LIBRARY_PATH="$(pkg-config --variable=libdir tamis)" "$work/pets"
}
by_cmake() { # where it is, as a word for cmake
    rm -rf "$work/project/b"
    cmake -S "$work/project" -B "$work/project/b" "$1" -DCMAKE_C_COMPILER="${CC%% *}" &&
        cmake --build "$work/project/b" && runs "$work/project/b/shared" && runs "$work/project/b/static"
}
try "pkg-config finds it, and the README's program runs" by_pkg_config "$root/lib/pkgconfig"
try "so does find_package" by_cmake "-DCMAKE_PREFIX_PATH=$root"
try "the version of tamis.pc is the command's" sh -c "[ \"\$(PKG_CONFIG_PATH=$root/lib/pkgconfig \
    pkg-config --modversion tamis)\" = \"\$($root/bin/tamis --version | sed -n '1s/^tamis //p')\" ]"

moved=$work/else/where
mkdir "$work/else" && mv "$root" "$moved"
try "pkg-config finds it where it was moved" by_pkg_config "$moved/lib/pkgconfig"
try "so does find_package" by_cmake "-DCMAKE_PREFIX_PATH=$moved"
try "nothing tells where it was" sh -c "! grep -r '$root' $moved/lib/pkgconfig $moved/lib/cmake"

# Versions: of this one, and of a 1.2.0 that there will be.
mkdir -p "$work/asks" "$work/later/lib/cmake/tamis"
sed 's/@VERSION@/1.2.0/; s/@MAJOR@/1/; s/@MINOR@/2/' tools/tamis-config-version.cmake.in \
    >"$work/later/lib/cmake/tamis/tamis-config-version.cmake"
echo >"$work/later/lib/cmake/tamis/tamis-config.cmake"
cat >"$work/asks/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.19)
project(user C)
function(ask prefix version want)
    unset(tamis_DIR CACHE)
    find_package(tamis ${version} QUIET PATHS ${prefix} NO_DEFAULT_PATH)
    if(NOT "${tamis_FOUND}" STREQUAL "${want}")
        message(SEND_ERROR "${prefix}, asked for \"${version}\": ${tamis_FOUND}, not ${want}")
    endif()
endfunction()
foreach(version "" 0 0.1 0.1.0 "0.1.0;EXACT" 0.1...<0.3 0.0...0.1.0)
    ask(${NOW} "${version}" 1)
endforeach()
foreach(version 0.2 0.0 0.1.1 1 1.0 2.0 0.2...0.3 0.0...<0.1 "0.1.1;EXACT")
    ask(${NOW} "${version}" 0)
endforeach()
foreach(version "" 1 1.0 1.2 1.2.0 "1.2.0;EXACT" 0.9...2.0)
    ask(${LATER} "${version}" 1)
endforeach()
foreach(version 0.1 1.3 1.2.1 2 2.0 "1.1;EXACT" 2.0...3.0)
    ask(${LATER} "${version}" 0)
endforeach()
EOF
try "find_package refuses versions with another API" cmake -S "$work/asks" -B "$work/asks/b" \
    -DNOW="$moved" -DLATER="$work/later" -DCMAKE_C_COMPILER="${CC%% *}"

# ---- Our CMake ------------------------------------------------------------------------------------

lib=lib/some-machine
by_our_cmake() { # what it installs is looked at, not how fast that is
    cmake -S . -B "$work/cmake" -DCMAKE_INSTALL_PREFIX="$work/root2" -DCMAKE_INSTALL_LIBDIR=$lib \
        -DCMAKE_C_COMPILER="${CC%% *}" -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON &&
        cmake --build "$work/cmake" -j2 && cmake --install "$work/cmake" &&
        "$work/root2/bin/tamis" --version
}
try "CMake builds and installs" by_our_cmake
try "what find_package finds there" by_cmake "-Dtamis_DIR=$work/root2/$lib/cmake/tamis"
same_files() {
    make -s B="$B" install DESTDIR= PREFIX="$root" LIBDIR="$root/$lib" &&
        (cd "$root" && find . | sort) >"$work/files" &&
        (cd "$work/root2" && find . | sort | diff "$work/files" -) &&
        diff -r "$root/$lib/pkgconfig" "$work/root2/$lib/pkgconfig" &&
        diff -r "$root/$lib/cmake" "$work/root2/$lib/cmake"
}
try "the files of make install, with the same words" same_files

# What decides about code, and nothing that says where or how fast.
same_flags() { # compiler, compile_commands.json, what make is to make
    make -s -n V=1 B="$work/none" CC="$1" CFLAGS= WITH_ZLIB= WITH_ZSTD= WITH_LZMA= WITH_BZIP2= WITH_SODIUM= WITH_HIREDIS= WITH_IDN2= "${@:3}" |
        python3 tests/support/same_flags.py "$2"
}
try "of objects that were compiled alike" same_flags "${CC%% *}" "$work/cmake/compile_commands.json" \
    all $([ -e "$root/$lib/sqlite3" ] && echo sqlite)
other=i686-linux-gnu-gcc
for_i686() {
    cmake -S . -B "$work/i686" -DCMAKE_C_COMPILER=$other -DTAMIS_XXHASH_INCLUDE="$work" -DTAMIS_BUILD_SQLITE=OFF \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON &&
        same_flags $other "$work/i686/compile_commands.json" all &&
        grep -q -e -mfpmath=sse "$work/i686/compile_commands.json"
}
if command -v $other >/dev/null; then try "for i686 too" for_i686; else
    skip "for i686 too" "$other is not installed"
fi

mkdir "$work/embeds" && cp "$work/project/pets.c" "$work/embeds/"
cat >"$work/embeds/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.18)
project(user C)
add_subdirectory($PWD tamis)
add_executable(pets pets.c)
target_link_libraries(pets tamis::static)
foreach(target tamis_command tamis_pages tamis_redis)
    if(TARGET \${target})
        message(SEND_ERROR "\${target}: nobody asked for it")
    endif()
endforeach()
EOF
embedded() {
    cmake -S "$work/embeds" -B "$work/embeds/b" -DCMAKE_C_COMPILER="${CC%% *}" &&
        cmake --install "$work/embeds/b" --prefix "$work/embeds/root" && [ ! -e "$work/embeds/root" ]
}
try "embedded it is a library and nothing else" embedded

# ---- The loader -----------------------------------------------------------------------------------

# A loader that searches the prefix, and writes down that it was told.
mkdir "$work/bin"
cat >"$work/bin/ldconfig" <<EOF
#!/bin/sh
if [ \$# -eq 0 ]; then echo told >>$work/told; else echo "$work/root/lib: (from a test)"; fi
EOF
chmod +x "$work/bin/ldconfig"
told() { # "" or told, words for make
    rm -f "$work/told"
    PATH=$work/bin:$PATH make -s B="$B" install "${@:2}" >"$work/said" && cat "$work/said" &&
        if [ "$1" = told ] && [ "$(id -u)" != 0 ]; then grep -q "after root has run ldconfig" "$work/said"; else
            [ "$(cat "$work/told" 2>/dev/null)" = "$1" ]
        fi
}
try "the loader is told of a library in a folder that it searches" told told DESTDIR= PREFIX="$root"
try "not of one elsewhere" told "" DESTDIR= PREFIX="$work/apart"
try "whose user is told how programs find it" grep -q -e "-Wl,-rpath,$work/apart/lib" "$work/said"
try "nor of one under DESTDIR" told "" DESTDIR="$work/dest" PREFIX="$root"

# ---- Uninstalling ---------------------------------------------------------------------------------

gone() { # what must not be there afterwards, words for make
    [ -e "$1" ] && make -s B="$B" uninstall "${@:2}" && { [ ! -e "$1" ] || { find "$1" && false; }; }
}
try "make uninstall leaves nothing" gone "$work/apart" DESTDIR= PREFIX="$work/apart"
try "nothing under DESTDIR" gone "$work/dest/tmp" DESTDIR="$work/dest" PREFIX="$root"
touch "$root/lib/pkgconfig/other.pc"
make -s B="$B" uninstall DESTDIR= PREFIX="$root" LIBDIR="$root/$lib" >/dev/null
try "and what is somebody else's" sh -c "make -s B=$B uninstall DESTDIR= PREFIX=$root &&
    [ \"\$(find $root -type f -o -type l)\" = $root/lib/pkgconfig/other.pc ]"

# ---- The sources, packed --------------------------------------------------------------------------

packed() {
    make -s B="$work/d1" dist && make -s B="$work/d2" dist &&
        cmp "$work/d1/tamis-$version.tar.gz" "$work/d2/tamis-$version.tar.gz" &&
        git ls-tree -r --name-only HEAD | sort >"$work/files" &&
        tar -tzf "$work/d1/tamis-$version.tar.gz" | sed -n "s|^tamis-$version/\(.*[^/]\)$|\1|p" | sort |
        diff "$work/files" -
}
if [ -e .git ] && command -v git >/dev/null; then try "make dist packs the same bytes twice" packed; else
    skip "make dist" "these sources are not from git"
fi
echo "1..$n"
exit ${code:-0}
