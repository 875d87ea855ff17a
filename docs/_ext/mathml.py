"""Formulas as MathML, which browsers draw themselves: no network, no JavaScript, no TeX."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def inline_formula(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def displayed_formula(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    translator.body.append(f'<div class="math-block">{_mathml(node, "block")}</div>')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, display: str) -> str:
    formula = node.astext().strip()
    try:
        return convert(formula, display=display)
    except Exception as error:
        raise ExtensionError(f"no MathML for the formula {formula!r}: {error!r}") from error


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer this way of writing formulas."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
