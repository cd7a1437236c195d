#!/usr/bin/env bash
# Installs the peers that pip has into target/peers, and compares what they and FlowX say of the forty edits with the table in
# docs/comparison.md. A peer that cannot be had is named and left out: its column is about it, not about FlowX.
# What cargo installs takes long, so it is used where it is there:
#     cargo install mcp-covenant@0.1.1 cargo-semver-checks@0.51.0 --locked --root target/peers
set -euo pipefail
cd "$(dirname "$0")/../.."

peers=target/peers
bin=$peers/venv/bin
# mcp-capdiff wants Python 3.12; the others take an older one.
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; }
if [ ! -x "$bin/python" ]; then
    python=python3
    for candidate in python3.{14,13,12} "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python; do
        if new_enough "$candidate"; then python=$candidate && break; fi
    done
    "$python" -m venv "$peers/venv" || true
fi
while read -r requirement; do
    "$bin/pip" install --quiet --disable-pip-version-check "$requirement" </dev/null || echo "not installed: $requirement"
done < <(cat tests/peers/requirements.txt; if new_enough "$bin/python"; then echo mcp-capdiff==0.2.3; fi)

cargo build --quiet --locked -p flowx-cli --bin flowx
asked=(--flowx "${CARGO_TARGET_DIR:-target}/debug/flowx")
for name in mcp-diff mcp-covenant mcp-capdiff cargo-semver-checks; do
    program=$name
    [ "$name" != mcp-capdiff ] || program=mcp-audit
    if found=$(PATH="$bin:$peers/bin:$PATH" command -v "$program"); then asked+=("--$name" "$found"); fi
done
for name in mcp-contract:mcp_contract jsoncompat:jsoncompat; do
    if "$bin/python" -c "import ${name#*:}" 2>/dev/null; then asked+=("--${name%:*}" "$bin/python"); fi
done
exec python3 tests/peers/run.py "${asked[@]}" --check docs/comparison.md
