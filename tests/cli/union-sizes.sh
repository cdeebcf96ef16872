# SPDX-License-Identifier: MIT
# Filters of different days have different sizes: the union has the larger one, in either order.
seq 1 60000 >monday
seq 50001 170000 >tuesday
for kind in blocked split classic universal; do
    tamis build -q mon.tamis monday --kind $kind
    tamis build -q tue.tamis tuesday --kind $kind
    tamis union mon.tamis tue.tamis -o both.tamis
    tamis union -q tue.tamis mon.tamis -o back.tamis
    tamis check -q both.tamis monday && tamis check -q both.tamis tuesday && echo $kind
    for image in tue both back; do tamis info --json $image.tamis | sed 's/.*"capacity": \([0-9]*\).*/\1/'; done
    rm ./*.tamis
done
