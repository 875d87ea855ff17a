"""Files of other labelling tools: round trips, their own files, and what is refused."""

import json
import string
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphkm.formats import (
    FORMATS,
    Annotations,
    AnnotationsError,
    Answer,
    Guess,
    Row,
    read_annotations,
    write_annotations,
)
from graphkm.formats.files import renamed
from graphkm.formats.label_config import read_config, write_config
from graphkm.formats.shape import numbered
from graphkm.io.kinds import label_word

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["a\nb", "\r\n", '"', 'x","y', " a ", "", "-", ";", "é\u2028ü", "=1+1", "NA", "\t", "0012"]
)
CLASSES = (
    st.text(st.characters(codec="utf-8", exclude_characters=";"), min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda name: name and name != "-" and label_word(name, None) is not None)
)
COLUMNS = st.lists(
    st.sampled_from(["file_name", "text", "größe", "a b", "x,y", "Ort"]), unique=True
)
PEOPLE = [None, "eva", "7", "tom@example.org", "Zoë", "3a"]
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)


def values_of(kind, names):
    """Return a strategy for values of a kind."""
    if kind == "quantity":
        return NUMBERS
    one = st.sampled_from(names)
    return (
        one.map(lambda name: (name,)) if kind == "class" else st.lists(one, unique=True).map(tuple)
    )


@st.composite
def annotations(draw):
    """Draw rows with answers, skips, predictions and ids, or without any."""
    kind = draw(st.sampled_from(["class", "several", "quantity"]))
    names = draw(st.lists(CLASSES, min_size=1, max_size=4, unique=True))
    columns = ["file_name", *(c for c in draw(COLUMNS) if c != "file_name")]
    value = values_of(kind, names)
    ids = draw(st.none() | st.just("whole") | st.just("texts"))
    score = st.none() | st.floats(0, 1)
    rows = []
    for k in range(draw(st.integers(1, 4))):
        people = draw(st.lists(st.sampled_from(PEOPLE), unique=True, max_size=3))
        answers = []
        for who in people:
            status = draw(st.sampled_from(["given", "given", "skipped", "unknown"]))
            answers.append(Answer(draw(value) if status == "given" else None, who, status))
        guesses = draw(
            st.lists(st.builds(Guess, value, score, st.none() | st.just("m 1")), max_size=2)
        )
        cells = {name: draw(TEXTS) for name in columns} | {"file_name": f"{k}.png"}
        id = {None: None, "whole": str(10 * k + 1), "texts": f"é{k}"}[ids]
        rows.append(Row(cells, id, tuple(answers), tuple(guesses)))
    return Annotations(rows, "label", kind)


def what_is_carried(found, format):
    """Return what a format has a place for: the rest is named in notes."""
    rows = numbered(found.rows)
    if format == "label-studio-min":
        marked = numbered([*found.rows, Row({}, "")])[:-1]
        rows = [
            replace(r, answers=tuple(a for a in r.answers if a.value is not None), guesses=())
            for r in marked
        ]
    if format.startswith("argilla"):
        rows = [
            replace(
                r,
                answers=tuple(
                    replace(a, status="skipped") if a.value is None else a for a in r.answers
                ),
                guesses=r.guesses[:1],
            )
            for r in found.rows
        ]
    if format == "label-studio":
        rows = found.rows
    if format == "coco":
        whole = [r.id is not None and r.id.isascii() and r.id.isdecimal() for r in found.rows]
        rows = [
            replace(
                r,
                id=r.id if all(whole) else str(k),
                answers=tuple(a for a in r.answers if a.value),
                guesses=(),
            )
            for k, r in enumerate(found.rows, 1)
        ]
    return rows


def loses(found, format):
    """Return whether a format cannot carry all: then it must say so."""
    answers = [a for r in found.rows for a in r.answers]
    guesses = [len(r.guesses) for r in found.rows]
    skips = any(a.value is None for a in answers)
    if format == "label-studio-min":
        return skips or any(guesses)
    if format.startswith("argilla"):
        return any(a.status == "unknown" for a in answers) or max(guesses) > 1
    if format == "coco":
        ids = [r.id for r in found.rows]
        odd = any(id is not None for id in ids) and not all(id and id.isdecimal() for id in ids)
        return skips or any(guesses) or any(a.value == () for a in answers) or odd
    return False


