"""Run every benchmark, one after another, and write their figures against the targets.

    python benchmarks/run_all.py [--quick]

Each script runs in a process of its own, never two at once. The figures go to
out/bench/results.json and out/bench/results.md. The packages leaderboard and dask_scale have
commands of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _common import COLUMNS, ROOT, Figure, environment, table

NOT_RUN = {
    "run_all": "this script",
    "gpu": "it needs a card: make test-cuda",
    "page_tables": "it fills the tables of pages: make tables",
    "lamda_peer": "baselines runs it in another environment",
    "stream_sets": "data of stream",
    "table_sets": "data of large_tables and others",
}
"""Files beside this one that are no benchmarks to run here, and why."""
OWN_OPTIONS: dict[str, tuple[list[str], list[str]]] = {
    "accuracy": ([], ["--short"]),
    "class_sizes": ([], ["--quick"]),
    "cluster_plan": ([], []),
    "fuzz_files": ([], ["--files", "50"]),
    "judge": ([], ["--quick"]),
    "label_models": (["ijcnn1", "cod-rna", "a1a", "w8a"], ["a1a"]),
    "large_tables": ([], ["--sets", "ijcnn1", "--methods", "own", "--seeds", "1"]),
}
"""Options of a full run and of a quick one, of scripts that print their results and keep none."""


def scripts() -> list[str]:
    """Return the names of all benchmarks."""
    files = Path(__file__).parent.glob("[!_]*.py")
    return sorted({file.stem for file in files} - NOT_RUN.keys())


def run_script(name: str, quick: bool) -> dict[str, Any]:
    """Return a benchmark's answer: its figures, or why there are none."""
    print(f"\n== {name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py"))]
        shared = ["--json", str(answer), *(["--quick"] * quick)]
        command += OWN_OPTIONS[name][quick] if name in OWN_OPTIONS else shared
        start = time.perf_counter()
        code = subprocess.run(command, check=False).returncode
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        if code != 0:
            return {"skipped": f"failed with exit code {code}", "figures": []}
        if name in OWN_OPTIONS:
            return {"skipped": "it printed its own table", "figures": []}
        return json.loads(answer.read_text())


def rows(name: str, answer: dict[str, Any]) -> list[list[str]]:
    if answer["skipped"]:
        return [[name, answer["skipped"], "", ""]]
    return [Figure(**figure).row() for figure in answer["figures"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run of seconds each")
    quick = parser.parse_args().quick
    begun = time.perf_counter()
    answers = {name: run_script(name, quick) for name in scripts()}
    cells = [row for name, answer in answers.items() for row in rows(name, answer)]
    kind = "a smoke run: its figures say nothing about the targets" if quick else "a full run"
    text = f"{environment()}\n\nThis is {kind}.\n\n{table(COLUMNS, cells)}\n"
    folder = ROOT / "out" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(text)
    record = {"environment": environment(), "quick": quick, "benchmarks": answers}
    (folder / "results.json").write_text(json.dumps(record, indent=2) + "\n")
    print(f"\n{text}\nIt took {(time.perf_counter() - begun) / 60:.0f} minutes.")
    sys.exit(any("failed" in (answer["skipped"] or "") for answer in answers.values()))


if __name__ == "__main__":
    main()
