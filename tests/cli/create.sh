# SPDX-License-Identifier: MIT
# An image without keys: room for 10,000, or what the wish says; nothing is read.
tamis create usual.tamis
tamis create small.tamis -k classic -n 100 -p 5%
tamis create by-spec.tamis --spec counting:fpr=2%
tamis create by-size.tamis --size 4KiB -p 1% --note source=zoo
tamis create - -q -n 10 | tamis info - | head -n 2
for image in *.tamis; do tamis info "$image" | sed -n 2p; done
tamis info by-size.tamis | grep note
echo "-- refused"
try() { tamis create "$@"; echo "exit $?"; }
try
try one.tamis two.tamis
try usual.tamis
try -q -f usual.tamis -n 20
try image.tamis -k fuse
try image.tamis -k fuze
try image.tamis -k classic --spec classic
try image.tamis --spec classic:colour=red
mkdir folder
try folder
try missing/image.tamis
try image.tamis --size 4KiB
tamis create - >/dev/full; echo "exit $?"
try image.tamis --frobnicate
ls
