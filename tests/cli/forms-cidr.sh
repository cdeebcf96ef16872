# SPDX-License-Identifier: MIT
# --canon cidr: lists of addresses, blocks and ranges; questions are in the set when a block has them.
cat >list <<'END'
10.0.0.0/8
192[.]168[.]1[.]5-192.168.1.77
172.16.9.9/255.255.240.0
2001:db8::/32
::ffff:203.0.113.7
198.51.100.1
not-an-address
END
cat >asked <<'END'
10.1.2.3
11.0.0.1
10.200.0.0/16
10.0.0.0/7
192.168.1.4
192.168.1.5
192.168.1.77
192.168.1.78
192.168.1.32/27
192.168.1.6-192.168.1.70
192.168.1.6-192.168.1.78
9.255.255.255-10.0.0.0
172.16.0.1
172.16.16.1
2001:db8:ffff::1
[2001:db8::1]
2001:db9::1
203.0.113.7
198.51.100.1
198[.]51[.]100.1
198.51.100.2
198.51.100.1:443
[2001:db8::1]:443
198.51.100.1:443/32
host.example
END
tamis build set.tamis list --canon cidr --fpr 1e-6
tamis info set.tamis | grep -E 'target|questions|note'
tamis info --json set.tamis | grep -o '"question_keys": [0-9]*'
echo "-- what is in it"
tamis check set.tamis asked
echo "-- a range that goes beyond is not"
tamis check -vnq set.tamis asked; tamis check -vn set.tamis asked 2>/dev/null
echo "-- every kind answers the same, on any thread, added at once or bit by bit"
tamis check -q set.tamis asked
tamis check set.tamis asked >wanted 2>/dev/null
for kind in blocked split classic cuckoo counting quotient window fuse ribbon labels scalable; do
    tamis build -q $kind.tamis list --canon cidr -k $kind -p 1e-6 2>/dev/null
    tamis check -T 3 $kind.tamis asked 2>/dev/null | cmp - wanted && echo "$kind"
done
tamis create -q new.tamis --canon cidr -n 100 -p 1e-9
while read -r line; do echo "$line" | tamis add -q new.tamis 2>/dev/null; done <list
tamis check new.tamis asked 2>/dev/null | cmp - wanted
echo "-- a mark is added once where adds are stored"
tamis create -q c.tamis --canon cidr -k cuckoo -n 1000
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "10.$i.0.0/16" | tamis add -q c.tamis || exit; done
tamis info c.tamis | grep items; echo 10.7.8.9 | tamis check c.tamis
echo "-- removed"
echo 10.3.0.0/16 | tamis remove c.tamis; echo 10.3.1.1 | tamis check c.tamis
echo "-- in a window of few keys the newest are known"
tamis create -q w.tamis --canon cidr -k window -n 2000
{ seq 1 60000 | awk '{printf "10.%d.%d.0/24\n", $1 / 256, $1 % 256}'; echo 172.16.0.0/16; } | tamis add -q w.tamis
printf '172.16.1.1\n10.234.96.7\n10.233.1.1\n10.0.9.9\n' | tamis check w.tamis
echo "-- lines and line numbers are those of the file"
seq 0 14999 | awk '{printf "10.%d.%d.1-254\n", $1 / 256, $1 % 256}' >ranges
{ cat ranges; echo bad; } | tamis build lines.tamis --canon cidr --strict
tamis build lines.tamis ranges --canon cidr -p 1e-6
tamis build copy.tamis --canon cidr --spec guava:fpr=1e-6 <ranges
