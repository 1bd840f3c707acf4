"""The configuration of Sphinx for the site. docs/site/build.py writes the sources and calls it."""

import inspect
import json
import pathlib
import re
import sys

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.formatters import HtmlFormatter

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "src/headroom_lab/report/page"
WORK = HERE.parents[1] / "build/site"
sys.path[:0] = [str(HERE), str(HERE / "figures")]
import pages  # noqa: E402
import predictions  # noqa: E402

project = html_title = "headroom"
FRONT = "index"
root_doc = FRONT
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
# Texts are Markdown as other programs read it: a line that begins with % is no comment.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target", "myst_role"]
templates_path = ["templates"]
highlight_language = "none"

html_theme = "basic"
html_static_path = ["static", str(WORK / "static")]
html_favicon = "static/brand.svg"
html_copy_source = html_use_index = html_domain_indices = False
html_math_renderer = "mathml"


# docutils has changed the name of this option.
old = "inline" in inspect.signature(tex2mathml).parameters
AS_BLOCK = {"inline": False} if old else {"as_block": True}


def write_inline(translator, node):
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_block(translator, node):
    formula = tex2mathml(node.astext(), **AS_BLOCK)
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def add_demo(app, pagename, templatename, context, doctree):
    """The front page has the demo's record, and the styles and scripts of the reports."""
    if pagename != FRONT:
        return
    context["body"] = re.sub(r"<h1>.*?</h1>", "", context["body"])  # the template has another
    record = json.loads((WORK / "record.json").read_text())
    context["record"] = json.dumps(record).replace("<", "\\u003c")
    context["heads"] = len(record["heads"])
    scripts = [PAGE / name for name in ("charts.js", "maps.js", "model.js", "answers.js",
                                     "dates.js", "start.js")]
    context["demo"] = "\n".join(path.read_text() for path in scripts)


def add_figure(app, pagename, templatename, context, doctree):
    """A chapter's page has the moving figure in the place of its still."""
    chapter = pagename.removeprefix("chapters/").removesuffix("/README")
    if chapter in pages.chapters() and pages.IMAGE.search(context["body"]):
        context["body"] = pages.moving(context["body"])
        context["figure_record"] = pages.record(chapter)
        context["figure_script"] = pages.script(chapter)


def add_predictions(app, pagename, templatename, context, doctree):
    """A page with folded answers has the script that compares them with guesses."""
    if f'<details class="{predictions.CLASS}"' in context.get("body", ""):
        context["predictions_script"] = predictions.script()


def write_styles(app):
    """Writes the styles of the reports, of the site, and of code, light and dark."""
    with open(WORK / "static/site.css", "w") as out:
        for path in (PAGE / "page.css", HERE / "site.css", PAGE / "dates.css",
                     HERE / "figures/figure.css"):
            out.write(path.read_text())
        for theme, style in (("light", "default"), ("dark", "github-dark")):
            code = HtmlFormatter(style=style).get_style_defs(".highlight")
            out.write(f"@media (prefers-color-scheme: {theme}) {{\n{code}\n}}\n")
        out.write(".highlight { background: none !important; }\n")


def setup(app):
    app.connect("builder-inited", write_styles)
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    app.connect("html-page-context", add_demo)
    app.connect("html-page-context", add_figure)
    app.connect("html-page-context", add_predictions)
