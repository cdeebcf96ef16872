# SPDX-License-Identifier: MIT
# What a run of `partition --packed` that was killed left is taken over by the next one; what it is
# still writing, and what is nobody's, is not.
seq 1 20000 >keys
wish="-n 20000 --shards 3 --packed"
tamis partition keys $wish -o whole
mkfifo fifo
tamis partition keys fifo -n 20000 --shards 5 --packed -o made &
exec 3>fifo # goes on as soon as the run reads its second file
echo "-- while it runs"
tamis partition keys $wish -o made; echo $?
kill -KILL $!
wait $! 2>/dev/null
exec 3>&-
ls -A made
echo "-- after it was killed, with files of the old run under every name"
echo old >made/0.hashes; echo old >made/4.hashes.part; echo old >made/9999.hashes
tamis partition keys $wish -o made; echo $?
diff -r whole made && echo "as if it had never begun"
echo "-- it is whole now"
tamis partition keys $wish -o made; echo $?
diff -r whole made && echo "and stays as it is"
echo "-- another file there stays, and one that is not empty is refused"
mkdir other; echo mine >other/mine
tamis partition keys $wish -o other; echo $?
ls -A other
echo "-- an empty one is filled; what fails leaves nothing"
mkdir empty
tamis partition keys $wish -o empty -q; echo $?
diff -r whole empty && echo "the same"
tamis partition keys nowhere $wish -o failed; echo $?
mkdir mine
tamis partition nowhere $wish -o mine; echo $?
[ -e failed ] || ls -A mine
