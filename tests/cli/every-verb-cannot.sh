# SPDX-License-Identifier: MIT
# An image of a kind that cannot do what the verb does; and verbs that any image will do for.
. "$(dirname "$0")/every-verb.inc"
tamis build -q fuse good/keys -k fuse
with_image fuse | sed -e 's/[0-9]\{3,\}/N/g' | grep exit
