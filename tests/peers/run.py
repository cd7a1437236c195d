"""Runs other tools and FlowX on the forty edits of flowx-diff/fixtures/edits.json, and prints a Markdown table.

    python3 tests/peers/run.py [--flowx PATH] [--mcp-contract PYTHON] [--mcp-diff PATH] [--mcp-covenant PATH]
        [--mcp-capdiff PATH] [--jsoncompat PYTHON] [--cargo-semver-checks PATH] [--check TABLE.md]

A tool whose path is not given is left out; of mcp-contract and jsoncompat it is the Python that has it. Each is asked as its own
manual says, about what it reads: a snapshot of the old list and a check of the new one, started as a server; a Python server at
two revisions; single schemas; a crate's public types. A cell is what the exit code of the check does with the edit by default,
and, where it passes, whether anything was said at all; a dash, where nothing of the edit is in what the tool reads.

With --check, the cells are compared with those of the table in that file: 0 when they agree, 1 when not.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from translate import to_python, to_rust

HERE = pathlib.Path(__file__).resolve().parent
EDITS = HERE.parent.parent / "flowx-diff" / "fixtures" / "edits.json"


def run(command, cwd, **more):
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL, **more
    )
    return done.returncode, done.stdout, done.stderr


def flowx(path, old, new, cwd):
    code, out, err = run([path, "diff", old, new, "--format", "json"], cwd)
    if code not in (0, 1):
        raise RuntimeError(err)
    return code == 1, bool(json.loads(out)["findings"])


def batch(script):
    """All edits at once, by a script of this folder that runs in the Python that has the tool."""

    def ask(python):
        command = [python, str(HERE / script), str(EDITS)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


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


def two_sides(cwd, file, old, new):
    """The texts as the same file in two folders; nothing when they are one text."""
    if old == new:
        return None
    folders = []
    for side, text in (("old", old), ("new", new)):
        path = pathlib.Path(cwd) / side / file
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        folders.append(pathlib.Path(cwd) / side)
    return folders


def read_tools(cwd, name):
    return json.loads((pathlib.Path(cwd) / name).read_text(encoding="utf-8"))


def mcp_capdiff(path, old, new, cwd):
    sides = two_sides(cwd, "server.py", *(to_python(read_tools(cwd, side)) for side in (old, new)))
    if not sides:
        return None
    git = ["git", "-c", "user.name=peers", "-c", "user.email=peers@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "old"]):
        code, out, err = run(git + command, sides[0])
        if code:
            raise RuntimeError(out + err)
    (sides[1] / "server.py").replace(sides[0] / "server.py")
    code, out, err = run([path, "diff", "--baseline", "HEAD", ".", "--format", "json"], sides[0])
    said = json.loads(out)
    kinds = ("capability_changes", "changed_tools", "changes", "new_findings", "new_tools", "removed_tools")
    return code != 0, any(said[kind] for kind in kinds)


def cargo_semver_checks(path, old, new, cwd):
    sides = two_sides(cwd, "src/lib.rs", *(to_rust(read_tools(cwd, side)) for side in (old, new)))
    if not sides:
        return None
    for side in sides:
        (side / "Cargo.toml").write_text(
            '[package]\nname = "edits"\nversion = "1.0.0"\nedition = "2024"\n\n[workspace]\n', encoding="utf-8"
        )
    # An addition is no finding then; what breaks is one.
    command = [path, "semver-checks", "--baseline-root", str(sides[0]), "--release-type", "minor"]
    code, out, err = run(command, sides[1], env={**os.environ, "CARGO_TARGET_DIR": str(pathlib.Path(cwd) / "target")})
    if code not in (0, 100):
        raise RuntimeError(out + err)
    return code == 100, code == 100 or "WARN" in out + err


TOOLS = {
    "flowx": flowx,
    "mcp_contract": batch("contract_batch.py"),
    "mcp_diff": mcp_diff,
    "mcp_covenant": mcp_covenant,
    "mcp_capdiff": mcp_capdiff,
    "jsoncompat": batch("jsoncompat_batch.py"),
    "cargo_semver_checks": cargo_semver_checks,
}
BATCHES = ("mcp_contract", "jsoncompat")


def cell(want, answer):
    """ok: the right decision. soft: told, but passes by default. miss: silent. false alarm: fails what is harmless."""
    if answer is None:
        return "\u2014"
    fails, said = answer
    if want in ("breaking", "effect", "permission"):
        return "ok" if fails else ("soft" if said else "**miss**")
    if want == "notice":
        return "ok" if said or fails else "**miss**"
    if want == "none":
        return "**false alarm**" if fails or said else "ok"
    return "**false alarm**" if fails else "ok"


def committed(path):
    """The cells of the table in that file, by edit and tool."""
    cells, tools = {}, []
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        parts = [part.strip() for part in line.strip("|").split("|")]
        if line.startswith("| edit |"):
            tools = parts[2:]
        elif tools and line.startswith("| ") and len(parts) == len(tools) + 2:
            cells.update({(parts[0], tool): said for tool, said in zip(tools, parts[2:])})
    return cells


def main():
    parser = argparse.ArgumentParser()
    for name in TOOLS:
        parser.add_argument("--" + name.replace("_", "-"))
    parser.add_argument("--check")
    given = vars(parser.parse_args())
    table = committed(given["check"]) if given["check"] else {}
    # Not resolved: the Python of a virtual environment is a link to one that has nothing installed.
    paths = {k: os.path.abspath(v) for k, v in given.items() if v and k in TOOLS}
    shown = {name: name.replace("_", "-") for name in paths}
    edits = json.loads(EDITS.read_text(encoding="utf-8"))
    print("| edit | want | " + " | ".join(shown.values()) + " |")
    print("|---" * (len(paths) + 2) + "|")
    right = dict.fromkeys(paths, 0)
    wrong = []

    batches = {name: TOOLS[name](path) for name, path in paths.items() if name in BATCHES}

    def ask(number, edit, name):
        if name in BATCHES:
            return cell(edit["want"], batches[name][number])
        with tempfile.TemporaryDirectory() as cwd:
            for side in ("old", "new"):
                (pathlib.Path(cwd) / f"{side}.json").write_text(json.dumps(edit[side]), encoding="utf-8")
            try:
                # An edit that changes nothing is asked of nobody who is shown two equal texts.
                answer = TOOLS[name](paths[name], "old.json", "new.json", cwd)
                return cell(edit["want"], (False, False) if answer is None and edit["want"] == "none" else answer)
            except (RuntimeError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
                print(f"{edit['edit']}: {name}: {error}", file=sys.stderr)
                return "error"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = [(edit, [pool.submit(ask, i, edit, name) for name in paths]) for i, edit in enumerate(edits)]
        for edit, cells in rows:
            cells = [c.result() for c in cells]
            for name, answer in zip(paths, cells):
                right[name] += answer == "ok"
                if table and table.get((edit["edit"], shown[name])) != answer:
                    wrong.append(f"{edit['edit']}: {shown[name]}: {answer}, and not {table.get((edit['edit'], shown[name]))}")
            print(f"| {edit['edit']} | {edit['want']} | " + " | ".join(cells) + " |", flush=True)
    print(f"| **right of {len(edits)}** | | " + " | ".join(f"**{right[n]}**" for n in paths) + " |")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
