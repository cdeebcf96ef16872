# SPDX-License-Identifier: MIT
# The main job: an image from a list, the lines of a stream that are in it.
printf '%s\n' ant bee cat >keys
tamis build animals.tamis keys 2>summary
printf '%s\n' bee dog cat ewe bee | tamis check animals.tamis
sed -e 's/[0-9.,e-]* \([KMG]i\)*B,/SIZE,/' -e 's/[0-9.,]* bits/N bits/' \
    -e 's/fpr .*/fpr P/' summary
ls
