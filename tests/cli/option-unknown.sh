# SPDX-License-Identifier: MIT
# The nearest name is suggested, also for a part of one: names are never abbreviated.
tamis build image --capcity 5
echo $?
tamis build image --cap 5
echo $?
tamis build image -X
echo $?
tamis check image --invert
