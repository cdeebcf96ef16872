#!/bin/bash
# SPDX-License-Identifier: MIT
# Parquet's filters beside DuckDB, pyarrow, the Rust crate parquet and hyparquet: more than a thousand
# random filters each way with those that read filters, and their rules for sizes. What is installed
# stays in $B/peers/parquet; what cannot be installed is skipped with a line.
#
#     tests/peers/parquet.sh       after make; B= for another build folder
#
# Programs of the peers print cases, lines of text, and answer them; parquet.py is our side.
here=$(cd "$(dirname "$0")" && pwd)
B=$(cd "${B:-$here/../../build}" && pwd) || exit 2
store=$B/peers/parquet
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir -p "$store" "$work/"{rust,hyparquet} || exit 2
export TAMIS_SO=${TAMIS_SO:-$B/libtamis.so}
set -o pipefail
n=0 code=0

skip() { # what, why
    n=$((n + 1))
    echo "ok $n - parquet: $1 # SKIP $2"
}

step() { # name, command...
    n=$((n + 1))
    if "${@:2}" >"$work/log" 2>&1; then
        echo "ok $n - parquet: $1: $(tail -n 1 "$work/log")"
    else
        echo "not ok $n - parquet: $1"
        tail -n 20 "$work/log" | cut -c 1-400 | sed 's/^/# /'
        code=1
        return 1
    fi
}

[ -e "$TAMIS_SO" ] && command -v python3 >/dev/null || {
    skip all "no python3, or no $TAMIS_SO: make builds it"
    exit 0
}

# ---- DuckDB and pyarrow ----

python=$store/venv/bin/python
if "$python" -c 'import duckdb' 2>/dev/null ||
    { python3 -m venv "$store/venv" && "$python" -m pip install -q duckdb pyarrow; } >"$work/pip.log" 2>&1; then
    step "DuckDB's files, and its answers about ours" "$python" "$here/parquet.py" duckdb 1 "$work"
else
    skip DuckDB "duckdb cannot be installed by pip"
fi
if "$python" -c 'import pyarrow.parquet as p; assert "bloom_filter_options" in p.write_table.__doc__' 2>/dev/null; then
    step "pyarrow's files" "$python" "$here/parquet.py" pyarrow 2 "$work"
else
    skip pyarrow "no pyarrow that writes filters can be installed by pip"
fi

# ---- Programs that speak in cases ----

ours() { python3 "$here/parquet.py" "$@"; }
we_read() { "$1" write 3 1200 | ours check; }
they_read() { ours make 4 1200 | "$1" read; }
we_read_files() { "$1" files 5 110 "$work/$1" | tee "$work/cases" | ours check; }
they_read_files() { ours patch 6 <"$work/cases" | "$1" read; }
same_sizes() { "$1" sizes | ours sizes "$2"; }
all_steps() { # command, name, writer
    step "$2's filters" we_read "$1"
    step "$2 reads ours" they_read "$1"
    step "$2's files" we_read_files "$1"
    step "$2 reads its files with our filters in them" they_read_files "$1"
    step "$2's sizes" same_sizes "$1" "$3"
}

compile() { (cd "$store/rust" && cargo build -q --release && cargo tree --depth 1 | tail -n 1); }
rust() { "$store/rust/target/release/peer" "$@"; }
if command -v cargo >/dev/null; then
    mkdir -p "$store/rust"
    cat >"$store/rust/Cargo.toml" <<END
[package]
name = "peer"
version = "0.0.0"
edition = "2021"
[[bin]]
name = "peer"
path = "$here/parquet.rs"
[dependencies]
parquet = { version = "60", default-features = false }
END
    if ! (cd "$store/rust" && cargo fetch -q) >"$work/cargo.log" 2>&1; then
        skip "the crate parquet" "it cannot be fetched by cargo"
    elif step "the crate parquet compiles" compile; then
        all_steps rust "the crate parquet" parquet-rs
    fi
else
    skip "the crate parquet" "no cargo"
fi

hyparquet() { node "$store/npm/parquet.mjs" "$@"; }
if ! command -v npm >/dev/null; then
    skip hyparquet "no npm"
elif [ -d "$store/npm/node_modules/hyparquet-writer" ] ||
    npm install --silent --no-audit --no-fund --prefix "$store/npm" hyparquet@1.31.5 hyparquet-writer@0.16.10 >"$work/npm.log" 2>&1; then
    cp "$here/parquet.mjs" "$store/npm/"
    all_steps hyparquet hyparquet hyparquet
else
    skip hyparquet "it cannot be installed by npm"
fi
exit $code
