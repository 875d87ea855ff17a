"""The command `graphkm`. It knows files and words; the packages it calls do the work.

=============  =============================================================================
=======
=============  =====================================================================================
app            the command, its sub-commands, `main`
train, ...     `train`; likewise predict, evaluate, search, stream, info, export, demo,
               datasets
options        options that several sub-commands share, each written once
errors         exit codes, and errors as one sentence in the words of the command line
tables         files of rows: opened for learning, or for a model that knows its columns
rows           whole files as arrays, what their labels mean, rows held out
models         estimators and scalers from options, and the files that models are kept in
file_note      what a model file says about the files its model was trained on
output         summaries, JSON, progress; output files that are there whole or not at all
streaming      a stream from a file to a model, tested before it is learnt, resumed
survey         one look through a file before it is streamed
=============  =====================================================================================

Only typer is imported until a sub-command runs: help and completion do not wait for scikit-learn.
"""

from .app import main

__all__ = ["main"]