@pytest.mark.dear
@pytest.mark.parametrize("format", FORMATS)
def test_a_round_trip_through_a_table_loses_nothing(format, tmp_path):
    @settings(max_examples=12, deadline=None)
    @given(annotations())
    def trip(found):
        if format == "coco" and found.kind == "quantity":
            with pytest.raises(AnnotationsError, match="quantities"):
                write_annotations(found, tmp_path / "a.json", format)
            return
        # From a table to the format, and back to a table.
        table = tmp_path / "labels.csv"
        assert write_annotations(found, table, "csv") == ()
        start = read_annotations(table, "csv", kind=found.kind)
        assert start.rows == numbered(found.rows)
        notes = write_annotations(start, tmp_path / "other", format)
        assert bool(notes) == loses(start, format)
        back = read_annotations(tmp_path / "other", format, kind=found.kind)
        want = what_is_carried(start, format)
        assert back.rows == want
        write_annotations(back, tmp_path / "again.csv", "csv")
        again = read_annotations(tmp_path / "again.csv", "csv", kind=found.kind)
        assert again.rows == numbered(want)

    trip()


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "argilla-jsonl"])
def test_the_format_of_a_file_is_known_by_its_text(format, tmp_path):
    rows = [
        Row({"file": "a.png", "n": "3"}, "1", (Answer(("cat", "dog"), "2"),)),
        Row({"file": "b.png"}),
    ]
    found = Annotations(rows, "label", "several")
    write_annotations(found, tmp_path / "x", format)
    back = read_annotations(tmp_path / "x")
    assert back.kind == "several"
    assert back.rows[0].answers == rows[0].answers
    assert len(back.rows) == 2


def test_values_of_json_keep_their_types_between_json_formats(tmp_path):
    rows = [Row({"n": 1.5, "on": True, "list": [1, {"é": None}], "none": None, "text": "x"}, "1")]
    for format in ("label-studio", "prodigy"):
        write_annotations(Annotations(rows), tmp_path / "x.json", format)
        assert read_annotations(tmp_path / "x.json").rows == rows
    write_annotations(Annotations(rows), tmp_path / "x.csv", "csv")
    [row] = read_annotations(tmp_path / "x.csv").rows
    assert row.cells == {
        "n": "1.5",
        "on": "true",
        "list": '[1, {"é": null}]',
        "none": "",
        "text": "x",
    }


# --------------------------------------------------------- files as the tools write them

TASK = {  # https://labelstud.io/guide/task_format, with Choices in the place of boxes
    "id": 1,
    "created_at": "2021-03-09T21:52:49.513742Z",
    "updated_at": "2021-03-09T22:16:08.746926Z",
    "project": 83,
    "data": {"text": "Opossums are great"},
    "annotations": [
        {
            "id": "1001",
            "result": [
                {
                    "from_name": "tag", "id": "Dx_aB91ISN", "source": "$text", "to_name": "txt",
                    "type": "choices", "value": {"choices": ["Positive"]},
                }
            ],
            "was_cancelled": False, "ground_truth": False, "lead_time": 4.288,
            "result_count": 0, "task": 1, "completed_by": 10,
        },
        {"id": "1002", "result": [], "was_cancelled": True, "completed_by": {"email": "a@b.org"}},
        {"id": "1003", "result": [], "was_cancelled": False, "completed_by": 11},
    ],
    "predictions": [
        {
            "created_ago": "3 hours", "model_version": "model 1", "score": 0.83,
            "result": [
                {"from_name": "tag", "to_name": "txt", "type": "choices",
                 "value": {"choices": ["Negative"]}},
                {"from_name": "box", "to_name": "img", "type": "rectanglelabels",
                 "value": {"x": 1, "rectanglelabels": ["Moonwalker"]}},
            ],
        }
    ],
}  # fmt: skip


def written(tmp_path, data, name="file.json"):
    path = tmp_path / name
    lines = name.endswith("l")
    path.write_text(
        "".join(f"{json.dumps(one)}\n" for one in data) if lines else json.dumps(data), "utf-8"
    )
    return path


def test_label_studio_tasks(tmp_path):
    found = read_annotations(written(tmp_path, [TASK]))
    assert found.question == "tag"
    [row] = found.rows
    assert row.id == "1"
    assert row.answers == (
        Answer(("Positive",), "10"),
        Answer(None, "a@b.org", "skipped"),
        Answer(None, "11", "unknown"),
    )
    assert row.guesses == (Guess(("Negative",), 0.83, "model 1"),)
    [note] = found.notes
    assert "rectanglelabels (1)" in note and "created_at of tasks (1)" in note
    several = read_annotations(tmp_path / "file.json", kind="several")
    assert several.rows[0].answers[2] == Answer((), "11")


def test_several_questions_must_be_named(tmp_path):
    task = json.loads(json.dumps(TASK))
    task["annotations"][0]["result"].append(
        {"from_name": "stars", "to_name": "txt", "type": "rating", "value": {"rating": 4}}
    )
    path = written(tmp_path, [task])
    with pytest.raises(AnnotationsError, match=r"'tag', 'stars'.*--question"):
        read_annotations(path)
    assert read_annotations(path, question="stars").rows[0].answers[0].value == 4


