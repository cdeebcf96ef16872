# SPDX-License-Identifier: MIT
# The image on stdout is the image in a file.
seq 1 100 >keys
tamis build -q image.tamis keys
tamis build -q - keys | cmp - image.tamis
tamis build -q - keys | tamis check -c - keys
