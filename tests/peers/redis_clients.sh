#!/bin/bash
# SPDX-License-Identifier: MIT
# The clients that people use, by name, against our module in a server: node's redis with @redis/bloom,
# redis-py of Debian and of today, and go-redis. Each drives all that it has for BF, CF and CMS and checks
# the answers, in RESP2 and RESP3. REDIS_SERVER= names another server, TAMIS_REDIS= another module.
. "$(dirname "$0")/common"
server=${REDIS_SERVER:-redis-server} module=${TAMIS_REDIS:-$B/tamis-redis.so}
command -v "$server" >/dev/null || skip redis_clients "no $server"
[ -e "$module" ] || skip redis_clients "no $module"
clients=$here/redis_clients

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$server" --port "$port" --bind 127.0.0.1 --dir "$work" --save '' --loadmodule "$(realpath "$module")" >"$work/server.log" 2>&1 &
process=$!
trap 'kill $process 2>/dev/null; wait $process 2>/dev/null; rm -rf "$work"' EXIT
answers() { python3 -c "import socket; s = socket.create_connection(('127.0.0.1', $port)); s.sendall(b'PING\r\n'); exit(s.recv(7) != b'+PONG\r\n')" 2>/dev/null; }
for _ in $(seq 100); do
    answers && break
    kill -0 $process 2>/dev/null || { sed 's/^/# /' "$work/server.log" && echo "not ok 1 - the server did not start" && exit 1; }
    sleep 0.1
done

# Installs once; true when it is there.
once() { # mark, command...
    local mark=$store/$1.installed
    shift
    [ -e "$mark" ] || { "$@" >"$work/install.log" 2>&1 && touch "$mark"; }
}

if ! command -v npm >/dev/null; then
    leave_out "node redis" "no npm"
elif ! once redis-node npm install --silent --no-audit --no-fund --prefix "$store/redis-node" redis@6.3.1; then
    leave_out "node redis" "npm does not bring it"
else
    for protocol in 2 3; do
        step "node redis with @redis/bloom, RESP$protocol" env NODE_PATH="$store/redis-node/node_modules" node "$clients/bloom.mjs" "$port" $protocol
    done
fi

if /usr/bin/python3 -c 'import redis' 2>/dev/null; then
    step "redis-py of Debian, RESP2" /usr/bin/python3 "$clients/bloom.py" "$port" 2
else
    leave_out "redis-py of Debian" "no python3-redis"
fi
if once redis-py python3 -m pip install -q --target "$store/redis-py" redis==8.1.0; then
    for protocol in 2 3; do
        step "redis-py of today, RESP$protocol" env PYTHONPATH="$store/redis-py" python3 "$clients/bloom.py" "$port" $protocol
    done
else
    leave_out "redis-py of today" "pip does not bring it"
fi

export GOPATH=$store/go GOCACHE=$store/go/cache GOFLAGS="-mod=mod -modcacherw"
build_go() { cp "$clients/go.mod" "$clients/main.go" "$work/" && (cd "$work" && go build -o "$work/go-client" .) >"$work/go.log" 2>&1; }
if ! command -v go >/dev/null; then
    leave_out go-redis "no Go"
elif ! build_go; then
    leave_out go-redis "it cannot be built: $(tail -n 1 "$work/go.log")"
else
    for protocol in 2 3; do step "go-redis v9, RESP$protocol" "$work/go-client" "$port" $protocol; done
fi
step "the server is still there" answers
exit $code
