# A set that says no to every known-good key. A key on both lists is named.
seq 1 1000 >revoked
seq 1001 21000 >valid
tamis build crl.tamis revoked --good valid 2>summary; echo $?
sed 's/known-good), .*/known-good)/' summary
tamis check -c crl.tamis revoked
tamis check -c crl.tamis valid
tamis info crl.tamis | sed -n 's/  kind  *\([a-z]*\):.*/\1/p'
echo "# both"
printf '%s\n' ant 7 bee >odd
tamis build -f crl.tamis revoked --good valid --good odd; echo $?
tamis build -f crl.tamis revoked --good valid --good - <odd; echo $?
cat odd | tamis build -f crl.tamis revoked --good valid --good -; echo $?
cat revoked | tamis build -f crl.tamis --good odd --verify; echo $?
tamis check -c crl.tamis revoked
ls
