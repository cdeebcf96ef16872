# SPDX-License-Identifier: MIT
# A signal stops a build at any moment: the image is the old one, or whole and new when it came in
# the last moment, and nothing is left beside it.
seq 1 300000 >keys
echo old | tamis build -q image.tamis
cp image.tamis old.tamis
for signal in HUP:129 INT:130 TERM:143; do
    for after in 0.01 0.03 0.05 0.08 0.12; do
        # A shell lets its background jobs ignore SIGINT; timeout runs this one in the front.
        timeout --preserve-status -s ${signal%:*} $after \
            tamis build -q -f image.tamis keys --kind cuckoo --verify 2>words
        code=$?
        [ -s words ] && cat words
        case $code in
        0) cp old.tamis image.tamis ;; # it was faster
        ${signal#*:}) cmp -s image.tamis old.tamis || tamis info image.tamis >/dev/null
            cp old.tamis image.tamis ;;
        *) echo "after $after: $code" ;;
        esac
    done
    echo ${signal%:*}
done
rm words
ls
ls "$TMPDIR"
