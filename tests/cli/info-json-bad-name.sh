# SPDX-License-Identifier: MIT
# A file name that is not UTF-8 becomes a string that is.
name=$(printf 'caf\351\303\251.tamis')
echo key | tamis build -q image.tamis
mv image.tamis "$name" 2>/dev/null || { echo "such names are not possible here"; exit 77; }
tamis info --json "$name" | cut -d, -f1
