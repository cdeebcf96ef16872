# SPDX-License-Identifier: MIT
# Single options make the same image as one spec.
seq 1 1000 >keys
tamis build -q parts.tamis keys --kind classic --capacity 2k --fpr 1/1000 --seed 7
tamis build -q whole.tamis keys --spec 'classic:capacity=2000,fpr=0.1%,seed=7'
cmp parts.tamis whole.tamis
tamis build -q sized.tamis keys --kind classic --size 4KiB --fpr 1%
tamis info --json sized.tamis | grep -o '"payload_bytes": [0-9]*'
tamis build -q counted.tamis keys --spec classic
tamis info counted.tamis | grep spec
