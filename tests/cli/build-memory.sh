# The same bytes in little memory and in much, on one thread and on many.
seq 1 2500000 >keys
for kind in blocked quotient; do
    tamis build -q much.tamis keys --kind $kind --threads 1
    tamis build -q little.tamis keys --kind $kind --memory 20M -T 4 --verify
    tac keys | tamis build -q tac.tamis --kind $kind -T0
    cmp much.tamis little.tamis && cmp much.tamis tac.tamis && echo $kind
    rm ./*.tamis
done
ls "$TMPDIR"
echo "# too little"
yes key | head -n 300000 >keys
tamis build image.tamis keys --memory 1M 2>words; echo $?
sed 's/[0-9][0-9]*/N/g' words
ls
