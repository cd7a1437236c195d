"""The forty edits for mcp-contract in one process, since each start of it takes seconds: its own `probe`, `compare` and `ok`,
as its `check` command calls them. Run with the Python that has it; prints one line `[fails, said]` per edit.
"""

import json
import pathlib
import sys
import tempfile

from mcp_contract.compare import compare
from mcp_contract.probe import probe

HERE = pathlib.Path(__file__).resolve().parent

for edit in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
    with tempfile.TemporaryDirectory() as folder:
        sides = []
        for side in ("old", "new"):
            path = pathlib.Path(folder) / f"{side}.json"
            path.write_text(json.dumps(edit[side]), encoding="utf-8")
            sides.append(probe(sys.executable, [str(HERE / "server.py"), str(path)], timeout=240))
        report = compare(*sides)
        print(json.dumps([not report.ok, bool(report.changes)]), flush=True)
