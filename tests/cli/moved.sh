# SPDX-License-Identifier: MIT
# A script that was written for bloom: the same verbs do the same job.
tamis create -p 0.001 -n 1000 set.tamis
printf '%s\n' ant bee cat | tamis insert set.tamis
printf '%s\n' bee dog | tamis check set.tamis
tamis show set.tamis | grep -c fpr
echo 'from the zoo' | tamis set-data set.tamis
tamis get-data set.tamis
tamis cr -q -p 0.001 -n 1000 other.tamis
echo dog | tamis insert -q other.tamis
echo "-- join has a place of its own for the result"
tamis join set.tamis other.tamis
echo $?
tamis join -q set.tamis other.tamis -o both.tamis
printf '%s\n' bee dog elk | tamis check both.tamis
tamis gd both.tamis
echo "-- help knows the words"
tamis help insert | head -n 1
tamis help join | sed -n '/^Also/,/^$/p'
tamis join --frobnicate
