"""Models as files, and in the formats of other programs.

==============  ============================================================================
files           `save_model`, `load_model`, `read_note`: every estimator here, or a pipeline
models          one table: what each kind of model consists of, and how it is restored
machines        the state of a kernel machine or a stream, and its checks
fields          the state of a field and of its nodes, and its checks
mixtures        the state of the front door's mixture, and its checks
scalers         scalers before a model
preparations    imputers and encoders before a model, column by column
skops_files     mixtures with models of scikit-learn, as the command line keeps them
codec           values as JSON and arrays
container       JSON and arrays as bytes
libsvm_writing  `to_libsvm`: for `svm-predict`
libsvm_reading  `from_libsvm`: what `svm-train` wrote
onnx            `to_onnx`: for ONNX runtimes (``pip install "graphkm[onnx]"``)
onnx_nodes      nodes and constants of such a graph; `onnx_probabilities` adds probabilities
pairwise        `PairwiseClassifier`: several classes by votes of pairs, as in LIBSVM
plain           what other programs need of a model
==============  ============================================================================
"""

from .container import ModelFileError
from .files import load_model, read_note, save_model
from .libsvm_reading import from_libsvm
from .libsvm_writing import to_libsvm
from .onnx import to_onnx
from .pairwise import PairwiseClassifier

__all__ = [
    "ModelFileError",
    "PairwiseClassifier",
    "from_libsvm",
    "load_model",
    "read_note",
    "save_model",
    "to_libsvm",
    "to_onnx",
]
