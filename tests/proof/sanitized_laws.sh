#!/bin/bash
# SPDX-License-Identifier: MIT
# Laws and the command in the build of sanitizers.sh: by themselves, so that two processors share the work.
exec "$(dirname "$0")/sanitizers.sh" laws
