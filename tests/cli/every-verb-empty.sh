# SPDX-License-Identifier: MIT
# Nothing in a file: no image, and no keys.
. "$(dirname "$0")/every-verb.inc"
: >empty
with_image empty
with_keys empty 2>errors | sed 's/, "[a-z_]*_ns": .*//'
sed 's/[0-9.]* KiB/N KiB/' errors >&2
