"""Why this answer, how sure, which labels look wrong, and which rows belong to no class.

==========  ==================================================================
held        what a fit said of its labelled rows without having seen their labels
==========  ==================================================================
"""
