# SPDX-License-Identifier: MIT
# --label takes two words, also when the first is behind an equals sign.
echo key >keys
tamis build image --label; echo $?
tamis build image --label one; echo $?
tamis build image --label=one; echo $?
tamis build image --label one ''; echo $?
tamis build image --label one - --label two -; echo $?
tamis build image --label one keys keys; echo $?
tamis build image --exclude - -; echo $?
tamis build image --kind blocked --label=one keys 2>&1 | sed 's/; .*//'
tamis build image --kind blocked keys --exclude keys; echo $?
ls
tamis build -h | grep -e '--label' -e '--exclude' -e '--threads'
