# SPDX-License-Identifier: MIT
# The last line counts without its newline, and is printed with one.
printf 'ant\nbee' >keys
tamis build -q image.tamis keys
tamis check -c image.tamis keys
tamis check image.tamis keys
printf 'ant\n' | tamis build -q ant.tamis
printf 'ant' | tamis check ant.tamis
