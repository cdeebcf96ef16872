# SPDX-License-Identifier: MIT
# hash=sip13 alone keeps its secret inside: the image opens without --secret-file.
seq 1 100 >keys
tamis build -q image.tamis keys --hash sip13
tamis check -c image.tamis keys
tamis info image.tamis | sed -n 's/key id [0-9a-f]*$/key id N/p'
