#!/bin/bash
# SPDX-License-Identifier: MIT
# Random programs of add, remove, count, merge, resize, save and load against an exact model: the
# law that every test run tries with a few thousand steps for each kind and option, here with STEPS
# in all. STEPS=10000000 takes about six minutes of one processor.
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build} STEPS=${STEPS:-2000000}
make -s "$B/tests/laws/laws" >&2 || exit 1
subjects=$("$B/tests/laws/laws" --list programs_agree | grep -vc caught)
export TAMIS_STEPS=$((STEPS / subjects + 1)) CMOCKA_MESSAGE_OUTPUT=TAP
echo "# $subjects kinds and options, $TAMIS_STEPS steps each"
exec "$B/tests/laws/laws" programs_agree
