# SPDX-License-Identifier: MIT
# What is typed is answered before the next line is: nobody waits for a block to be full.
echo ant | tamis build -q animals.tamis
mkfifo questions answers
for options in "" "-T 3"; do
    tamis check $options animals.tamis <questions >answers &
    exec 3>questions 4<answers
    echo ant >&3
    read -r answer <&4 && echo "$answer is there"
    printf 'bee\nant\na' >&3
    read -r answer <&4 && echo "$answer is there, before the next line is whole"
    printf 'nt\n' >&3
    read -r answer <&4 && echo "$answer is there"
    exec 3>&- 4<&-
    wait
done
