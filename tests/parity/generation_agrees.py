#!/usr/bin/env python3
"""Compares what headroom generates and predicts with Transformers, on random small model folders.

usage: generation_agrees.py PROGRAM [--cases N] [--seed S]          (PROGRAM: headroom-f64)

Each case draws a model and a tokenizer, writes both into a folder, and compares in double:
* GPT-2: the tokens of greedy continuation (`attend --json`), also up to the end token, and the text
  that `sample --temperature 0` prints;
* Marian: the tokens of greedy translation with its end, and the text that `translate` prints;
* BERT: the attention weights of all heads;
* BERT with a classifier: the probabilities of all classes, in `attend` and `predict`;
* BERT as a masked language model: the most probable token of each [MASK].
HEADROOM_TORCH_PYTHON names a Python with torch, transformers, tokenizers and sentencepiece
(default: the one that runs this). Exits with 77, "skipped", without these.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

other = os.environ.pop("HEADROOM_TORCH_PYTHON", None)
if other:
    os.execvp(other, [other, *sys.argv])
try:
    import sentencepiece
    import tokenizers
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
warnings.filterwarnings("ignore", message=".*sacremoses")


def words_of(draw, letters, count=200):
    return ["".join(draw.choices(letters, k=draw.randint(1, 6))) for _ in range(count)]


def randomise(model, seed, spread):
    """Numbers that decide: with the usual small ones, every text is continued by one token."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:  # Marian's are computed
                parameter.add_(torch.randn(parameter.shape, generator=generator) * spread)
    return model.double().eval()


def sentence(draw, words, most=6):
    return " ".join(draw.choices(words, k=draw.randint(1, most)))


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def attended(program, folder, text, *more):
    return json.loads(run(program, "attend", "--model", folder, "--input", text, "--json", *more))


class Tally:
    def __init__(self):
        self.compared, self.wrong, self.ended = 0, 0, 0

    def same(self, what, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.wrong += 1
            print(f"  {what}:\n    headroom     {ours!r}\n    Transformers {theirs!r}")


def gpt2(program, folder, draw, seed, tally):
    words = words_of(draw, "abcdefg\u00e9\u4e2d")
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator([sentence(draw, words, 30) for _ in range(50)], vocab_size=320,
                            special_tokens=["<|endoftext|>"], show_progress=False)
    bpe.save_model(str(folder))
    tokenizer = transformers.GPT2TokenizerFast(vocab_file=str(folder / "vocab.json"),
                                               merges_file=str(folder / "merges.txt"))
    heads = draw.choice([1, 2, 4])
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=48, n_embd=16, n_layer=draw.choice([1, 2, 3]),
        n_head=heads, activation_function=draw.choice(["gelu_new", "gelu", "relu"]),
        eos_token_id=None, bos_token_id=0, tie_word_embeddings=draw.random() < 0.7)
    model = randomise(transformers.GPT2LMHeadModel(config), seed, 0.4)
    texts = [sentence(draw, words) for _ in range(4)]
    # A token that the model generates is the end, so that a text ends.
    ids = tokenizer(texts[0], return_tensors="pt").input_ids
    end = model.generate(ids, do_sample=False, max_new_tokens=9, pad_token_id=0)[0, -1].item()
    model.config.eos_token_id = model.generation_config.eos_token_id = end
    model.save_pretrained(folder)
    for text in texts:
        ids = tokenizer(text, return_tensors="pt").input_ids
        theirs = model.generate(ids, do_sample=False, max_new_tokens=20, pad_token_id=0)[0].tolist()
        record = attended(program, folder, text, "--length", 20)
        ours = record["ids"]["target_in"] + record["ids"]["target"][-1:]
        tally.ended += theirs[-1] == end
        tally.same("GPT-2: tokens", ours, theirs)
        told = json.loads(run(program, "sample", "--model", folder, "--prompt", text,
                              "--temperature", 0, "--length", 20, "--json"))
        written = theirs[ids.shape[1]:]
        if written[-1:] == [end]:
            written = written[:-1]
        tally.same("GPT-2: text", told["result"]["text"] if "result" in told else told["text"],
                   tokenizer.decode(written, skip_special_tokens=True,
                                    clean_up_tokenization_spaces=False))


