# SPDX-License-Identifier: MIT
# With -q nothing is said about lines that are not keys, unless that is all of them: a quiet "no"
# would look like an answer.
printf '192.0.2.1\n192.0.2.2\n' | tamis build -q hosts.tamis --canon ip
ask() { # lines, options
    printf "$1" | tamis check -q hosts.tamis $2
    echo $?
}
echo "-- not a line is a key"
ask 'x\ny\n' ''
ask '192.0.2.1,x\n192.0.2.2,y\n' '-F 2'
ask 'x,y\n192.0.2.1\n' '-d, -F 2'
ask '# x\n\ny\n' '--comment #'
printf 'x\n' | tamis uniq -q --canon ip
printf 'x\n' | tamis add -q hosts.tamis
echo "-- one is"
ask 'x\n192.0.2.9\n' ''
ask 'x\n192.0.2.1\n' ''
ask 'a,192.0.2.9\n192.0.2.1\n' '-d, -F 2'
echo "-- none came"
ask '' ''
ask '# x\n' '--comment #'
