"""The report: its numbers beside other libraries, what it escapes, and how its page is built."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import confusion_matrix, log_loss, precision_score, r2_score, recall_score

from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.inspection import doubtful_labels, novelty, prediction_sets
from graphkm.report import Subject, report_page
from graphkm.report.calibration import losses, reliability, wilson
from graphkm.report.charts import Chart, ticks
from graphkm.report.html import element, table
from graphkm.semi.held import held_answers, held_of

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</td></table><svg onload=window.hacked=1>",
]


class Page(HTMLParser):
    """A page as a list of elements, each with its attributes, and the texts inside them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), list(self.open)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), list(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(data for tag, data in self.texts if tag != "style")


def check_page(text):
    """Check what every page has: one language, headings in order, captions, names of charts."""
    page = Page(text)
    assert page.open == []
    assert page.all("html")[0]["lang"] == "en" and len(page.all("title")) >= 1
    levels = [int(tag[1]) for tag, *_ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(each.get("scope") in ("row", "col") for each in page.all("th"))
    assert all(each["role"] == "img" and each["aria-label"] for each in page.all("svg"))
    assert all(each.get("alt") for each in page.all("img"))
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [each["href"] for each in page.all("a")]
    assert links and {link.removeprefix("#") for link in links} <= set(ids)
    # Nothing of the page runs, and nothing comes from elsewhere.
    assert not page.all("script") and not page.all("link") and not page.all("iframe")
    for _, attributes, _ in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert not any(
            "http" in str(value) for name, value in attributes.items() if name != "http-equiv"
        )
    assert "nan" not in re.findall(r"[a-z]+", page.text.lower())
    return page


def few(truth, n, seed=0):
    """Return labels of n rows, and NaN for all others."""
    y = truth.astype(float)
    y[np.random.default_rng(seed).permutation(len(y))[n:]] = np.nan
    return y


@pytest.fixture(scope="module")
def moons():
    X, truth = make_moons(200, noise=0.35, random_state=0)
    y = few(truth, 60)
    model = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0)
    return model.fit(X, y), X, y


# ------------------------------------------------------------------ what is computed


def test_groups_of_probabilities_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    said = np.append(rng.random(300), [0.0, 1.0, 0.3])
    true = (rng.random(303) < said).astype(float)
    found = {each.low: each for each in reliability(said, true)}
    for k in range(10):
        own = [i for i, p in enumerate(said) if k / 10 <= p < (k + 1) / 10 or (k == 9 and p == 1.0)]
        each = found[k / 10]
        assert each.labels == len(own)
        assert each.said == pytest.approx(np.mean(said[own]))
        assert each.true == pytest.approx(np.mean(true[own]))


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (3, 10), (10, 10), (57, 130)])
def test_intervals_are_those_of_scipy(hits, count):
    expected = binomtest(hits, count).proportion_ci(0.9, method="wilson")
    assert wilson(hits / count, count) == pytest.approx((expected.low, expected.high))


def test_losses_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    said = rng.dirichlet(np.ones(4), 50)
    codes = rng.integers(0, 4, 50)
    found = losses(said, np.eye(4)[codes], "classes")
    assert found.log_loss == pytest.approx(log_loss(codes, said, labels=range(4)))
    literal = sum((said[i, k] - (codes[i] == k)) ** 2 for i in range(50) for k in range(4)) / 50
    assert found.brier == pytest.approx(literal)


def test_losses_of_several_labels_leave_gaps_out():
    said, told = np.array([[0.9, 0.2], [0.4, np.nan]]), np.array([[1.0, 0.0], [0.0, np.nan]])
    found = losses(said, told, "labels")
    assert found.brier == pytest.approx((0.1**2 + 0.2**2 + 0.4**2) / 3)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.8, 0.6]).mean())


def cells(page, caption):
    """Return the texts of the table with a caption, row by row."""
    body = page[page.index(f"<caption>{caption}</caption>") :]
    body = body[: body.index("</table>")]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_the_confusion_is_that_of_scikit_learn(moons):
    model, X, y = moons
    page = report_page(Subject(model, X, y, repeats=0))
    held = held_of(model)
    true = held.told.argmax(axis=1)
    said = held_answers(model, held).argmax(axis=1)
    found = cells(page, "Confusion: rows are true classes, and columns are held-out predictions")
    assert [[int(n) for n in row[1:]] for row in found[1:]] == confusion_matrix(true, said).tolist()
    by_class = cells(page, "By class, on held-out labels")[1:]
    recalls, precisions = (
        recall_score(true, said, average=None),
        precision_score(true, said, average=None),
    )
    assert [row[2] for row in by_class] == [f"{100 * each:.1f} %" for each in recalls]
    assert [row[3] for row in by_class] == [f"{100 * each:.1f} %" for each in precisions]


