# SPDX-License-Identifier: MIT
# Pictures in a terminal without colours and UTF-8, as SVG that is whole XML, and as numbers.
if ! python3 -c 'import json, xml.dom.minidom' 2>/dev/null; then echo "no python3"; exit 77; fi
seq 1 20000 >keys.txt
tamis build -q a.tamis keys.txt
tamis build -q b.tamis --spec blocked:capacity=20000 <keys.txt
seq 10001 30000 | tamis build -q c.tamis --spec blocked:capacity=20000
tamis plot rate --kinds blocked,ribbon
tamis plot fill --kinds blocked,cuckoo -n 2000
tamis plot overlap b.tamis c.tamis
tamis plot bits a.tamis | sed 's/[-.:=+*#%@ ]/x/g' | sort | uniq -c | sort -n | tail -n 1
tamis plot loads a.tamis | head -n 2
for picture in rate fill "fill a.tamis" "bits a.tamis" "loads a.tamis" "overlap b.tamis c.tamis"; do
    tamis plot $picture -o - >picture.svg
    tamis plot $picture --json >picture.json
    python3 - "$picture" <<'END'
import json, sys, xml.dom.minidom
picture = xml.dom.minidom.parse("picture.svg").documentElement
assert picture.getElementsByTagName("title")[0].firstChild.data
print(sys.argv[1], picture.tagName, *json.load(open("picture.json")))
END
done
echo "-- refused"
tamis plot; echo "exit $?"
tamis plot pie; echo "exit $?"
tamis plot rate a.tamis; echo "exit $?"
tamis plot bits; echo "exit $?"
tamis plot overlap b.tamis; echo "exit $?"
tamis plot overlap a.tamis keys.txt; echo "exit $?"
tamis plot overlap a.tamis c.tamis -q; echo "exit $?"
tamis plot rate --kinds blocked,cukoo; echo "exit $?"
tamis plot fill --kinds fuse; echo "exit $?"
tamis plot fill -n 1G; echo "exit $?"
tamis build -q fuse.tamis -k fuse keys.txt
tamis plot loads fuse.tamis; echo "exit $?"
tamis plot fill fuse.tamis; echo "exit $?"
tamis plot bits missing.tamis; echo "exit $?"
tamis plot rate -o keys.txt; echo "exit $?"
tamis plot rate -o nowhere/rate.svg; echo "exit $?"
tamis plot rate -o - >/dev/full; echo "exit $?"
tamis plot rate >/dev/full; echo "exit $?"
tamis plot rate -o rate.svg && tamis plot rate -f -o rate.svg && ls
