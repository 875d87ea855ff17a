"""Models as files, and in the formats of other programs.

==================  ========================================================================
files               `save_model`, `load_model`, `read_note`: every estimator here, or a pipeline
storable            one table: what each kind of model consists of, and how it is restored
state_machines      the state of a kernel machine or a stream, and its checks
state_gkm           the state of a `GKMClassifier` or `GKMRegressor`
state_fields        the state of a field and of its nodes, and its checks
state_mixtures      the state of the front door's mixture, and its checks
state_views         the views that it sees, and their mixtures
state_names         a model that compares rows with names of labels
state_positive      a model of positive and unlabelled rows
state_encoders      encoders of texts and images
state_streams       the state of a stream of sums, and its checks
state_scalers       scalers before a model
state_preparations  imputers and encoders before a model, column by column
skops_files         mixtures with models of scikit-learn, as the command line keeps them
codec               values as JSON and arrays
container           JSON and arrays as bytes
kernel_form         what other programs need of a kernel machine
libsvm_writing      `to_libsvm`: for `svm-predict`
libsvm_reading      `from_libsvm`: what `svm-train` wrote
pairwise            `PairwiseClassifier`: several classes by votes of pairs, as in LIBSVM
onnx                `to_onnx`: for ONNX runtimes (``pip install "graphkm[onnx]"``)
onnx_nodes          nodes and constants of such a graph
onnx_machines       kernel machines in it
onnx_probabilities  their probabilities
onnx_mixtures       the front door's mixture
onnx_members        its models, whatever they are
onnx_lines          linear models
onnx_trees          trees, forests and boosting
onnx_fields         fields on nodes
onnx_scalers        scalers
==================  ========================================================================
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
