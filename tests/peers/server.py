"""A stdio MCP server that offers the tools of a file. Usage: server.py TOOLS.json"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    TOOLS = json.load(f)

for line in sys.stdin:
    if not line.strip():
        continue
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message.get("method")
    if method == "initialize":
        result = {
            "protocolVersion": message["params"].get("protocolVersion", "2025-11-25"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "edits", "version": "1.0.0"},
        }
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method in ("resources/list", "prompts/list", "resources/templates/list"):
        result = {"resources/list": {"resources": []}, "prompts/list": {"prompts": []}}.get(
            method, {"resourceTemplates": []}
        )
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
