"""What every layer may use, and none of it knows of learning.

===========  ==============================================================
files        files that are written whole or not at all
increasing   the zero of an increasing function
memory       how much memory there is, and what fits into it
order        an order of rows that follows from what they hold
parameters   checks of parameters
parts        parts of estimators: compared, printed, made with other values
progress     bars and callbacks
spread       how far rows spread, without a cliff at outliers
threads      how many threads a product of matrices is worth
warnings     warnings that are not for the caller
when_read    attributes that are computed when they are first read
===========  ==============================================================
"""
