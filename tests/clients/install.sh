#!/usr/bin/env bash
# Installs the real MCP clients into target/tools, once per version set: Node 22 with the TypeScript clients, the Inspector and
# the conformance suite, and a Python environment with the Python client. Prints nothing when all is there already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tools=${FLOWX_TOOLS:-$here/../../target/tools}
mkdir -p "$tools"
tools=$(cd "$tools" && pwd)

stamp=$(cat "$here/package.json" "$here/requirements.txt" | cksum)
if [ "$(cat "$tools/.stamp" 2>/dev/null || true)" = "$stamp" ]; then
    exit 0
fi
rm -f "$tools/.stamp"

mkdir -p "$tools/node"
cp "$here/package.json" "$tools/node/package.json"
(cd "$tools/node" && npm install --no-audit --no-fund --no-package-lock --loglevel=error)

python3 -m venv "$tools/python"
"$tools/python/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"

# The scripts beside this file are run from here, so that they find the packages by the usual resolution.
"$tools/node/node_modules/.bin/node" --version | grep -q '^v22' || { echo "no Node 22 in target/tools" >&2; exit 1; }
echo "$stamp" > "$tools/.stamp"
