"""Least squares with a ridge: sums over rows, factors, and fits without some labels.

=========  ==================================================================
sums       sums over rows: added, scaled, solved, judged; pure functions
factors    linear systems whose diagonal is raised where it must be
landmarks  kernel ridge fits on landmarks, from sums over rows in parts
left_out   ridge regressions, and what they say of a row without its label
=========  ==================================================================
"""
