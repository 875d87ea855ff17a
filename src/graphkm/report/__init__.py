"""A report on a model as one page: what it learnt from, how good it is, and what looks wrong.

===========  ====================================================================
page         `report_page`: the whole page
subject      the model and the rows that a page is about
html         elements, with every text escaped
style        how the page looks, on screens and on paper
charts       charts as SVG
pictures     pictures of rows
data         rows, columns and classes
members      the members, the held-out score, and what unlabelled rows gained
calibration  probabilities beside how often they come true
errors       which classes are taken for each other; how far quantities are off
ranges       sets of classes, and intervals of quantities
growth       how the score grows with labels
doubts       labels that look wrong
novel        rows of no known class
===========  ====================================================================

The page has no script and takes nothing from a network.
"""

from .page import report_page
from .subject import Subject

__all__ = ["Subject", "report_page"]
