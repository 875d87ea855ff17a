"""The house itself: what its modules take from each other, read from their text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import graphkm
import graphkm.baselines
import graphkm.dask

ROOT = Path(__file__).resolve().parent.parent
# Names of named tuples, of notebooks, os._exit, and the check that scikit-learn has for estimators.
FOREIGN = {"_replace", "_asdict", "_make", "_fields", "_repr_html_", "_exit"}
FOREIGN |= {"_check_sample_weight"}
# Where scikit-learn keeps the trees of boosting; it has no other way to them.
FOREIGN |= {"_predictors", "_baseline_prediction"}

if not (ROOT / "reproduction").is_dir():  # tests of a wheel
    pytest.skip("the sources are not here", allow_module_level=True)


def module_name(path):
    """Return the dotted name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_name(path): path
    for folder in (ROOT / "src" / "graphkm", ROOT / "reproduction")
    for path in sorted(folder.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text()) for name, path in FILES.items()}


@cache
def nodes_of(module: str) -> list[ast.AST]:
    """Return all nodes of a module."""
    return list(ast.walk(TREES[module]))


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def is_module(name):
    return name in FILES or name == "graphkm._native"


def source_of(node: ast.ImportFrom, module: str) -> str:
    """Return the full name of what an import takes from."""
    if node.level == 0:
        return node.module or ""
    parts = module.split(".")
    if FILES[module].name != "__init__.py":
        parts = parts[:-1]
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


# --------------------------------------------------------- underscore names


def own_names(module: str) -> set[str]:
    """Return the names that a module gives to anything, attributes included."""
    found = set()
    for node in nodes_of(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


def reaches(module: str) -> Iterator[str]:
    """Yield where a module uses an underscore name of another one."""
    allowed = own_names(module) | FOREIGN
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom):
            source = source_of(node, module)
            taken = [alias.name for alias in node.names if is_private(alias.name)]
            names = [n for n in taken if n not in FOREIGN and not is_module(f"{source}.{n}")]
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = ast.unparse(node.value)
            mine = owner in ("self", "cls", "super()", "type(self)") or node.attr in allowed
            names = [] if mine or is_module(f"{owner}.{node.attr}") else [ast.unparse(node)]
        else:
            continue
        yield from (f"{FILES[module].relative_to(ROOT)}:{node.lineno}: {name}" for name in names)


def test_no_module_uses_an_underscore_name_of_another():
    assert [place for module in TREES for place in reaches(module)] == []


# ------------------------------------------------------------------ circles


def is_for_types(test: ast.expr) -> bool:
    """Return whether a condition is TYPE_CHECKING or typing.TYPE_CHECKING."""
    return getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"


@cache
def imports(module: str) -> dict[str, bool]:
    """Return the modules that one imports, and whether it does so when it is imported itself."""
    inner = set()
    for node in nodes_of(module):
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if later or (isinstance(node, ast.If) and is_for_types(node.test)):
            inner.update(ast.walk(node))
    found: dict[str, bool] = {}
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom):
            source = source_of(node, module)
            names = [f"{source}.{alias.name}" for alias in node.names]
            targets = [name if name in FILES else source for name in names]
        elif isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        else:
            continue
        for target in targets:
            if target in FILES and target != module:
                found[target] = found.get(target, False) or node not in inner
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle; none if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {
        module: {target for target, at_once in imports(module).items() if at_once}
        for module in FILES
    }
    assert circle(graph) == []


def test_no_circle_is_hidden_in_a_function_or_in_type_hints():
    assert circle({module: set(imports(module)) for module in FILES}) == []


# ------------------------------------------------------------------ mutants


def test_the_table_of_mutants_is_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import mutants

    assert [words for mutant in mutants.MUTANTS for words in mutants.complaints(mutant)] == []
    for name in ("mutants", "mutant_table"):
        del sys.modules[name]


# ------------------------------------------------------------------ numbers that decide

