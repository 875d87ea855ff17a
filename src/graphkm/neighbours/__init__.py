"""The nearest rows of every row.

===========  ==============================================================
index        `NeighbourIndex`, `Neighbours`: the nearest rows of every row, or of new ones
arguments    checks of rows and of numbers of neighbours
exact        the search among dense rows: by scikit-learn, or compiled for a few queries
rounded      the exact search among some thousand dense rows, by products in single precision
cells        the approximate search: rows lie in cells, and only near cells are read
recall       how many cells must be read, by the true neighbours of a sample
on_device    the search of a card: exact, or in cells where that takes too long
sparse       the search among sparse rows
candidates   distances in float64 decide among the rows that a search proposes
distances    squared distances and Gaussian weights of pairs of rows
distinct     which rows are copies of others
===========  ==============================================================
"""

from .index import NeighbourIndex, Neighbours

__all__ = ["NeighbourIndex", "Neighbours"]
