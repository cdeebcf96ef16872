# SPDX-License-Identifier: MIT
# Signed patches: by whom, for what, and what happens when somebody changed something.
tamis keygen my.key 2>words
case $(cat words) in *"without libsodium"*) echo "built without libsodium"; exit 77 ;; esac
cat words
ls -l my.key my.key.pub | cut -c 1-10
sed 's/[0-9a-f]\{64\}/(64 digits)/' my.key my.key.pub
seq 1 500 >keys
tamis build -q old.tamis keys --spec classic:capacity=1000
seq 501 503 | tamis add -q old.tamis -o new.tamis
tamis diff -q old.tamis new.tamis -o plain.patch
tamis diff -q old.tamis new.tamis -o a.patch --sign my.key; echo $?
tamis apply -q old.tamis a.patch -o - --verify my.key.pub | cmp - new.tamis
tamis apply old.tamis a.patch -o again.tamis; echo $?
cmp again.tamis new.tamis
tamis diff old.tamis new.tamis -o b.patch --sign my.key --json | sed 's/.*"is_whole"/"is_whole"/'
tamis apply old.tamis b.patch -f -o again.tamis --verify my.key.pub --json | sed 's/.*"is_whole"/"is_whole"/'
echo "# refused"
tamis keygen -q other.key
tamis apply old.tamis plain.patch --verify my.key.pub; echo $?
tamis apply old.tamis a.patch --verify other.key.pub; echo $?
tamis apply new.tamis a.patch --verify my.key.pub; echo $?
size=$(wc -c <a.patch)
for at in 70 $((size - 201)) $((size - 150)) $((size - 100)) $((size - 70)) $((size - 1)); do
    (head -c "$at" a.patch; printf '\125'; tail -c +$((at + 2)) a.patch) >bad.patch
    tamis apply old.tamis bad.patch --verify my.key.pub; echo $?
done
head -c $((size - 1)) a.patch >cut.patch
tamis apply old.tamis cut.patch --verify my.key.pub; echo $?
tamis apply old.tamis cut.patch; echo $?
(cat plain.patch; tail -c 200 a.patch) >moved.patch
cmp moved.patch a.patch && echo "the same patch with its seal"
tamis diff -q new.tamis old.tamis -o back.patch
(cat back.patch; tail -c 200 a.patch) >moved.patch
tamis apply new.tamis moved.patch --verify my.key.pub; echo $?
echo "# keys"
tamis diff old.tamis new.tamis -o c.patch --sign my.key.pub; echo $?
tamis apply old.tamis a.patch --verify my.key; echo $?
tamis apply old.tamis a.patch --verify keys; echo $?
tamis apply old.tamis a.patch --verify missing; echo $?
tamis diff old.tamis new.tamis -o c.patch --sign .; echo $?
sed 's/..$//' my.key >short.key
tamis diff old.tamis new.tamis -o c.patch --sign short.key; echo $?
tamis keygen my.key; echo $?
rm my.key
tamis keygen my.key; echo $?
[ ! -e my.key ] || echo "a secret key alone"
tamis keygen -; echo $?
tamis keygen nowhere/my.key; echo $?
tamis keygen -qf my.key; echo $?
tamis apply old.tamis a.patch --verify my.key.pub; echo $?
ls
