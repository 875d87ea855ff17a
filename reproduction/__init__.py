"""The paper's experiments.

``python -m reproduction run NAME`` runs an experiment and ``python -m reproduction report DIR``
writes its tables and plots. This package uses `graphkm`; `graphkm` does not use it.

===============  ==================================================================
command          the command line
experiments      which cells make up each table and figure
cells, protocol  one piece of work; the settings that all of them share
sets             the data sets, their splits and seeds
methods          what is compared
tuning           the choice of parameters by cross-validation
fitting          what a cell that chooses or fits measures
figures          what a cell of Figure 1 or 2 computes
isolation        one process per cell, with limits
schedule         which cell can run now
runner           runs the cells side by side
ledger           the file of results
paper            the paper's own numbers
report           CSV files, then tables and plots in Markdown
===============  ==================================================================
"""
