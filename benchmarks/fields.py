"""Many rows: the front door's accuracy on hidden and on new rows, and what it costs.

    pip install -r benchmarks/requirements.txt     # the peers, beside this library
    python benchmarks/fields.py [--part main,peers,bases,growth] [--sets mnist,ijcnn1] [--seeds 3]
    python benchmarks/fields.py --report           # tables of what is there
    python benchmarks/fields.py --report --store && make tables     # and into the pages

The sets are read from the folder GRAPHKM_DATA; one that is not there is skipped. Of every set 90 %
of the rows are for training. Labels are a tenth of these, or 50 or 200 of them, drawn at random;
100 and 500 are drawn class by class.
"hidden" is the accuracy on training rows whose labels were hidden, "test" that on the other tenth
of the rows, which no fit has seen.

Every fit runs in a process of its own and adds one line to out/fields/results.jsonl at once; what
is there already is not run again. CPU seconds are those of `fit` with everything in it: neighbours,
the members, their held-out predictions, the weights. Memory is the rise of the process's
peak during `fit`.

`main` compares `SemiSupervisedClassifier()`, and `GKMClassifier()`, with an SVC whose gamma and C
are chosen by grid search on the labels. `peers` runs the rivals of `few_labels` on the first draw;
each may take ten times the CPU time of our classifier there. `bases` passes one model as the
estimator, beside the graph. `anchors` prints mean accuracies on anchors (of MNIST 20,000 of them).
`growth` doubles the rows of a drawn set. `sharpness` prints fields alone for several weights of the
edges, and `sharp_anchors` the front door on anchors for two. "ece" in a line of results is the
expected calibration error of `predict_proba` on test rows.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from _common import ROOT
from fields.anchors import anchors, sharp_anchors
from fields.drawn import growth, newton_weights, sharpness
from fields.report import report
from fields.running import run

OUT = ROOT / "out" / "fields"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--part", default="main,peers,bases", help="main, peers, bases, anchors, growth, ..."
    )
    parser.add_argument("--sets", help="mushrooms,mnist,...; all by default")
    parser.add_argument("--labels", help="50,200,100,500,10%%; all by default")
    parser.add_argument("--methods", help="own,gkm,tuned svc,forest,...; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--store", action="store_true", help="put the report into the pages' files")
    arguments = parser.parse_args()
    results = arguments.out / "results.jsonl"
    if arguments.report:
        report(results, arguments.store)
        raise SystemExit
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    parts = arguments.part.split(",")
    asked = {"set": arguments.sets, "n": arguments.labels, "method": arguments.methods}
    chosen = {name: text.split(",") for name, text in asked.items() if text}
    draws = range(arguments.first, arguments.first + arguments.seeds)
    run(parts, chosen, draws, results)
    if "anchors" in parts:
        anchors(results, draws, chosen.get("set"))
    if "sharp_anchors" in parts:
        sharp_anchors(draws, chosen.get("set"))
    if "sharpness" in parts:
        sharpness()
        newton_weights()
    if "growth" in parts:
        growth(results)
