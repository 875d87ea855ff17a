"""How Sphinx makes the documentation: `make docs` in the folder above."""

import sys
from importlib.metadata import metadata
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "graphkm"
author = "The graphkm developers"
copyright = author
release = version = metadata(project)["Version"]
addresses = [line.split(", ") for line in metadata(project).get_all("Project-URL", [])]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "mathml",  # _ext: formulas of the guide that need neither a network nor JavaScript
    "docstrings",  # _ext: their plain formulas
    "command_line",  # _ext: the reference of the command
    "api_index",  # _ext: one line for everything public
]
exclude_patterns = ["_build", "inventories"]
templates_path = ["_templates"]

# In docstrings a name in single backticks is a link where it is documented here.
default_role = "autolink"
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|joblib)\..*"),
    ("py:obj", r"_matrix|_diagonal|native_code|graphkm\.neighbours\..*"),  # not public
    ("py:class", r"graphkm\.exchange\.container\..*"),
]

# Names of other packages are links. Without a network those in `inventories` are.
intersphinx_mapping = {
    name: (address, (None, f"inventories/{name}.txt"))
    for name, address in {
        "sklearn": "https://scikit-learn.org/stable/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "pandas": "https://pandas.pydata.org/docs/",
    }.items()
}
intersphinx_timeout = 5
intersphinx_disabled_reftypes = ["std:*"]

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc's sections say it in words
autosummary_generate = True
numpydoc_show_class_members = False  # _templates/autosummary/class.rst shows them

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_substitutions = {
    "version": release,
    "addresses": "".join(f" · [{name.lower()}]({url})" for name, url in addresses),
}
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": ExplicitOrder(
        [
            "texts.py",  # the tutorial
            "table.py",
            "graph.py",
            "two_moons.py",
            "comparing_classifiers.py",
            "digits.py",
            "text_topics.py",
            "regression.py",
            "choosing_a_graph.py",
            "forest_and_graph.py",
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

# Copied code has no prompts.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

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
    "icon_links": [
        {"name": name, "url": url, "icon": "fa-solid fa-code-branch"} for name, url in addresses
    ],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "gallery/index": []}
