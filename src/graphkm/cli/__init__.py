"""The command `graphkm`: what it can do is in the packages it calls.

=============  ==========================================================================
app            the command, its sub-commands, `main`
options        what several sub-commands can be told, each said once
errors         exit codes, and errors as one sentence in the words of the command line
train          `graphkm train`; likewise predict, evaluate, search, stream, info, export, demo
paper          `graphkm reproduce`, `report` and `datasets`
tables         files that have been looked into: LIBSVM, CSV, Parquet as pieces of rows
layout         which columns are features, in which order, and which one is the label
dropping       CSV without some of its columns
memory         what a model file remembers of the files it was trained on
rows           whole files as arrays, and what their labels say about the task
methods        estimators from options
scaling        scalers from options
scores         how good predictions are
writing        output files that are there whole or not at all
printing       summaries for people, JSON for programs, progress
=============  ==========================================================================

Only typer is imported until a sub-command runs: help and completion do not wait for scikit-learn.
"""

from .app import main

__all__ = ["main"]
