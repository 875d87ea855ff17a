"""Small helpers that every layer may use. None of them knows about learning.

===========  ==============================================================
files        files that are written whole or not at all
growing      files that grow at their end, for one process at a time
increasing   the zero of an increasing function
memory       how much memory there is, and what fits into it
order        rows sorted by what they hold
parameters   checks of parameters
parts        parts of estimators: compared, printed, made with other values
progress     bars and callbacks
spread       how far rows lie apart; outliers do not count
threads      how many threads a product of matrices is worth
warnings     warnings of one thread: hidden, or collected
when_read    attributes that are computed when they are first read
===========  ==============================================================
"""
