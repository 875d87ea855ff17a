"""Tables of any content to rows of numbers, for the command line and for the labelling page.

===============  ===========================================================================
naming           columns that are found by their names
whole_tables     whole files: numbers by the compiled parser, any other table by cells
treatments       what becomes of columns: numbers, categories, dates; what is left out; gaps
labels           labels of the rows of a table
label_kinds      what labels are: numbers, however they are written, or words
several_labels   several labels of a row: a column for each, or names in one column
useless_columns  columns with one value, and columns that look like identifiers
preparing        imputers, encoders and scalers that make numbers of columns
encoders         the usual views of texts and of pictures
folders          folders of pictures or text files as rows
===============  ===========================================================================

`graphkm.io` reads the cells, and knows what they hold.
"""