def marian(program, folder, draw, seed, tally):
    vocabulary = {"</s>": 0, "<unk>": 1}
    words = {}
    for name, letters in (("source", "abcdefgh\u00e9"), ("target", "klmnop\u4e2d")):
        words[name] = words_of(draw, letters)
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([sentence(draw, words[name], 8) for _ in range(500)]),
            model_prefix=str(folder / name), vocab_size=80, hard_vocab_limit=False,
            character_coverage=1.0, minloglevel=2)
        (folder / f"{name}.model").rename(folder / f"{name}.spm")
        (folder / f"{name}.vocab").unlink()
        model = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.spm"))
        for i in range(model.get_piece_size()):
            if model.id_to_piece(i) not in ("<s>", "</s>", "<unk>"):
                vocabulary.setdefault(model.id_to_piece(i), len(vocabulary))
    vocabulary["<pad>"] = pad = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "de"}')
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary), max_position_embeddings=40, d_model=16,
        encoder_layers=draw.choice([1, 2]), decoder_layers=draw.choice([1, 2]),
        encoder_attention_heads=draw.choice([2, 4]), decoder_attention_heads=draw.choice([2, 4]),
        encoder_ffn_dim=24, decoder_ffn_dim=20, pad_token_id=pad, eos_token_id=0,
        decoder_start_token_id=draw.choice([pad, pad, 2]), scale_embedding=draw.random() < 0.5,
        activation_function=draw.choice(["swish", "gelu", "relu"]))
    model = randomise(transformers.MarianMTModel(config), seed, 0.4)
    # A random model would seldom end.
    with torch.no_grad():
        model.final_logits_bias[0, 0] = 4.0
    model.generation_config.bad_words_ids = [[pad]]  # as all models of Marian have it
    model.generation_config.forced_eos_token_id = None
    model.save_pretrained(folder)
    for _ in range(4):
        text = sentence(draw, words["source"])
        batch = tokenizer([text], return_tensors="pt")
        theirs = model.generate(**batch, do_sample=False, num_beams=1, max_length=40)[0].tolist()
        record = attended(program, folder, text)
        tally.same("Marian: source", record["ids"]["source"], batch.input_ids[0].tolist())
        ours = record["ids"]["target_in"][:1] + record["ids"]["target"]
        tally.ended += theirs[-1] == 0
        tally.same("Marian: tokens", ours, theirs)
        told = run(program, "translate", "--model", folder, text).removesuffix("\n")
        tally.same("Marian: text", told, tokenizer.decode(
            theirs[1:], skip_special_tokens=True, clean_up_tokenization_spaces=False))


def bert(program, folder, draw, seed, tally, masked):
    words = words_of(draw, "abcdefg", 60)
    letters = [p + c for c in "abcdefg" for p in ("", "##")]
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = specials + list(dict.fromkeys(letters + words[:40]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    tokenizer = transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt"))
    labels = draw.choice([2, 3, 5])
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=24, max_position_embeddings=48,
        id2label={i: f"kind {i}" for i in range(labels)})
    cls = transformers.BertForMaskedLM if masked else transformers.BertForSequenceClassification
    config._attn_implementation = "eager"  # which can give the weights
    model = randomise(cls(config), seed, 0.3)
    model.save_pretrained(folder)
    for _ in range(4):
        text = sentence(draw, words)
        if masked:
            parts = text.split()
            parts[draw.randrange(len(parts))] = "[MASK]"
            text = " ".join(parts + ["[MASK]"])
        batch = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            out = model(**batch, output_attentions=True)
        p = torch.softmax(out.logits[0], -1)
        record = attended(program, folder, text)
        tally.same("BERT: tokens", record["ids"]["source"], batch.input_ids[0].tolist())
        maps = torch.tensor([one["rows"] for one in record["example"]["maps"]])
        far = (maps - torch.cat([layer[0] for layer in out.attentions])).abs().max()
        tally.same("BERT: attention weights to 4 decimals", bool(far < 6e-5), True)
        answer = record["answer"]
        if masked:
            places = [p[i] for i, id in enumerate(batch.input_ids[0]) if id == 4]
            theirs = [vocabulary[int(one.argmax())] for one in places]
            tally.same("BERT: [MASK]", answer["text"], " ".join(theirs))
            tally.same("BERT: probability", round(answer["classes"][0]["probability"], 9),
                       round(float(places[0].max()), 9))
            continue
        theirs = sorted(((round(float(v), 9), f"kind {i}") for i, v in enumerate(p)), reverse=True)
        told = json.loads(predicted(program, folder, text))
        for ours in (answer["classes"], told["classes"]):
            tally.same("BERT: classes", [(round(c["probability"], 9), c.get("name", c.get("class")))
                                         for c in ours], theirs)


def predicted(program, folder, text):
    lines = folder / "lines.txt"
    lines.write_text(text + "\n")
    return run(program, "predict", "--model", folder, "--json", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    program = pathlib.Path(asked.program).resolve()
    wrong = 0
    for name, compare in (("gpt2", gpt2), ("marian", marian),
                          ("bert classifier", lambda *a: bert(*a, masked=False)),
                          ("bert masked", lambda *a: bert(*a, masked=True))):
        tally = Tally()
        for case in range(asked.cases):
            with tempfile.TemporaryDirectory() as folder:
                seed = 1000 * asked.seed + case
                compare(program, pathlib.Path(folder), random.Random(seed), seed, tally)
        print(f"{name}: {tally.compared} comparisons, {tally.wrong} differ"
              + (f"; {tally.ended} outputs ended" if tally.ended else ""))
        wrong += tally.wrong
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
