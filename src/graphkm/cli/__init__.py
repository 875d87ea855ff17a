"""The command `graphkm`: what it can do is in the packages it calls.

=====================  =============================================================================
app                    the command, its sub-commands, `main`
options, grouping      what several sub-commands can be told, each said once
errors                 exit codes, and errors as one sentence in the words of the command line
train, ...             `train`; likewise predict, evaluate, search, stream, info, export, demo,
                       datasets
tables                 files that have been looked into, as pieces of rows
*_table                what that means for CSV, LIBSVM and Parquet
layout, dropping       which columns are features and which is the label; CSV without some columns
rows                   whole files as arrays, and what their labels say about the task
memory, model_files    what a model file remembers of the files it was trained on
methods, scaling       estimators and scalers from options
fitting, scores        fits with rows held out; how good predictions are
streaming, survey      a stream from a file to a model; one look through it before
resuming, prequential  what a stream was begun with; how predictions did before rows were learnt
describing, printing   rows and models in words, JSON for programs, progress
writing                output files that are there whole or not at all
=====================  =============================================================================

Only typer is imported until a sub-command runs: help and completion do not wait for scikit-learn.
"""

from .app import main

__all__ = ["main"]
