"""Code points of which the Unicode tables of utf8proc and of Python's tokenizers say different
things. It is the list that tokenizers_agree.py expects, no more and no less."""

KNOWN = {"minilm": set(), "gpt2": set()}
