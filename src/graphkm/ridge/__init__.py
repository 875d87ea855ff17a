"""Least squares with a ridge: sums over rows, factors, and fits without some labels.

sums      sums over rows: added, scaled, solved, judged; pure functions
factors   linear systems; where rounding makes it necessary, the diagonal is raised
left_out  ridge regressions, and what they predict for a row without its label
========  ==================================================================
=======
=========  ==================================================================
sums       sums over rows: added, scaled, solved, judged; pure functions
factors    linear systems; where rounding makes it necessary, the diagonal is raised
landmarks  kernel ridge fits on landmarks, from sums over rows in parts
left_out   ridge regressions, and what they predict for a row without its label
=========  ==================================================================
"""
