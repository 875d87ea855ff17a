"""The paper's experiments: run as cells, kept in a ledger, written as a report.

``python -m reproduction run NAME`` runs an experiment and ``python -m reproduction report DIR``
writes its tables and plots. The package stands beside `graphkm`, which knows nothing of it.

===============  ==================================================================
command          the command line
experiments      which cells make up each table and figure
cells, protocol  one piece of work; how all of them are run
sets             the data sets, their splits and seeds
methods, gkm     what is compared; the paper's objective and solver
self_training    Self-KNN, one of the compared methods
tuning           the choice of parameters by cross-validation
fitting          what a cell that chooses or fits measures
figures          what a cell of Figure 1 or 2 computes
isolation        one process per cell, with limits
schedule         which cell can run now
runner           runs the cells side by side
ledger           the file of results; environment: what they are made with
paper            the paper's own numbers
report           tables and plots in Markdown
===============  ==================================================================
"""
