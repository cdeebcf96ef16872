# SPDX-License-Identifier: MIT
# A file that cannot be read is reported; the others are still checked.
echo ant >keys
tamis build -q animals.tamis keys
tamis check animals.tamis nowhere . keys
