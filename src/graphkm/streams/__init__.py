"""Rows that come once and in pieces.

==========  ==============================================================
sgd         `StreamSolver`: the stochastic steps on such rows
edges       the edges of these steps
sums        `SumsStreamSolver`: least squares on landmarks
sums_state  the state of these: saved, restored, undone
landmarks   the landmarks of a stream, and when they are replaced
reservoir   which rows of a stream are kept, at every moment of it
schedule    how many steps a stream takes
==========  ==============================================================
"""
