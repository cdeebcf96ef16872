#!/bin/bash
# Faults planted one by one into a copy of the library; the named test must go red for each. What a
# lying kind cannot show, because it sits in core or in the gate, is shown here; most of them are
# mistakes that real filter software shipped.
#
#     fault  program  trial  file  what to replace  by what
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cp -R Makefile include src tests "$work" && cd "$work" || exit 2
export CMOCKA_MESSAGE_OUTPUT=TAP
n=0
make -s -j2 build/tests/laws/laws build/tests/unit/test_{files,kinds,golden,numbers} >build.log 2>&1 ||
    { cat build.log && exit 1; }

plant() { # name, program, trial, file, old, new
    n=$((n + 1))
    cp "$4" saved
    python3 - "$4" "$5" "$6" <<'END' || { echo "not ok $n - planted: $1: there is no such place" && code=1 && return; }
import sys
path, old, new = sys.argv[1:]
text = open(path).read()
assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
open(path, "w").write(text.replace(old, new))
END
    if ! make -s "build/tests/$2" >build.log 2>&1; then
        echo "not ok $n - planted: $1: does not compile"
        sed 's/^/# /' build.log
        code=1
    elif timeout 100 "build/tests/$2" ${3:+"$3"} >test.log 2>&1; then
        echo "not ok $n - planted: $1 is not caught by $2 $3"
        code=1
    else
        echo "ok $n - planted: $1 is caught by $2 $3"
    fi
    cp saved "$4"
}

plant "checksums are not looked at" laws/laws "damage_refused: blocked" \
    src/file/image.c "return stored == computed;" "return stored == computed || true;"
plant "bytes behind the image are accepted" laws/laws "damage_refused: blocked" \
    src/file/image.c "if (total != TAMIS_IMAGE" "if (total < TAMIS_IMAGE"
plant "a number of hashes from the file is trusted" laws/laws "forged_headers_are_safe: blocked" \
    src/kinds/blocked.c "    if (!is_legal(word[HASHES]))" "    if (!word[HASHES])"
plant "merge does not look at the seed" laws/laws "mismatch_refused: blocked" \
    src/core/combine.c "x->seed != y->seed" "x->seed != y->seed && false"
plant "merge does not look at the secret" laws/laws "mismatch_refused: blocked/hash=sip13" \
    src/core/combine.c "memcmp(x->secret, y->secret, sizeof x->secret) != 0" "false"
plant "the limit on bytes is not kept at loading" laws/laws "limit_holds: blocked" \
    src/core/bytes.c "if (!rc) rc = tamis__within_limit(&o, image.body.size);" ""
plant "a copy that fails leaks" laws/laws "out_of_memory_is_safe: blocked" \
    src/core/filter.c "        tamis_free(g);
        return rc;" "        return rc;"
plant "fresh memory is taken for zero" laws/laws "out_of_memory_is_safe: blocked" \
    src/core/memory.c "if (a->alloc != default_alloc) memset(base, 0, total);" ""
plant "room is not asked for" laws/laws "failure_changes_nothing: shelf" \
    src/core/change.c "return rc ? rc : make_room(f, hashes, n);" "return rc;"
plant "block and bits come from the same half of the hash" laws/laws "rate_as_promised: blocked" \
    src/bits/probe.h "return tamis__multiply(hash, n, &low);" "return tamis__multiply(hash << 32 | hash >> 32, n, &low);"
plant "one lane has the salt of another" laws/laws "rate_as_promised: blocked" \
    src/bits/probe.h "0x44974d91, 0x8824ad5b" "0x47b6137b, 0x8824ad5b"
plant "an even step" unit/test_kinds "" \
    src/kinds/classic.c "tamis__mix(hash) | 1" "tamis__mix(hash) << 1"
plant "Parquet's index rule is taken for ours" unit/test_kinds "" \
    src/kinds/split.h "(hash >> 32) * f->word[BLOCKS] >> 32" "((hash >> 32) + 1) * f->word[BLOCKS] >> 32"
plant "stray bits pass" unit/test_golden "" \
    src/kinds/bitmap.c "if (bits % 64 && tamis__get64" "if (false && bits % 64 && tamis__get64"
plant "notes are not checked" unit/test_golden "" \
    src/file/image.c "if (!tamis__notes_are_legal(image->notes, (size_t)image->notes_size))" "if (false)"
plant "a failed save leaves its file" unit/test_files "" \
    src/file/disk.c "        unlink(temp);" ""
plant "a short write is the end" unit/test_files "" \
    src/file/disk.c "if (put < 0 && errno == EINTR) continue;" ""
plant "the old file is opened and overwritten" unit/test_files "" \
    src/file/disk.c "int fd = create_beside(target, temp);" "int fd = (strcpy(temp, target), open(temp, O_WRONLY | O_CREAT | O_TRUNC, 0666));"
plant "any rate up to 1 passes" unit/test_numbers "" \
    src/core/number.c "if (!(x >= 1e-12 && x < 1)) {" "if (x > 1) {"
echo "1..$n"
exit ${code:-0}
