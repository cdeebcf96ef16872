# SPDX-License-Identifier: MIT
# An image with one wrong byte, and one of which the end is missing.
. "$(dirname "$0")/every-verb.inc"
cp good/blocked wrong
printf X | dd of=wrong bs=1 seek=1500 conv=notrunc 2>words
with_image wrong
head -c 1000 good/blocked >short
with_image short
