"""
Exporting: files, LIBSVM, ONNX
==============================

A fitted model leaves Python in three ways: as a file of the library's own, which holds numbers and
texts and no code; in LIBSVM's format, for ``svm-predict``; and as an ONNX graph, for runtimes in
other languages. Each must decide as the model does.
"""

import pathlib
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import GKMClassifier
from graphkm.datasets import hide_labels, make_two_moons
from graphkm.exchange import from_libsvm, load_model, save_model, to_libsvm, to_onnx

X, truth = make_two_moons(500, noise=0.1, random_state=0)
X = X @ [[3.0, 0.0], [0.0, 0.2]]  # columns of different scale, so that scaling matters
y = hide_labels(truth, n_per_class=5, random_state=0)
model = make_pipeline(StandardScaler(), GKMClassifier(random_state=0)).fit(X, y)
X_new = make_two_moons(1000, noise=0.1, random_state=1)[0] @ [[3.0, 0.0], [0.0, 0.2]]
scores = model.decision_function(X_new)
folder = pathlib.Path(tempfile.mkdtemp())

# %%
# A file of the library's own
# ---------------------------
# The scaler is saved with the model, and the model that is loaded predicts the same bits. Unlike a
# pickle, a file from strangers is safe to read: nothing in it is executed.

save_model(model, folder / "moons.gkm", note={"trained on": "two moons"})
same = load_model(folder / "moons.gkm").decision_function(X_new)
print(f"own file: {(folder / 'moons.gkm').stat().st_size:,} bytes, ", end="")
print(f"largest difference {np.abs(same - scores).max():.1e}")

# %%
# LIBSVM
# ------
# LIBSVM's models do not scale their input. ``ranges`` is a file for ``svm-scale -r``; here the rows
# are scaled by the pipeline's own step.

to_libsvm(model, folder / "moons.model", ranges=folder / "moons.range")
read = from_libsvm(folder / "moons.model", n_features=2)
from_text = read.decision_function(model[0].transform(X_new))
agreement = np.mean(read.predict(model[0].transform(X_new)) == model.predict(X_new))
print(f"LIBSVM:   {(folder / 'moons.model').stat().st_size:,} bytes, ", end="")
print(f"largest difference {np.abs(from_text - scores).max():.1e}, ", end="")
print(f"same label {agreement:.1%}")

# %%
# ONNX
# ----
# The graph contains the scaling. Its input and output are in single precision. Writing it needs the
# extra ``graphkm[onnx]``, running it a runtime such as onnxruntime; without them this part is left
# out.

differences = {"own file": np.abs(same - scores)}
differences["LIBSVM"] = np.abs(from_text - scores)
try:
    import onnxruntime

    to_onnx(model, folder / "moons.onnx")
except ImportError as missing:
    print(f"ONNX:     left out, {missing}")
else:
    session = onnxruntime.InferenceSession(folder / "moons.onnx")
    label, by_runtime = session.run(["label", "scores"], {"X": X_new.astype(np.float32)})
    differences["ONNX"] = np.abs(by_runtime.ravel() - scores)
    print(f"ONNX:     {(folder / 'moons.onnx').stat().st_size:,} bytes, ", end="")
    print(f"largest difference {differences['ONNX'].max():.1e}, ", end="")
    print(f"same label {np.mean(label == model.predict(X_new)):.1%}")

# %%
# The picture shows how far the scores of a thousand new rows are from the model's. From the
# library's own file they are the same; the others differ by rounding.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, values in differences.items():
    share = np.arange(1, len(values) + 1) / len(values)
    ax.step(np.maximum(np.sort(values), 1e-17), 100 * share, label=name, lw=2)
ax.set(xscale="log", xlim=(3e-18, 1e-2))
ax.set(xlabel="difference of scores (0 is drawn at 1e-17)", ylabel="rows, %")
ax.grid(alpha=0.3)
ax.legend(loc="lower right")
plt.show()
