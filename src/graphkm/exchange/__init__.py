"""Models that travel: safe files of the library's own, and the formats of other programs.

==============  ============================================================================
files           `save_model`, `load_model`, `read_note`: every estimator here, scaled or not
libsvm_writing  `to_libsvm`: for `svm-predict`
libsvm_reading  `from_libsvm`: what `svm-train` wrote
onnx_graph      `to_onnx`: for runtimes of ONNX (``pip install "graphkm[onnx]"``)
pairwise        `PairwiseClassifier`: LIBSVM's way with several classes
plain           what other programs need of a model
==============  ============================================================================
"""

from .._container import ModelFileError
from .files import load_model, read_note, save_model
from .libsvm_reading import from_libsvm
from .libsvm_writing import to_libsvm
from .onnx_graph import to_onnx
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
