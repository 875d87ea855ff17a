"""A machine-learning backend for Label Studio: it predicts, and learns from every annotation.

========  ======================================================================================
journal   what Label Studio has told, on disk before it is acknowledged
project   tasks, annotations and the labelling interface of one project
models    models of projects: fitted in a thread, kept in files, asked for predictions
server    addresses, as label-studio-ml has them, and who may speak to them
========  ======================================================================================

How a model is fitted and written comes in from the command line as functions.
"""
