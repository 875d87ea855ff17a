"""Fields: functions on the nodes of a graph that change little along its edges.

==========  ==============================================================
system      fields, and their linear systems
kernel      the kernel of a field at labelled rows
spectra     leading eigenvectors: functions that hardly change along edges
sized_cuts  cuts of a graph into classes whose sizes are known
==========  ==============================================================
"""
