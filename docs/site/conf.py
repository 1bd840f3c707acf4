"""The configuration of Sphinx for the site. docs/site/build.py writes the sources and calls it."""

import json
import pathlib

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "src/report/page"

project = html_title = "headroom"
root_doc = "index"
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
templates_path = ["templates"]
highlight_language = "none"
pygments_style, pygments_dark_style = "friendly", "native"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "static/brand.svg"
html_copy_source = html_show_copyright = html_use_index = html_domain_indices = False
html_math_renderer = "mathml"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2f6fde", "color-brand-content": "#2a63c8",
        "color-background-primary": "#fbfaf8", "color-background-secondary": "#f5f3ef"},
    "dark_css_variables": {
        "color-brand-primary": "#6ea3ff", "color-brand-content": "#6ea3ff",
        "color-background-primary": "#14171b", "color-background-secondary": "#1b1f25"},
}


def write_formula(inline):
    def visit(translator, node):
        formula = tex2mathml(node.astext(), inline=inline)
        translator.body.append(formula if inline else f'<div class="formula">{formula}</div>')
        raise nodes.SkipNode
    return visit, None


def add_demo(app, pagename, templatename, context, doctree):
    """The front page has the demo's record, and the styles and scripts of the reports."""
    if pagename != root_doc:
        return
    record = json.loads((pathlib.Path(app.srcdir).parent / "record.json").read_text())
    context["record"] = json.dumps(record).replace("<", "\\u003c")
    context["heads"] = len(record["heads"])
    context["style"] = (PAGE / "page.css").read_text() + (HERE / "front.css").read_text()
    scripts = [PAGE / name for name in ("charts.js", "maps.js", "model.js", "answers.js")]
    scripts += [HERE / "front.js", PAGE / "start.js"]
    context["demo"] = "\n".join(path.read_text() for path in scripts)


def setup(app):
    app.add_html_math_renderer("mathml", write_formula(True), write_formula(False))
    app.connect("html-page-context", add_demo)