def test_held_out_answers_are_those_of_the_score(moons):
    model, _, y = moons
    held = held_of(model)
    right = held_answers(model, held).argmax(axis=1) == y[held.rows]
    assert right.mean() == pytest.approx(model.best_score_)


def test_sets_and_doubts_are_those_of_inspection(moons):
    model, X, y = moons
    page = check_page(report_page(Subject(model, X, y, repeats=0)))
    sets = prediction_sets(model, X, 0.9)
    assert f"{sets.sizes.mean():.2f} of 2 classes" in page.text
    first = doubtful_labels(model, X, most=20)
    rows = cells(report_page(Subject(model, X, y, repeats=0)), "The 20 most doubtful labels")
    assert [int(row[0]) for row in rows[1:]] == [line.row + 1 for line in first]
    near = re.sub("</?bdi>", "", rows[1][-1])
    assert f"row {first[0].near[0].row + 1}: {first[0].near[0].label:g}" in near


def test_novel_rows_are_those_of_inspection(moons):
    model, X, y = moons
    text = report_page(Subject(model, X, y, repeats=0))
    found = novelty(model, X, rows=X)
    rows = cells(text, "The 20 oddest rows without a label")[1:]
    expected = [k for k in np.argsort(-found, kind="stable") if np.isnan(y[k])][:20]
    assert [int(row[0]) - 1 for row in rows] == expected
    assert [float(row[1]) for row in rows] == pytest.approx(found[expected], abs=6e-4)
    assert f"{int((found > 0.9).sum())} of 200" in text


def test_ticks_are_round_and_inside():
    for low, high in [(0.0, 1.0), (-3.2, 8.1), (0.0011, 0.0019), (1e6, 3e7)]:
        found = ticks(low, high)
        assert 3 <= len(found) <= 11 and low <= found[0] and found[-1] <= high
        assert np.allclose(np.diff(found), found[1] - found[0])


def test_dots_lie_where_their_values_are():
    chart = Chart("t", "a", "b", (0.0, 10.0), (0.0, 1.0))
    chart.dots([0.0, 5.0, 10.0], [0.0, 0.5, 1.0])
    places = [
        (float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', chart.svg())
    ]
    (a, b), (c, d), (e, f) = places
    assert a < c < e and b > d > f
    assert c == pytest.approx((a + e) / 2) and d == pytest.approx((b + f) / 2)


# ------------------------------------------------------------------ what is escaped


def test_texts_and_attributes_are_escaped():
    made = element("p", "<b>", title='"<b>"') + table("<i>", ["<u>"], [["<s>"]])
    assert not re.search(r"<[bius]>", made)


def test_no_label_column_or_cell_becomes_an_element():
    X, truth = make_blobs(60, centers=3, random_state=0)
    y = np.array(HOSTILE, dtype=object)[truth]
    y[30:] = None
    model = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, y)
    subject = Subject(
        model,
        X,
        y,
        title=HOSTILE[0],
        cells=X,
        columns=HOSTILE[:2],
        kinds=[HOSTILE[1]] * 2,
        called=HOSTILE * 20,
        shown=lambda cells: HOSTILE[int(cells[0] > 0)],
        source=HOSTILE[2],
        about={HOSTILE[0]: HOSTILE[1]},
        repeats=0,
    )
    page = check_page(report_page(subject))
    assert not page.all("img")
    assert all(text in page.text for text in HOSTILE)


# ------------------------------------------------------------------ every kind of model


def test_a_page_of_classes_has_all_sections(moons):
    model, X, y = moons
    page = check_page(report_page(Subject(model, X, y, cells=X, source="moons.csv")))
    heads = [data for tag, data in page.texts if tag == "h2"]
    assert heads == [
        "Data",
        "Members",
        "Held-out score",
        "Calibration",
        "Confusion by class",
        "Prediction sets",
        "Learning curve",
        "Labels that look wrong",
        "Rows of no known class",
        "How the model was made",
    ]
    assert "expected with 100 more labels" in page.text
    assert "These are the rows that the model was trained on." in page.text
    assert len(page.all("svg")) == 3


