"""LAMDA-SSL's LapSVM or TSVM on one problem, in LAMDA-SSL's own environment.

Run by `baselines.py` and the leaderboard with another Python: it knows nothing of graphkm.
Arguments: the method, a file of arrays (X, y with -1 where unlabelled, truth), options as JSON, and
a number of fits. Prints JSON: CPU seconds of the fastest fit, labels of the unlabelled rows, and
the share of these that is wrong.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def make(method, options):
    if method == "LapSVM":
        from LAMDA_SSL.Algorithm.Classification.LapSVM import LapSVM

        return LapSVM(**options)
    from LAMDA_SSL.Algorithm.Classification.TSVM import TSVM

    return TSVM(**options)


def main():
    method, file, options, repeats = sys.argv[1:5]
    data = np.load(file)
    X, y, truth = data["X"], data["y"], data["truth"]
    known = y >= 0
    times = []
    for _ in range(int(repeats)):
        model = make(method, json.loads(options))
        start = time.process_time()
        model.fit(X[known], y[known].astype(float), X[~known])
        times.append(time.process_time() - start)
    # TSVM answers for the rows it was fitted to.
    predicted = np.ravel(model.predict() if method == "TSVM" else model.predict(X[~known]))
    error = float(np.mean(predicted != truth[~known]))
    answer = {"seconds": min(times), "error": error, "predicted": predicted.astype(int).tolist()}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