ARITHMETIC = {
    "graphkm.backends.cuda": {"_FEW"},  # time
    "graphkm.backends.cuda.cells": {"_TRAINING", "_MOVES", "_TILES", "_BLOCK"},
    "graphkm.backends.cuda.columns": {"_THREADS"},
    "graphkm.backends.cuda.lists": {"LIST", "MORE", "_QUEUE", "_BUSY", "_MOST_LISTS"},
    "graphkm.backends.cuda.modules": {"_NEGLIGIBLE", "TILE", "STAGES", "TILE_BYTES"},
    "graphkm.backends.cuda.rows": {"_SMALL", "WIDTH"},
    "graphkm.backends.cuda.search": {"_BLOCK", "_PILOT", "_ROUGH_LISTS"},
    "graphkm.backends.cuda.store": {"_RBF", "_LAPLACIAN", "_OUTPUTS", "_SIDE", "_WAVES"},
    "graphkm.backends.cuda.tables": {"_SAMPLE", "_WHOLE", "_LARGEST_WHOLE", "HALVES"},
    "graphkm.neighbours.cells": {"_TRAINING", "_MOVES", "_SIDE", "_FAR"},
    "graphkm.neighbours.distances": {"_SLICE"},
    "graphkm.neighbours.distinct": {"_BLOCK"},
    "graphkm.neighbours.exact": {"_PART", "_FAR"},
    "graphkm.neighbours.rounded": {"MOST", "FEW_WANTED", "_NUMBERS", "_GROUPS", "_ROUNDING"},
    "graphkm.neighbours.sparse": {"_WHOLE", "_SPARE", "_FAR", "_STORED"},
    "graphkm.annotators.posterior": {"_TOLD", "_STEPS", "_TURNS", "_CLOSE", "_STEADY"},
    "graphkm.annotators.report": {"_SHOWN"},
    "graphkm.inspection.shares": {"_POINTS", "_STEPS"},  # of Gauss and Legendre
    "graphkm.inspection.column_shares": {"_POINTS", "_STEPS"},
    "graphkm.inspection.conformal": {"_ROUNDING"},
    "graphkm.inspection.law": {"_LOSSES", "_SHARES", "_FAR"},  # of a grid
    "graphkm.inspection.noise": {"_STEPS", "_CLOSE", "_GRID", "_SURE", "_TO_SPREAD"},  # searches
    "graphkm.inspection.doubtful": {"_SHOWN"},
    "graphkm.inspection.doubtful_table": {"_SHOWN"},
    "graphkm.judge.folds": {"_ENOUGH"},  # more cost, and say the same
    "graphkm.judge.mixture": {"_STEPS", "_CLOSE"},  # of expectation maximisation
    "graphkm.judge.columns": {"_STEPS", "_CLOSE", "_NEAR", "_NEWTON"},  # of two searches
    "graphkm.semi.target": {"_FULL", "_TINY"},  # rounding
    "graphkm.semi.class_scores": {"_NEVER", "_ALWAYS"},  # rounding
    "graphkm.semi.ordered": {"_HALF"},  # rounding
    "graphkm.judge.sizes": {"_STEPS", "_CLOSE"},  # of expectation maximisation
    "graphkm.members.averages": {"_COLUMNS", "_ENTRIES"},  # memory
    "graphkm.members.surroundings": {"_SAMPLE"},
    "graphkm.positive.fitting": {"_SURE"},  # rounding
    "graphkm.positive.prior": {"_STEPS"},  # of expectation maximisation
    "graphkm.positive.weighing": {"_LEAST", "_FAR"},  # rounding
    "graphkm.semi.classifier": {"_ENOUGH", "_DOUBT"},  # rounding
    "graphkm.members.models": {"_BINS"},  # of scikit-learn
    "graphkm.members.of_all_rows": {"_MARK"},
    "graphkm.semi.blocks": {"_NUMBERS", "_FEWEST", "_LEAST", "_NONE"},  # sizes of blocks
    "graphkm.gkm.base": {"_GUARANTEED"},
    "graphkm.gkm.regressor": {"_ENOUGH"},
    "graphkm.gkm.partial_fits": {"_ENOUGH"},
    "graphkm.solvers.sgd": {"_SMALL", "_LONG_BLOCK", "_AHEAD", "_BIN", "_TOLERANCE"},
}
"""Numbers of tolerances, marks and blocks, which decide nothing."""


def numbers_of(tree: ast.Module) -> Iterator[str]:
    """Yield the names of constants at the top of a module that hold a number."""
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        holds = any(
            isinstance(part, ast.Constant) and type(part.value) in (int, float)
            for part in ast.walk(node.value)
        )
        for name in ast.walk(ast.Module([ast.Expr(each) for each in targets], [])):
            if holds and isinstance(name, ast.Name) and name.id.isupper():
                yield name.id


def test_every_number_that_decides_stands_on_its_page():
    page = (ROOT / "docs" / "decisions.md").read_text()
    names = ("annotators", "backends.cuda", "cli.part_sample", "dask.part_fit", "gkm")
    names += ("inspection", "judge", "members", "neighbours", "positive", "semi", "solvers.sgd")
    rooms = tuple(f"graphkm.{name}" for name in names)
    listed, found = set(), set()
    for name, tree in TREES.items():
        if name.startswith(rooms):
            own = set(numbers_of(tree)) - ARITHMETIC.get(name, set())
            found |= {(name, number) for number in own}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and cells[2].startswith("`"):
            file, *numbers = (part.strip().strip("`") for part in cells[2].split(","))
            module = "graphkm." + file.removesuffix(".py").replace("/", ".")
            listed |= {(module, number) for number in numbers}
    assert listed == found


def _folders():
    return sorted(path.parent for path in (ROOT / "src" / "graphkm").rglob("__init__.py"))


@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: folder.name)
def test_every_folder_names_its_files(folder):
    """The first words of a folder say what is in it."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    words = set(re.findall(r"\w+", text or ""))
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    folders = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert not sorted((files | folders) - words), folder.name


# ---------------------------------------------------------------- estimators


def _estimators():
    homes = (graphkm, graphkm.baselines, graphkm.dask)
    found = {getattr(home, name) for home in homes for name in home.__all__}
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    return sorted(kinds, key=lambda kind: f"{kind.__module__}.{kind.__name__}")


@pytest.mark.parametrize(
    "kind", _estimators(), ids=lambda kind: kind.__module__ + "." + kind.__name__
)
def test_no_estimator_has_more_than_six_ancestors(kind):
    """Who reads an estimator need not look into many classes; scikit-learn's own root is free."""
    ancestors = [each for each in kind.__mro__[1:] if each not in BaseEstimator.__mro__]
    assert len(ancestors) <= 6, [each.__name__ for each in ancestors]


@pytest.mark.parametrize(
    "kind", _estimators(), ids=lambda kind: kind.__module__ + "." + kind.__name__
)
def test_no_estimator_computes_attributes_by_their_names(kind):
    """`hasattr` of a name that an estimator does not have would start the work."""
    assert not hasattr(kind, "__getattr__")


# ------------------------------------------------------------ nothing is left


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no clone")
def test_no_data_was_committed_at_the_root():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    found = [Path(name) for name in listed.stdout.splitlines() if "/" not in name]
    data = {".csv", ".json", ".jsonl", ".npz", ".npy", ".gkm", ".parquet", ".png", ".html"}
    assert found
    assert [path.name for path in found if path.suffix in data] == []
