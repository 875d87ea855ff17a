"""How Sphinx makes the documentation: `make docs` in the folder above."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "graphkm"
author = "The graphkm developers"
copyright = author
release = version = version_of("graphkm")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "mathml",  # _ext: formulas of the guide that need neither a network nor JavaScript
    "docstrings",  # _ext: their plain formulas
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

# In docstrings a name in single backticks is a link where it is documented here.
default_role = "autolink"
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|joblib)\..*"),
    ("py:obj", r"_matrix|_diagonal|native_code|graphkm\.graphs\.search\..*"),  # not public
    ("py:class", r"graphkm\.exchange\.container\..*"),
]

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc's sections say it in words
autosummary_generate = True
numpydoc_show_class_members = False  # _templates/autosummary/class.rst shows them

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": ExplicitOrder(
        [
            "two_moons.py",
            "digits.py",
            "text_topics.py",
            "regression.py",
            "choosing_a_graph.py",
            "correcting_a_forest.py",
            "drifting_stream.py",
            "comparing_solvers.py",
            "exporting.py",
        ]
    ),
    "doc_module": ("graphkm",),
    "backreferences_dir": None,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "graphkm"
html_static_path = ["_static"]
html_css_files = ["graphkm.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "graphkm"},
    "show_prev_next": False,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "gallery/index": []}
