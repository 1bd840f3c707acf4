"""The parts of a page that draw the figure of a chapter: for the site and its tests."""

import html
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
STILL = "figure.svg"
# As Sphinx writes it; it numbers files of the same name.
IMAGE = re.compile(r'<p><img alt="([^"]*)" src="[^"]*figure\d*\.svg"[^>]*/?></p>')


def chapters():
    """The chapters that have a figure."""
    return sorted(path.parent.name for path in ROOT.glob("chapters/*/figure.json"))


def record(chapter):
    """The chapter's record, to be written into a page."""
    text = json.dumps(json.loads((ROOT / "chapters" / chapter / "figure.json").read_text()))
    return text.replace("<", "\\u003c")


def script(chapter):
    return "\n".join((HERE / name).read_text() for name in ("figure.js", f"{chapter}.js"))


def place(text, without_script=""):
    """The element that the script fills; `text` is the text alternative of the picture."""
    return (f'<figure class="moving" data-text="{html.escape(text)}">'
            f"<noscript>{without_script}</noscript></figure>")


def moving(body):
    """A chapter's page, with the place of the figure instead of the still."""
    return IMAGE.sub(lambda image: place(html.unescape(image[1]), image[0]), body, count=1)
