"""Run every benchmark, one after another, and write their figures against the targets.

    python benchmarks/run_all.py [--quick]

Each runs in a process of its own, never two at once. The figures go to out/bench/results.json and
out/bench/results.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _common import COLUMNS, ROOT, Figure, environment, table

SCRIPTS = (
    "fused_product",
    "sparse_product",
    "covtype_fit",
    "right_hand_sides",
    "released_loop",
    "small_costs",
    "newton",
    "large_graph",
    "smo",
    "parse_libsvm",
    "stream",
    "command_line",
)


def run_script(name: str, quick: bool) -> dict[str, Any]:
    """Return a benchmark's answer: its figures, or why there are none."""
    print(f"\n== {name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py"))]
        command += ["--json", str(answer), *(["--quick"] * quick)]
        code = subprocess.run(command, check=False).returncode
        if code != 0:
            return {"skipped": f"failed with exit code {code}", "figures": []}
        return json.loads(answer.read_text())


def rows(name: str, answer: dict[str, Any]) -> list[list[str]]:
    if answer["skipped"]:
        return [[name, answer["skipped"], "", ""]]
    return [Figure(**figure).row() for figure in answer["figures"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run of seconds each")
    quick = parser.parse_args().quick
    answers = {name: run_script(name, quick) for name in SCRIPTS}
    cells = [row for name, answer in answers.items() for row in rows(name, answer)]
    kind = "a smoke run: its figures say nothing about the targets" if quick else "a full run"
    text = f"{environment()}\n\nThis is {kind}.\n\n{table(COLUMNS, cells)}\n"
    folder = ROOT / "out" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(text)
    record = {"environment": environment(), "quick": quick, "benchmarks": answers}
    (folder / "results.json").write_text(json.dumps(record, indent=2) + "\n")
    print("\n" + text)
    sys.exit(any("failed" in (answer["skipped"] or "") for answer in answers.values()))


if __name__ == "__main__":
    main()
