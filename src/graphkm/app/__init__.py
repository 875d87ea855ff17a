"""The labelling page: a person answers, the most useful rows first, and a model learns live.

=================  ==============================================================
material           rows, as a model learns from them and as the page shows them
reading            makes material from files and folders
table_material     tables, prepared as `graphkm train` prepares them
texts              tables with a column of texts
images             which image belongs to a row, and nothing outside its folder
journal            answers on disk before they are acknowledged
classes            the classes that a person may answer
landmarks          kernel ridge on landmarks, which one answer corrects quickly
live_model         a model that is fitted in milliseconds, with held-out scores
learning           the thread that fits it after every answer
places             where rows are on the map
session            the state that all tabs see
security           token, Host, Origin, headers
server             the pages and their addresses
=================  ==============================================================
"""