def test_other_rows_have_no_curve_and_no_neighbours(moons):
    model, X, _ = moons
    other = X[:50] + 0.01
    truth = model.predict(other).astype(float)
    page = check_page(report_page(Subject(model, other, truth, source="new.csv")))
    assert "These are not the rows that the model was trained on" in page.text
    assert "it needs all rows of the training" in page.text
    assert "nearest labelled rows" not in page.text
    sets = prediction_sets(model, other, 0.9)
    inside = np.mean(
        [row[label] for row, label in zip(sets.members, truth.astype(int), strict=True)]
    )
    assert f"{100 * inside:.1f} % of 50" in page.text


def test_rows_without_labels(moons):
    model, X, _ = moons
    page = check_page(report_page(Subject(model, X)))
    assert "there is no column of labels" in page.text


def test_a_page_of_quantities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    truth = X @ [1.0, 2.0, 0.5] + rng.normal(0, 0.3, 120)
    y = np.where(np.arange(120) < 60, truth, np.nan)
    model = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, y)
    text = report_page(Subject(model, X, y))
    page = check_page(text)
    held = held_of(model)
    found = cells(text, "Errors on held-out labels: what is given, minus what is predicted")[1]
    assert float(found[2]) == pytest.approx(r2_score(held.told, held.said), abs=1e-4)
    off = np.abs(held.told - held.said)
    assert float(found[3]) == pytest.approx(off.mean(), rel=1e-3)
    half = np.sort(off[:, 0])[int(np.ceil(61 * 0.9)) - 1]  # as split conformal prediction has it
    assert f"prediction ± {half:.5g}" in page.text
    assert "Calibration" not in page.text and "Confusion" not in page.text


def test_a_page_of_several_quantities_with_gaps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X @ rng.normal(size=(3, 2)) + rng.normal(0, 0.2, (100, 2))
    y[60:] = np.nan
    y[:5, 1] = np.nan
    model = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, y)
    page = check_page(report_page(Subject(model, X, y, targets=["up <b>", "down"], repeats=0)))
    assert "down 90.0 %" in page.text and "up <b> 90.0 %" in page.text
    assert "These are the rows that the model was trained on." in page.text


def test_a_page_of_several_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, :2] + rng.normal(0, 0.5, (120, 2)) > 0).astype(float)
    y[60:] = np.nan
    y[0, 0] = np.nan
    model = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, y)
    text = report_page(Subject(model, X, y, repeats=0))
    page = check_page(text)
    held = held_of(model)
    known = ~np.isnan(held.told[:, 1])
    said = held_answers(model, held)[known, 1]
    row = cells(text, "By label, on held-out labels")[2]
    assert row[4] == f"{100 * recall_score(held.told[known, 1], said):.1f} %"
    assert "Sets are for one class per row" in page.text
    assert "These are the rows that the model was trained on." in page.text


def test_too_few_labels_to_hold_any_out():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.full(30, np.nan)
    y[:2] = 0.0, 1.0
    model = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, y)
    page = check_page(report_page(Subject(model, X, y)))
    assert "too few labels to hold any out" in page.text
    assert "Calibration" not in page.text


@pytest.mark.long
def test_many_classes_have_pairs_instead_of_a_matrix():
    X, truth = make_blobs(300, centers=25, cluster_std=2.0, random_state=0)
    y = few(truth, 250)
    model = SemiSupervisedClassifier(
        LogisticRegression(max_iter=2000), graph=None, random_state=0
    ).fit(X, y)
    text = report_page(Subject(model, X, y, repeats=0))
    check_page(text)
    held = held_of(model)
    matrix = confusion_matrix(held.told.argmax(axis=1), held_answers(model, held).argmax(axis=1))
    np.fill_diagonal(matrix, 0)
    first = cells(text, "Classes that are taken for others most often")[1]
    assert int(first[2].split()[0]) == matrix.max()
    assert matrix[int(first[0]), int(first[1])] == matrix.max()


def test_labels_of_neighbours_are_short_and_turn_no_other_text_around():
    X, truth = make_moons(60, noise=0.3, random_state=0)
    names = np.array(["x" * 100, "\u202eabc"], dtype=object)
    y = np.where(np.arange(60) < 30, names[truth], None)
    model = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, y)
    text = report_page(Subject(model, X, y, repeats=0))
    assert f"<bdi>{'x' * 39}\u2026</bdi>" in text and "<bdi>\u202eabc</bdi>" in text
    assert f">{'x' * 100}</th>" in text  # the table of classes has the whole name
