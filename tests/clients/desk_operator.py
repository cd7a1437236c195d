"""The operator's commands against a running ticket desk under `--confirmation gate`, and against its store."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BASE, FLOWX, STORE = sys.argv[1:4]
PASSED = FAILED = 0


def check(what: str, holds: bool, seen: object = "") -> None:
    global PASSED, FAILED
    if holds:
        PASSED += 1
    else:
        FAILED += 1
    print(f"{'ok' if holds else 'not ok'} {what}" + ("" if holds else f": {seen}"))


def call(path: str, token: str, body: dict | None = None, key: str = "") -> tuple[int, dict]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    if key:
        headers["idempotency-key"] = key
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(BASE + path, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def refund(ticket: str, key: str) -> tuple[int, dict]:
    body = {"ticket_id": ticket, "amount_cents": 1250, "cardholder_reference": "card-4711"}
    return call("/api/v1/refunds", "refund-agent-token", body, key)


def effects() -> int:
    return sum(call("/desk/counters", "agent-token")[1].values())


def flowx(*args: str, server: str = BASE, token: str = "manager-token") -> tuple[int, str, str]:
    environment = {**os.environ, "FLOWX_TOKEN": token}
    done = subprocess.run(
        [FLOWX, *args, "--server", server], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout, done.stderr


def waiting() -> list[dict]:
    code, out, err = flowx("proposals", "list", "--format", "json")
    assert code == 0, err
    return json.loads(out)["proposals"]


status, answer = refund("T-1001", "operator-1")
check("a refund that an agent asks for waits for a person", (status, answer["code"]) == (428, "approval.required"), answer)
check("and tells the agent no proposal id", "id" not in answer and not any(p["id"] in json.dumps(answer) for p in waiting()), answer)
refund("T-1002", "operator-2")
rows = waiting()
check("both wait", len(rows) == 2, rows)
first = next(row for row in rows if "T-1001" in json.dumps(row))
second = next(row for row in rows if "T-1002" in json.dumps(row))

code, out, _ = flowx("proposals", "show", first["id"])
check("what is shown names the arguments and withholds the sensitive one", code == 0 and "T-1001" in out and "card-4711" not in out, out)
code, out, err = flowx("proposals", "list", "--format", "json", token="agent-token")
check("another agent sees none of them", code == 0 and json.loads(out)["proposals"] == [], (out, err))
code, _, err = flowx("proposals", "approve", first["id"], "--fingerprint", "f00d", "--yes")
check("a yes to something else is none", code in (1, 3) and effects() == 0, (code, err))
code, _, err = flowx("proposals", "approve", first["id"], "--fingerprint", first["fingerprint"], "--yes", token="refund-agent-token")
check("the asker's yes is none", code in (1, 3) and effects() == 0, (code, err))
code, out, err = flowx("proposals", "approve", first["id"], "--fingerprint", first["fingerprint"], "--yes")
check("a yes to what was read runs it once", code == 0 and effects() == 2, (code, out, err, effects()))
code, out, _ = flowx("proposals", "approve", first["id"], "--fingerprint", first["fingerprint"], "--yes")
check("and a second yes does nothing", code == 1 and effects() == 2, (code, out))
status, answer = refund("T-1001", "operator-1")
check("the agent that asks again is told how it ended", status == 200 and answer["ticket_id"] == "T-1001" and effects() == 2, answer)

code, out, err = flowx("proposals", "reject", second["id"], "--reason", "the customer has kept the kettle")
check("a no is said with its reason", code == 0, (out, err))
status, answer = refund("T-1002", "operator-2b")
check("and the agent is told it", answer["code"] == "approval.rejected" and "kettle" in json.dumps(answer) and effects() == 2, answer)

code, out, err = flowx("proposals", "list", "--status", "done", server=STORE)
check("the store itself tells the same", code == 0 and first["id"] in out, (out, err))
code, _, err = flowx("proposals", "reject", second["id"], "--reason", "no", server=STORE)
check("but decides nothing", code == 2, err)
code, out, err = flowx("audit", "verify", server=STORE)
check("the store's trail is whole", code == 0 and "whole" in out, (out, err))
# Records are linked right after they are written.
for _ in range(100):
    code, trail, err = flowx("audit", "export", server=STORE)
    if "not chained" not in err:
        break
    time.sleep(0.1)
kinds = {json.loads(json.loads(line)["record"])["kind"] for line in trail.splitlines()}
check("and tells of the proposals, the decisions and the run", code == 0 and {"proposal.waiting", "proposal.done", "proposal.rejected"} <= kinds, kinds)
with tempfile.TemporaryDirectory() as folder:
    exported = os.path.join(folder, "trail.jsonl")
    lines = trail.splitlines(keepends=True)
    for name, kept, expected in [("whole", lines, 0), ("with a gap", lines[:2] + lines[3:], 1), ("cut to nothing", [], 3)]:
        with open(exported, "w") as file:
            file.writelines(kept)
        done = subprocess.run([FLOWX, "audit", "verify", exported], capture_output=True, text=True)
        check(f"an export {name} exits with {expected}", done.returncode == expected, (done.stdout, done.stderr))
code, _, err = flowx("audit", "export")
check("over HTTP the trail is for whoever may read it", code == 3 and "authorization.permission_denied" in err, (code, err))
code, over_http, err = flowx("audit", "export", token="auditor-token")
check("who hears what the store holds", code == 0 and over_http.startswith(trail), (code, err))
code, out, err = flowx("audit", "verify", token="auditor-token")
check("and that it is whole", code == 0 and "whole" in out, (out, err))

print(f"# {PASSED} {FAILED}")