def test_label_studio_short_export(tmp_path):
    # As label_studio_sdk.converter writes it: several choices are an object, numbers a list.
    lines = [
        {"text": "a", "id": 3, "tag": "good", "annotator": 1, "annotation_id": 9, "lead_time": 2.0},
        {"text": "a", "id": 3, "tag": {"choices": ["x", "y"]}, "annotator": 2, "annotation_id": 10},
        {"text": "b", "id": 4, "annotator": None, "annotation_id": None},
    ]
    found = read_annotations(written(tmp_path, lines))
    assert [row.answers for row in found.rows] == [
        (Answer(("good",), "1"), Answer(("x", "y"), "2")),
        (),
    ]
    assert "lead_time (1)" in found.notes[0]
    numbers = [{"text": "a", "id": 3, "stars": [{"rating": 4}], "annotator": 1, "lead_time": 2.0}]
    assert read_annotations(written(tmp_path, numbers)).rows[0].answers[0].value == 4


def test_argilla_records_nested_and_flat(tmp_path):
    nested = {
        "id": "r1", "fields": {"text": "Fine."}, "metadata": {"page": 3}, "vectors": {"v": [0.5]},
        "suggestions": {"mood": {"value": "bad", "score": 0.25, "agent": "m"}},
        "responses": {"mood": [
            {"value": "good", "user_id": "u1", "status": "submitted"},
            {"value": "good", "user_id": "u2", "status": "draft"},
            {"value": None, "user_id": "u3", "status": "discarded"},
        ]},
        "status": "completed", "_server_id": "s",
    }  # fmt: skip
    found = read_annotations(written(tmp_path, [nested]))
    [row] = found.rows
    assert row.cells == {"text": "Fine.", "page": 3}
    assert row.answers == (Answer(("good",), "u1"), Answer(None, "u3", "skipped"))
    assert row.guesses == (Guess(("bad",), 0.25, "m"),)
    assert "drafts (1)" in found.notes[0] and "vectors" in found.notes[0]
    flat = {
        "id": "r1", "status": "completed", "_server_id": "s", "text": "Fine.",
        "mood.responses": ["good", None], "mood.responses.users": ["u1", "u3"],
        "mood.responses.status": ["submitted", "discarded"],
        "mood.suggestion": "bad", "mood.suggestion.score": 0.25, "mood.suggestion.agent": "m",
    }  # fmt: skip
    [same] = read_annotations(written(tmp_path, [flat], "f.jsonl")).rows
    assert (same.answers, same.guesses, same.cells) == (row.answers, row.guesses, {"text": "Fine."})


def test_prodigy_examples(tmp_path):
    # Lines of db-out: https://gist.github.com/vanatteveldt/6af3b7ef8a7d22f87ddda828e162fa81
    lines = [
        {"text": "B", "meta": {"id": "2"}, "_input_hash": -15, "label": "economie", "spans": [],
         "answer": "accept", "_annotator_id": "t-eva"},
        {"text": "B", "meta": {"id": "2"}, "_input_hash": -15, "label": "economie", "spans": [],
         "answer": "reject", "_annotator_id": "t-tom"},
        {"text": "A", "meta": {"id": "1"}, "_input_hash": 49, "label": "economie",
         "answer": "ignore"},
    ]  # fmt: skip
    found = read_annotations(written(tmp_path, lines, "db.jsonl"))
    assert found.kind == "several"
    assert [row.answers for row in found.rows] == [
        (Answer(("economie",), "t-eva"), Answer((), "t-tom")),
        (Answer(None, None, "skipped"),),
    ]
    assert found.rows[0].cells == {"text": "B", "id": "2"}
    lines[2]["label"] = "wonen"
    found = read_annotations(written(tmp_path, lines, "db.jsonl"))
    assert "only reject" in found.notes[0]


def test_coco_boxes_give_categories(tmp_path):
    coco = {
        "info": {},
        "images": [{"id": 7, "file_name": "a.jpg", "width": 3}, {"id": 8, "file_name": "b"}],
        "categories": [{"id": 2, "name": "cat"}, {"id": 3, "name": "dog"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 2, "bbox": [0, 0, 1, 1]},
            {"id": 2, "image_id": 7, "category_id": 3, "bbox": [0, 0, 1, 1]},
            {"id": 3, "image_id": 7, "category_id": 2, "bbox": [1, 0, 1, 1]},
        ],
    }  # fmt: skip
    found = read_annotations(written(tmp_path, coco))
    assert found.kind == "several"
    assert [row.answers for row in found.rows] == [(Answer(("cat", "dog")),), ()]
    assert "boxes and masks (3)" in found.notes[0]
    coco["annotations"][0]["image_id"] = 99
    with pytest.raises(AnnotationsError, match="99"):
        read_annotations(written(tmp_path, coco))


