"""Code points of which utf8proc and Python's tokenizers 0.22 say different things, by the version
of Unicode that utf8proc has. tokenizers_agree.py expects these, no more and no less.

The normalizer of BERT and its list of punctuation know Unicode 8, and so take later marks, format
characters and punctuation for unassigned; U+166D and U+1734 changed their category since. utf8proc
2.8 has Unicode 15. The words of GPT-2 are the same in both.
"""

MINILM_15 = """
61D, 7FD, 890-891, 898-89F, 8CA-8E2, 9FD-9FE, A76, AFA-AFF, B55, C04, C3C, C77, C84, D00,
D3B-D3C, D81, EBA, ECE, 166D, 1734, 180F, 1885-1886, 1ABF-1ACE, 1B7D-1B7E, 1DF6-1DFB,
2E43-2E4F, 2E52-2E5D, A82C, A8C5, A8FF, A9BD, 10D24-10D27, 10EAB-10EAD, 10EFD-10EFF,
10F46-10F50, 10F55-10F59, 10F82-10F89, 11070, 11073-11074, 110C2, 110CD, 111C9, 111CF,
1123E, 11241, 1133B, 11438-1143F, 11442-11444, 11446, 1144B-1144F, 1145A-1145B, 1145D-1145E,
11660-1166C, 116B9, 1182F-11837, 11839-1183B, 1193B-1193C, 1193E, 11943-11946, 119D4-119D7,
119DA-119DB, 119E0, 119E2, 11A01-11A0A, 11A33-11A38, 11A3B-11A47, 11A51-11A56, 11A59-11A5B,
11A8A-11A96, 11A98-11A9C, 11A9E-11AA2, 11B00-11B09, 11C30-11C36, 11C38-11C3D, 11C3F,
11C41-11C45, 11C70-11C71, 11C92-11CA7, 11CAA-11CB0, 11CB2-11CB3, 11CB5-11CB6, 11D31-11D36,
11D3A, 11D3C-11D3D, 11D3F-11D45, 11D47, 11D90-11D91, 11D95, 11D97, 11EF3-11EF4, 11EF7-11EF8,
11F00-11F01, 11F36-11F3A, 11F40, 11F42-11F4F, 11FFF, 12FF1-12FF2, 13430-13440, 13447-13455,
16E97-16E9A, 16F4F, 16FE2, 16FE4, 1CF00-1CF2D, 1CF30-1CF46, 1E000-1E006, 1E008-1E018,
1E01B-1E021, 1E023-1E024, 1E026-1E02A, 1E08F, 1E130-1E136, 1E2AE, 1E2EC-1E2EF, 1E4EC-1E4EF,
1E944-1E94A, 1E95E-1E95F
"""


def points(text):
    """The code points of a text such as "61D, 890-891"."""
    result = set()
    for part in text.replace(",", " ").split():
        first, _, last = part.partition("-")
        result |= set(range(int(first, 16), int(last or first, 16) + 1))
    return result


KNOWN = {"15.0.0": {"minilm": points(MINILM_15), "words": set()}}
