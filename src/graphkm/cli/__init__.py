"""The command `graphkm`. It reads files and words; the packages it calls do the work.

=============  =====================================================================================
app            the command, its sub-commands, `main`
train, ...     `train`; likewise predict, evaluate, explain, report, suggest, screen, label,
               convert, label_studio_backend, stream, info, export, demo, datasets, doctor
random_draw    rows in a random order, which tell screen what is missed
options        options that several sub-commands share, each written once
fit_options    options that are parameters of estimators
spreading      groups of options as parameters of sub-commands
errors         exit codes; errors as one sentence that names options
opening        files, opened as options say: format, encoding, delimiter
row_files      rows of an open file: for learning, or for a model that knows its columns
row_table      an open file or folder of rows
libsvm_rows    rows of LIBSVM files
folder_rows    pictures or text files in a folder, as rows for a model
folder_training  the same to learn from
views          encoders of texts and pictures
whole_files    whole files to learn from, and the note on their columns
column_choice  which columns of a table are read
note_lines     what summaries say of the label's column, of edges and of encoders
preparing      a table's preparation and its estimator in one pipeline
starting       scikit-learn, imported without the packages that few commands use
first_model    a model from before, which chooses the first rows of the labelling page
label_saving   a model of the labels so far, which the labelling page saves
label_team     what is labelled, and by whom
label_classes  what is labelled on the page
label_people   who answers
label_content  the rows of the page: texts, pictures and their encoder
label_serving  where the labelling page is
label_ways_in  links of people, the look of the page, visitors of a demo
label_predictions  what a saved model says of all rows of the labelling page
labelled_rows  all rows that the labelling page has shown, with their labels and skips
guesses        what a model says of rows that come from another tool
studio_models  models of a Label Studio project
json_rows      rows of other tools' JSON as a table, for commands that read rows
categories     categories of a file that its model does not know
learning_rows  whole files as arrays, the task that their labels ask for
label_columns  several labels or quantities: their options, and what their columns hold
row_summary    what summaries say of the rows to learn from
holding_out    labelled rows to test a model on
prediction_rows  rows of predictions, and the names of their columns
dask_options   options of work with worker processes
part_sample    a sample of many files, from which the preparation of columns is learnt
part_training  a model of many files, read in parts by worker processes
part_summary   the file of such a model, and what is told of it
part_predictions  predictions of many files: a file for each part
further_columns  columns of predictions that say how sure they are
several_answers  several labels or quantities as columns of an output
several_scores  how good a model of several labels or quantities is
row_ids        what edges call rows: the cells of the column that --id names
edge_files     files of edges
joining        graphs of the rows to learn from
links          edges of new rows to the rows that a model knows
estimators     estimators made from options
model_files    model files and the notes in them
subjects       a model and rows of a file, for what held-out labels tell
doubts         labels of a model that look wrong
gains          what held-out labels say of a model and of its unlabelled rows
output         summaries, JSON, progress; output files that are complete or absent
stream_training  a stream from a file to a model: surveyed, tested, learnt, resumed
=============  =====================================================================================

Only typer is imported until a sub-command runs: help and completion do not wait for scikit-learn.
"""

from .app import main

__all__ = ["main"]
