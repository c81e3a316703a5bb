"""The documentation's site: `make docs` builds it into build/docs with Sphinx, and every warning is an error.

What is generated while it is built, the reference of the native API and the dialects' tables of names, is in `extensions/`.
"""

import sys
from pathlib import Path

import retrograde

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "retrograde"
copyright = "the authors of retrograde, Apache-2.0"
version = release = retrograde.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "formulas", "native", "dialects"]
exclude_patterns = ["Thumbs.db", ".DS_Store"]
nitpicky = True
needs_sphinx = "9.0"

# Pages are read on GitHub as well: anchors of headings are made as GitHub makes them.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "attrs_block", "colon_fence", "substitution"]
myst_substitutions = {"version": version}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"retrograde {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style, pygments_dark_style = "tango", "monokai"
highlight_language = "python"

autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # most are Any: what an argument is stands in the text
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

linkcheck_anchors = False
linkcheck_timeout = 20
