# SPDX-License-Identifier: MIT
# What is wrong with an image, in plain words and by the exit status.
seq 1 20000 >keys.txt
tamis build -q sound.tamis keys.txt --fpr 1%
tamis doctor sound.tamis --members keys.txt
echo "exit $?"
cat sound.tamis | tamis doctor -q -
echo "exit $?"

echo "-- too many keys"
tamis build -q full.tamis --spec blocked:capacity=2000,fpr=1% </dev/null
tamis add -q full.tamis keys.txt
tamis doctor full.tamis
echo "exit $?"

echo "-- keys that are not inside"
{ cat keys.txt && echo stranger-17; } | tamis doctor sound.tamis --members - | grep ' members '
tamis doctor -q sound.tamis --members keys.txt && echo fine

echo "-- damaged"
cp sound.tamis bad.tamis
printf X | dd of=bad.tamis bs=1 seek=5000 conv=notrunc 2>dd.txt
tamis doctor bad.tamis
echo "exit $?"
head -c 1000 sound.tamis >short.tamis
tamis doctor --json short.tamis | tr ',' '\n' | grep -e verdict -e words
tamis doctor keys.txt sound.tamis -q
echo "exit $?"

echo "-- no image at all"
tamis doctor missing.tamis
echo "exit $?"
tamis doctor .
echo "exit $?"
tamis doctor
echo "exit $?"
tamis doctor sound.tamis --members missing.txt
echo "exit $?"
tamis doctor sound.tamis full.tamis --members keys.txt
echo "exit $?"
tamis doctor sound.tamis >/dev/full
echo "exit $?"
