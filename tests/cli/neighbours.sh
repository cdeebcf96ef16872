# SPDX-License-Identifier: MIT
# Who may have it? Copies of two neighbours that hash in two ways, in a folder.
urls() { seq -f 'http://www.example/%g' "$1" "$2"; }
tamis create -q b.tamis --spec counting:capacity=100,bits=19200,hashes=4,log=yes
tamis create -q c.tamis --spec icp:capacity=100,bits=19200
urls 1 50 | tamis add -q b.tamis && tamis announce -q b.tamis -o b.msg
urls 40 90 | tamis add -q c.tamis && tamis announce -q c.tamis -o c.msg
tamis neighbours peers --receive b b.msg --receive c c.msg; echo $?
ls peers
printf '%s\n' http://www.example/7 http://www.example/45 http://www.example/77 elsewhere >missed
tamis neighbours peers missed; echo $?
echo "# -v -c -n -q"
tamis neighbours -v peers missed; tamis neighbours -c peers missed; tamis neighbours -n peers missed
tamis neighbours -q peers missed; echo $?
echo elsewhere | tamis neighbours peers; echo $?
echo "# they are filters like others"
tamis check peers/b.tamis missed
echo "# a document went, and one came"
urls 7 7 | tamis remove -q b.tamis; urls 200 200 | tamis add -q b.tamis
tamis announce -q b.tamis -o b2.msg --now
urls 201 201 | tamis add -q b.tamis; tamis announce -q b.tamis -o b3.msg --now
urls 202 202 | tamis add -q b.tamis; tamis announce -q b.tamis -o b4.msg --now
tamis neighbours peers --receive b b2.msg; tamis neighbours peers missed
echo "# one is lost, one comes late and twice, and everything heals"
tamis neighbours peers --receive b b4.msg
tamis neighbours peers --receive b b3.msg --receive b b4.msg
tamis neighbours peers --list
tamis announce -q b.tamis -o b5.msg --full; tamis neighbours peers --receive b - <b5.msg
tamis neighbours peers --list
tamis neighbors peers --list --json
urls 200 202 | tamis neighbours peers
echo "# one is down"
rm peers/b.tamis; tamis neighbours peers missed; rm peers/c.tamis
tamis neighbours peers missed; echo $?
tamis neighbours peers --list; echo $?
