# SPDX-License-Identifier: MIT
# A closed stream is an error too, and no file takes its place.
seq 1 100 >keys
tamis build -q image.tamis keys
tamis check image.tamis keys >&-; echo $?
tamis check image.tamis <&-; echo $?
tamis build other.tamis keys 2>&-; echo $?
tamis check -c other.tamis keys
