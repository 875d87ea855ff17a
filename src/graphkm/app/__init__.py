"""The labelling page: a person answers, the most useful rows first, and a model learns live.

=================  ==============================================================
material           rows, as a model learns from them and as the page shows them
reading            makes material from files and folders
table_material     tables, prepared as `graphkm train` prepares them
features           the features of a table, and what the page says of them
encoded_columns    a table's column of texts, or of paths of pictures
folder_material    folders of pictures or of text files
encoding           texts and pictures as vectors
neighbours         the labelled rows that are most alike a row, by these vectors
images             which image belongs to a row, and nothing outside its folder
journal            answers on disk before they are acknowledged, and names of classes
journal_file       the file behind it: lines that are only ever added
journal_lines      lines of the journal, with checksums
label_file         the file of labels, which follows from the journal
standing           which answers stand: those of each person, and what rows are
reserving          which rows are on whose screen
classes            the classes that a person may answer
targets            what labels are: one class, several labels, or a quantity
landmarks          kernel ridge on landmarks, which one answer corrects quickly
live_model         a model that is fitted in milliseconds, with held-out scores
judging            how good it is, and which labels it doubts
review             labels that look wrong, with the nearest labelled rows
outlook            what more labels would give
people             how reliable people are, and which rows need a second answer
learning           the thread that fits it after every answer
progress           the curve of accuracy, and whether predictions are steady
places             where rows are on the map
ground             what follows from the rows alone: graph, map, texts
texts              what rows say
team               what all people share
session            the labelling as one person sees it
searching          rows that a person looks for
guidelines         Markdown beside the rows, as parts and never as markup
visitors           a public demo that saves nothing
saving             models and predictions that a person asks for
links              personal links: the secret says who somebody is
knocking           how often an address may try a wrong secret
security           secrets, Host, Origin, headers
server             the pages and their addresses
=================  ==============================================================
"""
