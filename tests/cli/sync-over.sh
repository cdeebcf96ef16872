# SPDX-License-Identifier: MIT
# Files through a command, which gets only the names of those that are needed.
mkdir lists && seq 1 20000 >lists/a.txt && seq 1 300 >lists/b.txt
tamis publish -q lists out
names() { sed 's/[0-9a-f]\{16\}/HEX/g' asked; rm asked; }
tamis sync -q here --over 'echo {} >>asked; cat out/{}'; echo $?; names
seq 1 20010 >lists/a.txt; tamis publish -q lists out
tamis sync -q here --over 'echo {} >>asked; cat "out/{}"'; echo $?; names
tamis sync -q here --over 'echo {} >>asked; cat "out/{}"'; echo $?; names
cmp here/a.tamis out/a.tamis
echo "# it fails"
cp -r here before
seq 1 20020 >lists/a.txt; tamis publish -q lists out
tamis sync here --over 'cat out/x'; echo $?
tamis sync here --over 'false {}'; echo $?
tamis sync here --over 'kill -9 $$; : {}'; echo $?
tamis sync here --over 'case {} in tamis.index) cat out/{} ;; *) exit 3 ;; esac' 2>&1 | sed 's/[0-9a-f]\{16\}/HEX/g; s/;.*fetched inst/; N fetched inst/'
tamis sync here --over 'cat out/{}; exit 3'; echo $?
tamis sync here --over 'case {} in tamis.index) cat out/{} ;; *) yes ;; esac' 2>&1 | sed 's/[0-9a-f]\{16\}/HEX/g; s/[0-9,]* bytes/N bytes/; s/[0-9]* B fetched/N B fetched/; s/instead of .*/instead of .../'
tamis sync here --over 'yes {}'; echo $?
tamis sync here --over ': {}; exec sleep 60' --timeout 1; echo $?
tamis sync out here --over 'cat out/{}'; echo $?
tamis sync here; echo $?
cmp here/a.tamis before/a.tamis && cmp here/b.tamis before/b.tamis && ls here
echo "# a URL is for curl"
mkdir bin
printf '%s\n' '#!/bin/sh' 'shift $(($# - 1)); echo "$1" >>asked; cat "out/${1##*/}"' >bin/curl
chmod +x bin/curl
PATH=$PWD/bin:$PATH
tamis sync -q "http://feeds.example/it's" here; echo $?; names
tamis sync -q https://feeds.example/lists/ here; echo $?; names
