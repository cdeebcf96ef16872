# SPDX-License-Identifier: MIT
# A file that is not there, and one that is a folder: as the image, and as keys.
. "$(dirname "$0")/every-verb.inc"
mkdir folder
with_image nowhere.tamis
with_image folder
with_keys nowhere.txt
with_keys folder
