#!/usr/bin/env bash
# Real MCP clients against real programs: the ticket desk, and the conformance suite against the conformance fixture.
# `run.sh [all|desk|conformance|shapes]`. Installs what it needs (install.sh), builds what it serves, prints a line per check and closes with `N passed, N failed`.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=${FLOWX_TOOLS:-$root/target/tools}
"$here/install.sh" || exit 1
tools=$(cd "$tools" && pwd)
node=$tools/node/node_modules/.bin/node
python=$tools/python/bin/python
# Modules are found from where a script stands, so the scripts run beside the packages.
cp "$here"/*.mjs "$tools/node/"

target=${CARGO_TARGET_DIR:-$root/target}
only=${1:-all}
(cd "$root" && cargo build --quiet -p ticket-desk -p flowx-conformance -p flowx-cli) || exit 1
work=$(mktemp -d)
passed=0
failed=0
pids=()
trap 'for pid in "${pids[@]:-}"; do [ -n "$pid" ] && kill "$pid" 2>/dev/null; done; rm -rf "$work"' EXIT

# serve NAME COMMAND...: starts a server on a free port; its address goes into $address.
serve() {
    local log=$work/$1.log
    shift
    (cd "$work" && exec "$@") >"$log" 2>&1 &
    pids+=($!)
    address=
    for _ in $(seq 200); do
        address=$(sed -n 's#^.*listening on \(http://[^ ]*\).*$#\1#p' "$log" | head -1)
        [ -n "$address" ] && return 0
        sleep 0.05
    done
    echo "not ok $* did not start: $(tail -3 "$log")"
    failed=$((failed + 1))
    return 1
}

# count NAME COMMAND...: runs one client's checks and adds up its closing `# passed failed` line.
count() {
    local log=$work/client.log name=$1
    shift
    timeout 300 "$@" 2>"$log.err" | tee "$log"
    local line
    line=$(sed -n 's/^# \([0-9]*\) \([0-9]*\)$/\1 \2/p' "$log" | tail -1)
    if [ -z "$line" ]; then
        echo "not ok $name did not finish: $(tail -3 "$log.err" | tr '\n' ' ')"
        failed=$((failed + 1))
    else
        passed=$((passed + ${line% *}))
        failed=$((failed + ${line#* }))
    fi
}

if [ "$only" = all ] || [ "$only" = desk ]; then
    if serve annotate "$target/debug/ticket-desk" --listen 127.0.0.1:0 --store sqlite::memory: --confirmation annotate; then
        count "TypeScript 1.32" "$node" "$tools/node/ts1.mjs" "$address" annotate
        count "TypeScript 2.4" "$node" "$tools/node/ts2.mjs" "$address" annotate
        count "Python 2.3" "$python" "$here/client.py" "$address" annotate
        count "Inspector 2.12" "$node" "$tools/node/inspector.mjs" "$address"
    fi
    if serve elicit "$target/debug/ticket-desk" --listen 127.0.0.1:0 --store sqlite::memory:; then
        count "TypeScript 1.32, asked" "$node" "$tools/node/ts1.mjs" "$address" elicit
    fi
    if serve elicit2 "$target/debug/ticket-desk" --listen 127.0.0.1:0 --store sqlite::memory:; then
        count "TypeScript 2.4, asked" "$node" "$tools/node/ts2.mjs" "$address" elicit
    fi
    if serve elicit3 "$target/debug/ticket-desk" --listen 127.0.0.1:0 --store sqlite::memory:; then
        count "Python 2.3, asked" "$python" "$here/client.py" "$address" elicit
    fi
    if serve gate "$target/debug/ticket-desk" --listen 127.0.0.1:0 --store "sqlite:$work/gate.db" --confirmation gate; then
        count "flowx as operator" "$python" "$here/desk_operator.py" "$address" "$target/debug/flowx" "sqlite:$work/gate.db"
    fi
fi

if [ "$only" = all ] || [ "$only" = conformance ]; then
    for revision in 2025-11-25 2026-07-28; do
        if serve "conformance-$revision" "$target/debug/flowx-conformance"; then
            count "conformance $revision" "$node" "$tools/node/conformance.mjs" "$address" "$revision" "$here/../conformance/expected-failures.toml"
        fi
    done
fi

if [ "$only" = all ] || [ "$only" = shapes ]; then
    if serve shapes "$target/debug/flowx-conformance"; then
        count "shapes, TypeScript and Inspector" "$node" "$tools/node/shapes.mjs" "$address" "$here/../conformance/shapes.json"
        count "shapes, Python" "$python" "$here/shapes.py" "$address" "$here/../conformance/shapes.json"
    fi
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
