"""The library and its rivals on many sets, with one protocol; the command is in `__main__.py`.

sets        `cells.py`, `row_sets.py`, `other_sets.py`, `sets.py`
methods     `methods.py` names those of the files `*_methods.py`; `problem.py` is what they get,
            `tuning.py` and `neighbours.py` are what they share
fits        `running.py` runs them under limits
results     `results.py` is the file, `report.py`, `tables.py` and `plot.py` show it
"""