def test_the_file_of_the_labelling_page(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("text,label,annotator,row\nFine.,a;b,eva,4\nFine.,-,tom,4\nBad,a,,9\n", "utf-8")
    found = read_annotations(path)
    assert found.kind == "several"
    assert [row.id for row in found.rows] == ["4", "9"]
    assert found.rows[0].answers == (Answer(("a", "b"), "eva"), Answer((), "tom"))


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a;b", "stands between"),
        ("NA", "without a label"),
        ("-", "none of the labels"),
        (" a", "space"),
    ],
)
def test_classes_that_a_cell_cannot_hold_are_refused(name, why, tmp_path):
    found = Annotations([Row({"text": "x"}, answers=(Answer((name,)),))])
    with pytest.raises(AnnotationsError, match=f"{why}.*--rename"):
        write_annotations(found, tmp_path / "a.csv", "csv")
    assert not (tmp_path / "a.csv").exists()
    write_annotations(renamed(found, {name: "ok"}, ()), tmp_path / "a.csv", "csv")
    assert read_annotations(tmp_path / "a.csv").classes == ("ok",)


@pytest.mark.parametrize(
    ("format", "column"),
    [("csv", "label"), ("prodigy", "answer"), ("prodigy", "_x"), ("coco", "id"),
     ("label-studio-min", "annotator")],
)  # fmt: skip
def test_columns_that_a_format_needs_itself_are_refused(format, column, tmp_path):
    found = Annotations([Row({"file": "x", column: "y"}, answers=(Answer(("a",)),))])
    with pytest.raises(AnnotationsError, match=f"--drop {column}"):
        write_annotations(found, tmp_path / "a", format)
    write_annotations(renamed(found, {}, (column,)), tmp_path / "a", format)


def test_columns_after_the_label_are_cells_unless_all_are_ours(tmp_path):
    path = tmp_path / "cars.csv"
    path.write_text("text,label,model,price\nFine.,a,T,3\n", "utf-8")
    [row] = read_annotations(path).rows
    assert row.cells == {"text": "Fine.", "model": "T", "price": "3"}


@pytest.mark.parametrize(
    "text",
    ["", "[1, 2]", "{", "null", '{"images": 3, "categories": []}',
     "a,b\n1\n", "a,a\n1,2\n",
     '[{"fields": {"a": "b"}}, 3]', "[]", '[{"data": {}, "annotations": [{"result": 3}]}, {}]',
     'text,label,annotator,row\na,x,e,1\nb,x,f,1\n', '{"a": [1]}\n{"b": 2}\n', '"a\n',
     "text,label,annotator,row,status\nx,a,e,1,skipped\n"],
)  # fmt: skip
def test_damaged_files_are_errors_for_people(text, tmp_path):
    (tmp_path / "file.x").write_text(text, "utf-8")
    with pytest.raises(AnnotationsError, match=r"file\.x"):
        read_annotations(tmp_path / "file.x")


@settings(max_examples=50, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(string.printable, max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["data", "annotations", "result", "value", "choices", "from_name", "type", "fields",
                 "responses", "images", "categories", "answer", "accept", "meta", "label", "id",
                 "predictions", "completed_by", "image_id", "lead_time", "score", "suggestions"]
            ),
            inner,
            max_size=5,
        ),
        max_leaves=12,
    ),
    st.none() | st.sampled_from([f for f in FORMATS if f != "csv"]),
)  # fmt: skip
def test_any_json_is_read_or_refused_in_words(tmp_path_factory, value, format):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value), "utf-8")
    try:
        found = read_annotations(path, format)
    except AnnotationsError:
        return
    assert found.rows


# ------------------------------------------------------------------ the labelling interface


def test_an_interface_is_written_and_read():
    rows = [Row({"text": "x", "page": "3"}, answers=(Answer(('a"&<é', "b")),))]
    found = Annotations(rows, "mood", "several")
    control = read_config(write_config(found))
    assert (control.name, control.to, control.kind) == ("mood", "row", "several")
    assert control.columns == ("text",)
    assert set(control.classes) == {'a"&<é', "b"}
    number = read_config(write_config(Annotations(rows[:0], "n", "quantity"), ["text"]))
    assert (number.type, number.kind) == ("number", "quantity")


@pytest.mark.parametrize(
    "xml",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><View><Choices name="&b;"/></View>',
        "<View><Text name='t' value='$text'/></View>",
        "<View>",
        "",
        "<View><Choices name='a' toName='t'/><Choices name='b' toName='t'/><Text name='t'/></View>",
        "<View><Choices name='a' toName='gone'/></View>",
    ],
)
def test_an_interface_that_cannot_be_used_is_refused(xml):
    with pytest.raises(AnnotationsError):
        read_config(xml)
