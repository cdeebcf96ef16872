# SPDX-License-Identifier: MIT
# A set that says no to every known-good key. A key on both lists is named.
seq 1 1000 >revoked
seq 1001 21000 >valid
tamis build crl.tamis revoked --exclude valid 2>summary; echo $?
sed 's/known-good), .*/known-good)/' summary
tamis check -c crl.tamis revoked
tamis check -c crl.tamis valid
tamis info crl.tamis | sed -n 's/  kind  *\([a-z]*\):.*/\1/p'
echo "# both"
printf '%s\n' ant 7 bee >odd
tamis build -f crl.tamis revoked --exclude valid --exclude odd; echo $?
tamis build -f crl.tamis revoked --exclude valid --exclude - <odd; echo $?
cat odd | tamis build -f crl.tamis revoked --exclude valid --exclude -; echo $?
cat revoked | tamis build -f crl.tamis --exclude odd --verify; echo $?
tamis check -c crl.tamis revoked
ls
