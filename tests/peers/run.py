"""Runs other tools and FlowX on the forty edits of flowx-diff/fixtures/edits.json, and prints a Markdown table.

    python3 tests/peers/run.py [--flowx target/debug/flowx] [--mcp-contract PYTHON] [--mcp-diff PATH] [--mcp-covenant PATH]

A tool whose path is not given is left out; of mcp-contract it is the Python that has it. Each is asked as its own manual says: a snapshot of the old list, then a check
of the new one, started as a server. A cell is what the exit code of the check does with the edit by default, and, where it
passes, whether anything was said at all.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EDITS = HERE.parent.parent / "flowx-diff" / "fixtures" / "edits.json"


def run(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def flowx(path, old, new, cwd):
    code, out, err = run([path, "diff", old, new, "--format", "json"], cwd)
    if code not in (0, 1):
        raise RuntimeError(err)
    return code == 1, bool(json.loads(out)["findings"])


def mcp_contract_all(python):
    """All edits at once; see contract_batch.py."""
    command = [python, str(HERE / "contract_batch.py"), str(EDITS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def mcp_diff(path, old, new, cwd):
    server = [sys.executable, str(HERE / "server.py")]
    code, out, err = run([path, "snapshot", "-o", "d.lock", *server, old], cwd)
    if code:
        raise RuntimeError(out + err)
    code, out, err = run([path, "check", "-l", "d.lock", "--json", *server, new], cwd)
    if code not in (0, 1):
        raise RuntimeError(out + err)
    said = json.loads(out)
    changes = said if isinstance(said, list) else said.get("changes", [])
    return code == 1, bool(changes)


def mcp_covenant(path, old, new, cwd):
    serve = ["--", sys.executable, str(HERE / "server.py")]
    code, out, err = run([path, "snapshot", "-o", "e.lock", *serve, old], cwd)
    if code:
        raise RuntimeError(out + err)
    code, out, err = run([path, "check", "--baseline", "e.lock", "--format", "json", *serve, new], cwd)
    if code not in (0, 1):
        raise RuntimeError(out + err)
    said = json.loads(out)
    changes = said if isinstance(said, list) else said.get("changes", said.get("findings", []))
    return code == 1, bool(changes)


TOOLS = {"flowx": flowx, "mcp_contract": None, "mcp_diff": mcp_diff, "mcp_covenant": mcp_covenant}


def cell(want, fails, said):
    """ok: the right decision. soft: told, but passes by default. miss: silent. false alarm: fails what is harmless."""
    if want in ("breaking", "effect", "permission"):
        return "ok" if fails else ("soft" if said else "**miss**")
    if want == "notice":
        return "ok" if said or fails else "**miss**"
    if want == "none":
        return "**false alarm**" if fails or said else "ok"
    return "**false alarm**" if fails else "ok"


def main():
    parser = argparse.ArgumentParser()
    for name in TOOLS:
        parser.add_argument("--" + name.replace("_", "-"))
    paths = {k: v for k, v in vars(parser.parse_args()).items() if v}
    edits = json.loads(EDITS.read_text(encoding="utf-8"))
    print("| edit | want | " + " | ".join(n.replace("_", "-") for n in paths) + " |")
    print("|---" * (len(paths) + 2) + "|")
    right = dict.fromkeys(paths, 0)

    batch = mcp_contract_all(paths["mcp_contract"]) if "mcp_contract" in paths else []

    def ask(edit, name):
        if name == "mcp_contract":
            return cell(edit["want"], *batch[edits.index(edit)])
        with tempfile.TemporaryDirectory() as cwd:
            for side in ("old", "new"):
                (pathlib.Path(cwd) / f"{side}.json").write_text(json.dumps(edit[side]), encoding="utf-8")
            try:
                path = str(pathlib.Path(paths[name]).resolve())
                return cell(edit["want"], *TOOLS[name](path, "old.json", "new.json", cwd))
            except (RuntimeError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
                print(f"{edit['edit']}: {name}: {error}", file=sys.stderr)
                return "error"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = [(edit, [pool.submit(ask, edit, name) for name in paths]) for edit in edits]
        for edit, cells in rows:
            cells = [c.result() for c in cells]
            for name, answer in zip(paths, cells):
                right[name] += answer == "ok"
            print(f"| {edit['edit']} | {edit['want']} | " + " | ".join(cells) + " |", flush=True)
    print(f"| **right of {len(edits)}** | | " + " | ".join(f"**{right[n]}**" for n in paths) + " |")


if __name__ == "__main__":
    main()
