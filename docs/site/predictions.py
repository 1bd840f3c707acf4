"""Folds the answers in a chapter: the text between a box "Predict." and the next box or heading.

The files of the chapters show everything. Their pages have fields for guesses and a fold, with the
measured values at its top. A value is the one that the chapter prints for the fact or claim of an
experiment that names the prediction (examples/course/facts.hpp).
"""

import functools
import html
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FENCED = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2 *$", re.M | re.S)
BOX = re.compile(r"^> \*\*Predict\.\*\*.*\n(?:>.*\n)*", re.M)
END = re.compile(r"^(?:#{1,6} |> \*\*Predict\.\*\*)|\Z", re.M)
NAME = re.compile(r"\d\d/[a-z]")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
CALL = re.compile(r'\b(?:fact|claim)\((?:(?!\b(?:fact|claim|part)\().)*?"\d\d/[a-z]"\s*\)', re.S)
WORDS = {"=": "", "~": "about ", "<": "less than "}
CLASS = "prediction"  # of the fold, in pages, styles and tests

FIELD = ('<label>Your guess for {name} <input name="{name}" type="text" size="8" '
         'autocomplete="off" spellcheck="false" title="{allowed}"></label>')
FOLD = """<div class="guesses" hidden>{fields}</div>
<details class="prediction" id="{identifier}">
<summary>Show what the experiment measured</summary>
<ul class="measured">{values}</ul>

{answer}

</details>
"""
VALUE = ('<li data-prediction="{name}">{name}: <span class="guess"></span>'
         'measured <b>{value}</b></li>')


def script():
    return (HERE / "predictions.js").read_text()


@functools.cache
def keys():
    """{"05/b": "-1e9 instead: each weight"}: the text that comes before a name in the experiments.

    It is the first one of a call, or of an entry of a list in braces.
    """
    found = {}
    for path in sorted(ROOT.glob("examples/course/*.cpp")):
        text = path.read_text()
        for parts in (CALL.findall(text), re.split("[;{}]", text)):
            for part in parts:
                literals = LITERAL.findall(part)
                names = [one for one in literals if NAME.fullmatch(one)]
                texts = [one for one in literals if one and not NAME.fullmatch(one)]
                if len(names) == 1 and texts:
                    found.setdefault(names[0], texts[0])
    return found


def measured(name, text):
    """The value of a prediction as the text prints it, in a block or in a sentence, or None."""
    key = keys().get(name)
    if key is None:
        return None
    for start in (re.escape(key), r"[^\n>]*, " + re.escape(key)):
        if line := re.search(rf"^{start} {{2,}}(\S+)", text, re.M):
            return line[1]
        if mark := re.search(rf"<!--= {start} ([=~<]) -->\**(-?[\d,.]*\d(?:e[-+]?\d+)?)", text):
            return WORDS[mark[1]] + mark[2]
    return None


def fold(names, answer, text, asked):
    """The fields for guesses, and the answer in a fold."""
    fields, values = [], []
    for name in names:
        allowed = "A number, such as 0.5, 1e-8, 35% or 1/3"
        allowed += "".join(f', or "{word}"' for word in asked.get(name, {}).get("words", []))
        fields.append(FIELD.format(name=name, allowed=html.escape(allowed)))
        value = measured(name, answer) or measured(name, text) or "as below"
        values.append(VALUE.format(name=name, value=html.escape(value)))
    return FOLD.format(fields="".join(fields), values="".join(values), answer=answer.strip("\n"),
                       identifier="answer-" + "-".join(names).replace("/", "-"))


def folded(text, asked):
    """A chapter with its answers in folds; `asked` has the predictions of ask.json.

    A box whose answer comes after the next box, with the answer of that one, shares its fold.
    """
    outline = FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    parts, at, names = [], 0, []
    for box in BOX.finditer(outline):
        end = END.search(outline, box.end())
        answer = text[box.end():end.start()]
        names += dict.fromkeys(re.findall(rf"predict ({NAME.pattern})", box[0]))
        if "<!-- output:" not in answer and "<!--= " not in answer and end[0].startswith(">"):
            continue
        parts += [text[at:box.end()], "\n", fold(names, answer, text, asked), "\n"]
        at, names = end.start(), []
    return "".join(parts) + text[at:]


def of_chapter(path):
    """The text of a chapter's README.md with folds; other texts as they are."""
    ask = path.parent / "ask.json"
    if not ask.exists():
        return path.read_text()
    return folded(path.read_text(), json.loads(ask.read_text())["predictions"])
