"""Settings of the documentation: make docs."""

from mptcplab import __version__

project = "mptcplab"
author = "the mptcplab contributors"
release = __version__
copyright = "the mptcplab contributors"  # noqa: A001

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
# Types that only exist for type checkers.
nitpick_ignore_regex = [
    (
        "py:.*",
        r"(pl|polars|mptcplab\._core|mptcplab\.results\.differences|os|collections|pathlib|_core)\..*",
    ),
    (
        "py:.*",
        r"(Path|PathLike|Callable|Iterable|(mptcplab\.analysis\.)?Measured|Row|Comparable|Side|Setting|Contrast|Gains|Progress|Source|Paper|Values|Calibration|Artifact|Settings)",
    ),
]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"

html_theme = "furo"
html_title = "mptcplab"
