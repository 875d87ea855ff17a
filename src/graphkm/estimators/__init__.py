"""What all estimators share.

===================  ==============================================================
kernel_machine       `KernelMachine`: validation, the fitted f, predictions
nested_parameters    `Composed`: parameters that are parts
given_rows           rows and labels as they are given, checked
array_kinds          rows of CuPy and torch come in, and answers go back to them
labels, classes      which rows are labelled; classes as outputs
class_weights        weights of classes
targets              quantities in units of their spread
calibration          `Calibration`: scores as probabilities
data_checks          looks at the data before the work begins; `GraphWarning`
transduction         the labels of training rows, which a fitted model remembers
===================  ==============================================================
"""

from .calibration import Calibration
from .data_checks import GraphWarning, UnderflowError

__all__ = ["Calibration", "GraphWarning", "UnderflowError"]
