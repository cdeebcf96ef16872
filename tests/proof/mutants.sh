#!/bin/bash
# SPDX-License-Identifier: MIT
# A sample of the mutants of tests/proof/mutants.py, the same in every run; `make mutants` tries all of
# them. With SHORT set only the survivors that docs/proof.md explains are looked for in their files.
cd "$(dirname "$0")/../.." || exit 2
[ -z "${SHORT:-}" ] || exec tests/proof/mutants.py --places
exec nice tests/proof/mutants.py --sample "${MUTANTS:-60}"
