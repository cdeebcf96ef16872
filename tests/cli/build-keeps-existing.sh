# SPDX-License-Identifier: MIT
# An existing file is not replaced without --force.
echo precious >file
echo key | tamis build file
echo $?
cat file
echo key | tamis build -q --force file
echo key | tamis check file
