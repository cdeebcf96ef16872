# SPDX-License-Identifier: MIT
# Several sets are asked as one: images, directories and --image, whatever they hash with.
printf '%s\n' ant bee cat >spam.txt
printf '%s\n' bee cat dog >malware.txt
printf '%s\n' cat ewe >miners.txt
printf '%s\n' ant bee cat dog ewe fox >log.txt
printf '%s\n' fox ant >more.txt
mkdir feeds
tamis build -q feeds/spam.tamis spam.txt -p 1e-6
tamis build -q feeds/malware.tamis malware.txt -k fuse -p 1e-6 --seed 7
tamis build -q feeds/miners.tamis miners.txt -p 1e-6 --hash xxh64
echo "-- any, none, which"
tamis check feeds/spam.tamis feeds/miners.tamis log.txt; echo $?
tamis check -v feeds/spam.tamis feeds/miners.tamis log.txt; echo $?
tamis check --which feeds/*.tamis log.txt
tamis check -T 3 --which -n feeds/*.tamis log.txt more.txt
tamis check -v --which feeds/*.tamis log.txt
tamis check -o --which feeds/*.tamis log.txt | head -n 1
echo "-- a directory"
tamis check --which feeds log.txt; echo $?
tamis check -c feeds/ log.txt more.txt
tamis check --which feeds/ <more.txt
echo "-- images in any order"
tamis check log.txt --which --image feeds/miners.tamis --image feeds/spam.tamis
tamis check --which --image feeds <more.txt
tamis check -c --image - log.txt <feeds/spam.tamis
tamis check -c - feeds/miners.tamis log.txt <feeds/spam.tamis
echo "-- what is no image in a directory, and what is none of ours"
echo hello >feeds/README.md
tamis check -c feeds log.txt
mkdir feeds/old
cp feeds/spam.tamis feeds/old
cp feeds/spam.tamis feeds/.unfinished
tamis check -c feeds log.txt
tamis check -c --which feeds log.txt; echo $?
rm -r feeds/README.md feeds/old
echo "-- what publish and sync keep there, and what is being written, are nobody's images"
mkdir lists && cp spam.txt lists && tamis publish -q lists published
echo gnu >>lists/spam.txt && tamis publish -q lists published && tamis sync -q published synced
cp feeds/miners.tamis synced/spam.tamis.5e1f03ab.tmp
head -c 100 feeds/miners.tamis >synced/more.tamis.00000000.tmp
tamis check --which published log.txt
tamis check --which synced log.txt
rm synced/*.tmp
echo "-- the same name twice"
mkdir other
cp feeds/spam.tamis other
tamis check --which feeds/spam.tamis other feeds/miners.tamis more.txt
echo "-- labels"
tamis build -q all.tamis -p 1e-6 --label spam spam.txt --label 'a,b:c' miners.txt
tamis check --which all.tamis log.txt
tamis check --which all.tamis feeds/malware.tamis log.txt
tamis check -T 4 --labels all.tamis log.txt | tail -n 1
tamis check --labels all.tamis feeds/malware.tamis log.txt; echo $?
cp feeds/spam.tamis 'odd,name:x.tamis'
tamis check --which 'odd,name:x.tamis' more.txt
cp all.tamis 'odd,name:x.tamis'
tamis check --which 'odd,name:x.tamis' feeds/malware.tamis more.txt
echo "-- keyed, each with its own secret inside or one outside"
head -c 16 /dev/zero >secret
tamis build -q keyed.tamis spam.txt -k classic -p 1e-12 --hash sip13
tamis build -q keyed2.tamis malware.txt -k classic -p 1e-12 --hash sip13
tamis build -q keyed3.tamis miners.txt -p 1e-6 --secret-file secret
tamis check --which keyed.tamis keyed2.tamis keyed3.tamis feeds/malware.tamis log.txt \
    --secret-file secret
tamis check keyed.tamis keyed3.tamis log.txt; echo $?
