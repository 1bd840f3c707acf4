#!/usr/bin/env python3
"""Gives the program files that are wrong in many ways. Each must be one line on standard error that
names the file and says what is wrong and what helps, with the exit code of its kind; nothing else
may be left behind.

usage: bad_files.py HEADROOM [--print]

--print prints what the program says.
"""

import pathlib
import subprocess
import sys
import tempfile

LATIN1 = "caf\u00e9\tcaf\u00e9s\n".encode("latin-1")
PAIRS = ["train", "--task", "pairs", "--steps", "2", "--data"]
LABELS = ["train", "--task", "labels", "--steps", "2", "--data"]
TESTED = [*LABELS, "good_labels.tsv", "--test-data"]
TEXT = ["train", "--task", "text", "--steps", "2", "--data"]
GOOD_PAIRS = "".join(f"{i}\t{2 * i}\n" for i in range(40))
GOOD_LABELS = "".join(f"word {i}\t{'yes' if i % 2 else 'no'}\n" for i in range(40))



def bad(count, lines):
    """The end of a line about rows that can be skipped."""
    which = "line" if count == 1 else "lines"
    return (f"; {count} bad {which} of {lines}; correct or skip {'it' if count == 1 else 'them'} "
            "(see --skip-bad-lines)")


# (file, its content, the command before it, more options, exit code, what the line says after
# "error: " and the name of the file, which it may have again as FILE)
CASES = [
    ("empty.tsv", "", PAIRS, [], 4,
     ": the file has no text"),
    ("header_only.tsv", "source\ttarget\n", PAIRS, [], 4,
     ": the file has no rows"),
    ("empty_lines.tsv", "\n\n\n", PAIRS, [], 4,
     ": the file has no text"),
    ("one_column.tsv", "cat\ndog\ncow\n", PAIRS, [], 4,
     ":1: 1 column, 2 are needed" + bad(3, 3)),
    ("spaces_for_tabs.tsv", "cat cats\ndog dogs\n", PAIRS, [], 4,
     ":1: 1 column, 2 are needed" + bad(2, 2)),
    ("one_short_row.tsv", GOOD_PAIRS + "cat\n", PAIRS, [], 4,
     ":41: 1 column, 2 are needed" + bad(1, 41)),
    ("empty_target.tsv", GOOD_PAIRS + "cat\t\n", PAIRS, [], 4,
     ":41: nothing in the column target" + bad(1, 41)),
    ("one_row.tsv", "cat\tcats\n", PAIRS, [], 4,
     ": 1 different source cannot be divided into 3 sets (see --split)"),
    ("same_source.tsv", "cat\tcats\n" * 5, PAIRS, [], 4,
     ": 1 different source cannot be divided into 3 sets (see --split)"),
    ("too_long.tsv", "a" * 10**6 + "\tb\n", PAIRS, [], 4,
     ": all rows are longer than 100 symbols (see --longest)"),
    ("all_too_long.tsv", "".join(f"{'ab' * 80}{i}\tb\n" for i in range(9)), PAIRS, [], 4,
     ": all rows are longer than 100 symbols (see --longest)"),
    ("utf16.tsv", GOOD_PAIRS.encode("utf-16"), PAIRS, [], 4,
     ":1: the file is in UTF-16, UTF-8 is needed: iconv -f UTF-16 -t UTF-8 FILE"),
    ("utf16_without_mark.tsv", GOOD_PAIRS.encode("utf-16-le"), PAIRS, [], 4,
     ":1: the file is in UTF-16LE, UTF-8 is needed: iconv -f UTF-16LE -t UTF-8 FILE"),
    ("utf32.tsv", GOOD_PAIRS.encode("utf-32"), PAIRS, [], 4,
     ":1: the file is in UTF-32, UTF-8 is needed: iconv -f UTF-32 -t UTF-8 FILE"),
    ("latin1.tsv", GOOD_PAIRS.encode() + LATIN1, PAIRS, [], 4,
     ":41: the line is not valid UTF-8 (if the file is in Latin-1: iconv -f LATIN1 -t "
     "UTF-8 FILE)" + bad(1, 41)),
    ("nul_bytes.tsv", b"\0" * 100, PAIRS, [], 4,
     ":1: NUL byte; this is not a text file"),
    ("wrong_columns.tsv", "word\tplural\ncat\tcats\n", PAIRS, ["--columns", "noun,plural"], 4,
     ':1: no column is called "noun"; the first line has "word", "plural" (see '
     '--columns)'),
    ("column_5.tsv", GOOD_PAIRS, PAIRS, ["--columns", "1,5"], 4,
     ":1: 2 columns, 5 are needed" + bad(40, 40)),
    ("three_columns.tsv", "a\tb\tc\nd\te\tf\n", PAIRS, [], 4,
     ":1: 3 columns; name the two that are meant" + bad(2, 2)),
    ("open_quote.csv", 'source,target\n"cat,cats\ndog,dogs\n', PAIRS, [], 4,
     ":2: the quote that begins here does not end; a quote in a quoted cell is written "
     "twice"),
    ("after_quote.csv", 'source,target\n"cat"x,cats\n', PAIRS, [], 4,
     ":2: text after the end of a quote; a quote in a quoted cell is written twice" + bad(1, 2)),
    ("no_json.jsonl", "cat\tcats\n", PAIRS, [], 4,
     ":1: malformed JSON: parse error at line 1, column 1: syntax error while parsing "
     "value - invalid literal; last read: 'c'" + bad(1, 1)),
    ("array.jsonl", '["cat", "cats"]\n', PAIRS, [], 4,
     ":1: the line is not a JSON object" + bad(1, 1)),
    ("other_keys.jsonl", '{"from": "cat", "to": "cats"}\n', PAIRS, [], 4,
     ':1: no key "source"' + bad(1, 1)),
    ("a_list.jsonl", '{"source": ["cat"], "target": "cats"}\n', PAIRS, [], 4,
     ':1: "source" is neither a text nor a number' + bad(1, 1)),
    ("nan.jsonl", '{"source": NaN, "target": "cats"}\n', PAIRS, [], 4,
     ":1: malformed JSON: parse error at line 1, column 12: syntax error while parsing "
     "value - invalid literal; last read: '\"source\": N'" + bad(1, 1)),
    ("infinite.jsonl", '{"source": 1e999, "target": "cats"}\n', PAIRS, [], 4,
     ":1: malformed JSON: number overflow parsing '1e999'" + bad(1, 1)),
    ("same_key.jsonl", '{"source": "a", "source": "b", "target": "c"}\n', PAIRS, [], 4,
     ':1: JSON key "source" occurs twice' + bad(1, 1)),
    ("cut_off.jsonl", '{"source": "cat", "target": "ca', PAIRS, [], 4,
     ":1: malformed JSON: parse error at line 1, column 32: syntax error while parsing "
     "value - invalid string: missing closing quote; last read: '\"ca'" + bad(1, 1)),
    ("one_class.tsv", "".join(f"word {i}\tyes\n" for i in range(40)), LABELS, [], 4,
     ': all rows have the label "yes"; a classifier needs two'),
    ("unknown_label.tsv", "good\tperhaps\n", TESTED, [], 4,
     ':1: the label "perhaps" does not occur in the training data; correct it, or add '
     'such rows there'),
    ("empty_test.tsv", "", TESTED, [], 4,
     ": the file has no text"),
    ("short.txt", "ab", TEXT, [], 4,
     ": the text is too short: it has 2 characters, at least 11 are needed"),
    ("empty.txt", "", TEXT, [], 4,
     ": the file has no text"),
    ("utf16.txt", ("the cat sat\n" * 400).encode("utf-16"), TEXT, [], 4,
     ":1: the file is in UTF-16, UTF-8 is needed: iconv -f UTF-16 -t UTF-8 FILE"),
    ("folder", None, TEXT, [], 5,
     ": is a folder; task text reads one file, or standard input for several"),
    ("broken.json", '{"task": "sort", "steps": }', ["train", "--config"], [], 5,
     ": malformed JSON: parse error at line 1, column 27: syntax error while parsing "
     "value - unexpected '}'; expected '[', '{', or a literal"),
    ("unknown_key.json", '{"task": "sort", "step": 3}', ["train", "--config"], [], 5,
     ': "step" is not a setting (did you mean steps?)'),
    ("broken.safetensors", b"\x10\0\0\0\0\0\0\0{}", ["predict", "--model"], [], 5,
     ": header: its length 16 is beyond the end of the file of 10 bytes"),
    ("table.xlsx", b"PK\x03\x04" + bytes(range(256)), PAIRS, [], 4,
     ": is a spreadsheet or an archive; save its table as .csv in UTF-8"),
]


def main(headroom, *options):
    headroom = pathlib.Path(headroom).absolute()
    wrong = 0
    for name, content, command, more, code, says in CASES:
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "good_labels.tsv").write_text(GOOD_LABELS)
            if content is None:
                (place / name).mkdir()
            else:
                (place / name).write_bytes(content if isinstance(content, bytes)
                                           else content.encode())
            done = subprocess.run([headroom, *command, name, *more], cwd=folder, text=True,
                                  errors="replace", capture_output=True, timeout=60, check=False)
            left = sorted(path.name for path in place.iterdir())
        line = done.stderr.strip().replace(folder + "/", "")
        if "--print" in options:
            print(f"{name}: {done.returncode} {line}")
            continue
        expected = f"error: {name}" + says.replace("FILE", name)
        good = (done.returncode == code and says and line == expected
                and left == sorted({"good_labels.tsv", name}))
        if not good:
            wrong += 1
            print(f"{name}: exit code {done.returncode}, not {code}; {left}", line, expected,
                  sep="\n  ")
    print(f"{len(CASES)} bad files, {wrong} wrong answers")
    return 1 if wrong or len(CASES) < 30 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
