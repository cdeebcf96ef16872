# SPDX-License-Identifier: MIT
# A patch turns one image into another, byte for byte, and is small when little changed.
seq 1 50000 >keys
seq 50001 50100 >more
tamis build -q old.tamis keys --spec blocked:capacity=60000
tamis add -q old.tamis more -o new.tamis
tamis diff old.tamis new.tamis -o a.patch; echo $?
tamis apply old.tamis a.patch -o again.tamis; echo $?
cmp new.tamis again.tamis
echo "# in place; a second time is too much"
cp old.tamis here.tamis
tamis apply -q here.tamis a.patch; echo $?
cmp new.tamis here.tamis
tamis apply here.tamis a.patch; echo $?
cmp new.tamis here.tamis
echo "# through pipes"
tamis diff -q - new.tamis -o - <old.tamis | cmp - a.patch
tamis apply -q - a.patch <old.tamis | cmp - new.tamis
tamis apply -q old.tamis - -o - <a.patch | cmp - new.tamis
tamis diff - - -o a.patch; echo $?
echo "# equal images; another kind and size; what is built once"
tamis diff old.tamis old.tamis -o same.patch; echo $?
tamis apply old.tamis same.patch -o same.tamis 2>/dev/null; echo $?
cmp old.tamis same.tamis
tamis build -q other.tamis more --spec classic:capacity=1000 --note comment=other
tamis diff -q old.tamis other.tamis -o other.patch; echo $?
tamis apply -q old.tamis other.patch -o - | cmp - other.tamis
tamis build -q fuse.tamis keys --spec fuse:fpr=0.01%
cat keys more | tamis build -q fuse2.tamis --spec fuse:fpr=0.01%
tamis diff fuse.tamis fuse2.tamis -o fuse.patch; echo $?
tamis apply -q fuse.tamis fuse.patch -o - | cmp - fuse2.tamis
echo "# a secret that is kept outside"
echo 000102030405060708090a0b0c0d0e0f >secret
tamis build -q s1.tamis keys --spec blocked:capacity=60000,hash=sip13,key=outside --secret-file secret
tamis add -q s1.tamis more -o s2.tamis --secret-file secret
tamis diff s1.tamis s2.tamis -o s.patch; echo $?
tamis diff -q s1.tamis s2.tamis -o s.patch --secret-file secret; echo $?
tamis apply s1.tamis s.patch -o s3.tamis; echo $?
tamis apply -q s1.tamis s.patch -o s3.tamis --secret-file secret; echo $?
cmp s2.tamis s3.tamis
