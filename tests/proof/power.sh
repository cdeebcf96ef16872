#!/bin/sh
# SPDX-License-Identifier: MIT
# The power fails at any point of every verb that writes, as in tests/cli; writes that were not flushed come out
# each by itself in 256 ways (SHORT: 16).
figures=$(mktemp) && trap 'rm -f "$figures"' EXIT
cd "$(dirname "$0")/../.." || exit 2
TAMIS_MIXES=${SHORT:+16} && export TAMIS_MIXES=${TAMIS_MIXES:-256}
FIGURES=$figures tests/cli/run every-verb-power
code=$?
sed 's/^/# /' "$figures"
exit $code
