"""The pages of the API: one for each floor of a library, made of the comments of its public
headers, and an index of all names."""

import re

import headers

LIBRARIES = ["headroom", "headroom_foreign", "headroom_measure", "headroom_runs", "headroom_lab"]
FENCE = "`" * 8
CAPTION = "API"
INTRODUCTION = """# API reference

The public headers by library and floor ([architecture](../docs/architecture.md) says what these
are). A floor's page has for each header its declarations with their comments: what it does, its
formula, shapes and units, the errors that it throws, and its source. Shapes are in brackets; B is
the batch, T the time, C the width, H the number of heads, D the width of a head, V the size of a
vocabulary. `Throws` names an error of `headroom/base/error.hpp`.
"""


def escaped(text):
    """Plain text as Markdown; what stands in backticks stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else re.sub(r"([*_\\[\]<>#|$~])", r"\\\1", part)
                   for i, part in enumerate(parts))


def anchors(include, names):
    """{name: an anchor of its own in the whole site}; `Adam` and `adam` are two."""
    made = {}
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^a-z0-9]+", "-", f"{include} {name}".lower()).strip("-")
        count = sum(other == plain or other.startswith(plain + "--") for other in made.values())
        made[name] = f"{plain}--{count + 1}" if count else plain
    return made


def linked(name, anchor):
    if "<" in name:  # Sphinx takes what follows for the target
        return escaped(name)
    return f"{{ref}}`{name} <{anchor}>`"


def header_text(include, title, shown, anchor_of):
    lines = [f"## {include}", "", escaped(title), ""]
    names = set()
    for one in shown:
        if one.name not in names:
            lines += [f"({anchor_of[one.name]})=", f"### {escaped(one.name)}", ""]
        names.add(one.name)
        code = headers.public_code(one).strip()
        lines += [escaped(one.comment), "", FENCE + "cpp", code, FENCE, ""]
    return "\n".join(lines)


def pages(root):
    """{page: text}, the index first."""
    texts, index, listed = {}, [], []
    for library in LIBRARIES:
        for folder in sorted((root / "include" / library).glob("*/")):
            if not folder.is_dir():
                continue
            page = f"reference/{library}-{folder.name}.md"
            parts = [f"# {library}/{folder.name}", ""]
            for path in sorted(folder.glob("*.hpp")):
                title, all_of = headers.read(path)
                include = str(path.relative_to(root / "include"))
                shown = [one for one in all_of
                         if one.access == "public" and (one.comment or one.kind != "other")]
                anchor_of = anchors(include, [one.name for one in shown])
                parts.append(header_text(include, title, shown, anchor_of))
                for one in shown:
                    if one.comment and one.kind != "other":
                        listed.append((one.name, anchor_of[one.name],
                                       one.comment.split(". ")[0].rstrip(".")))
            texts[page] = "\n".join(parts)
            titles = "; ".join(f"`{path.name}`" for path in sorted(folder.glob("*.hpp")))
            index.append(f"| [{library}/{folder.name}]({page.split('/')[1]}) | {titles} |")
    rows = "\n".join(f"| {linked(name, anchor)} | {escaped(says)} |"
                     for name, anchor, says in sorted(set(listed), key=lambda r: r[0].lower()))
    first = (f"{INTRODUCTION}\n| floor | headers |\n|---|---|\n" + "\n".join(index)
             + f"\n\n## All names\n\n| name | |\n|---|---|\n{rows}\n")
    return {"reference/README.md": first, **texts}
