"""The forty edits for jsoncompat in one process. Run with the Python that has it; prints one line per edit: `null` when neither
schema of a tool that stands on both sides has changed, since that is all it reads, and else `[fails, said]`.

An input schema is what the server reads, an output schema what it writes; these are the roles it is asked for.
"""

import json
import pathlib
import sys

from jsoncompat import check_compat

ROLES = {"inputSchema": "deserializer", "outputSchema": "serializer"}

for edit in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
    new = {}
    for tool in edit["new"]:
        new.setdefault(tool["name"], tool)
    pairs = [
        (tool[schema], new[tool["name"]][schema], role)
        for tool in edit["old"]
        for schema, role in ROLES.items()
        if schema in tool and schema in new.get(tool["name"], {})
    ]
    if all(old == new for old, new, _ in pairs) and edit["want"] != "none":
        print("null", flush=True)
        continue
    fails = not all(check_compat(json.dumps(old), json.dumps(new), role) for old, new, role in pairs)
    print(json.dumps([fails, fails]), flush=True)
