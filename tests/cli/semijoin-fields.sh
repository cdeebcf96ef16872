# SPDX-License-Identifier: MIT
# Fields of both sides: JSON too, the same number of them, and a RIGHT without a key.
printf '%s\n' '{"user":{"id":7},"at":1}' '{"user":{"id":8},"at":2}' '{"at":3}' >left.jsonl
printf '%s\n' '{"id":7,"seen":1}' '{"id":9,"seen":2}' >right.jsonl
echo "# JSON"
tamis semijoin -q --jsonl user.id --right-field id left.jsonl right.jsonl; echo $?
tamis semijoin -q --jsonl user.id,at --right-field id,seen left.jsonl right.jsonl; echo $?
tamis semijoin -q --jsonl user.id --right-field id. left.jsonl right.jsonl; echo $?
printf 'order,customer\n1,17\n2,42\n' >orders.csv
printf 'id,name\n17,Ann\n' >customers.csv
echo "# as many fields"
tamis semijoin --csv --field customer --right-field id,name orders.csv customers.csv; echo $?
tamis semijoin -t, --field 1-2 --right-field 1,3,2 orders.csv customers.csv; echo $?
tamis semijoin --jsonl user.id,at --right-field id left.jsonl right.jsonl; echo $?
tamis semijoin -q -t, --field 1-2 --right-field 1- orders.csv orders.csv
tamis semijoin -q -t, --right-field 1,2 orders.csv orders.csv
tamis semijoin --csv --field 1 --right-field 2000 orders.csv customers.csv; echo $?
echo "# the wrong separator"
tamis semijoin --field customer --right-field id orders.csv customers.csv; echo $?
echo "# no keys"
echo id >none.csv
tamis semijoin -c --csv --field customer --right-field id orders.csv none.csv; echo $?
tamis semijoin -c --anti --exact --csv --field customer --right-field id orders.csv none.csv; echo $?
tamis semijoin -c --anti --strict --csv --field customer --right-field id orders.csv none.csv; echo $?
