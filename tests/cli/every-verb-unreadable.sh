# SPDX-License-Identifier: MIT
# A file that may not be read.
if [ "$(id -u)" = 0 ]; then echo "root may read everything"; exit 77; fi
. "$(dirname "$0")/every-verb.inc"
cp good/blocked locked && chmod 000 locked
with_image locked
with_keys locked
