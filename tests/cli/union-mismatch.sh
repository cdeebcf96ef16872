# SPDX-License-Identifier: MIT
# Images that do not fit together are refused with the reason, and nothing is written.
echo key >keys
tamis build -q a.tamis keys --size 64
tamis build -q b.tamis keys --size 128 --kind cuckoo
tamis build -q e.tamis keys --size 256 --kind cuckoo
tamis build -q c.tamis keys --kind classic --size 64
tamis build -q d.tamis keys --size 64 --seed 1
tamis union e.tamis b.tamis -o out.tamis; echo $?
tamis union a.tamis c.tamis -o out.tamis; echo $?
tamis union a.tamis d.tamis -o out.tamis; echo $?
tamis union a.tamis keys -o out.tamis; echo $?
ls
