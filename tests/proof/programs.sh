#!/bin/bash
# Random programs of add, remove, count, merge, resize, save and load against an exact model: the
# law that every test run tries with a few thousand steps, here with 10^7 in all.
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
make -s "$B/tests/laws/laws" >&2 || exit 1
subjects=$("$B/tests/laws/laws" --list programs_agree | wc -l)
export TAMIS_STEPS=$((10000000 / subjects + 1)) CMOCKA_MESSAGE_OUTPUT=TAP
echo "# $subjects kinds and options, $TAMIS_STEPS steps each"
exec "$B/tests/laws/laws" programs_agree
