"""Writes model folders of Hugging Face Transformers, and what the model in each of them computes.

usage: make_folder_cases.py OUT [--seed 3] [--count 13] [--only KIND ...]
       make_folder_cases.py --check DIR [--only KIND ...]

The first form writes `count` cases of each kind, OUT/KIND_SEED_I/. Every variant of a kind occurs
at least once among 12 cases, whatever the seed. The second form opens each folder of DIR with
from_pretrained in float64, computes everything again, demands agreement to 1e-12, says which
variants occurred how often, and exits 1 if a case disagrees.
Needs torch 2.13, transformers 4.57 and safetensors; the committed cases are `--seed 3 --count 13`.

A case is a folder
------------------
config.json           as save_pretrained writes it
model.safetensors     likewise, or, when `sharded`, model-0000I-of-0000N.safetensors with
                      model.safetensors.index.json
generation_config.json   gpt2_lm and marian_mt only (save_pretrained writes it; not needed)
expected.safetensors  what the model computes

All parameters are random, biases and norms too, and exactly representable in float32 (when the
files are float16 or bfloat16: in that). Everything is computed in float64, in eval mode, with the
eager attention, by the model that from_pretrained(folder, dtype=torch.float64) gives.

The kinds and the model each stands for
---------------------------------------
bert_model       BertModel; without its pooler (add_pooling_layer=False) when `pooler` is false
bert_mlm         BertForMaskedLM
bert_classifier  BertForSequenceClassification
gpt2_lm          GPT2LMHeadModel
marian_mt        MarianMTModel

expected.safetensors
--------------------
Numbers are float64, ids int64, masks uint8 (1: a token, 0: padding). B texts of T tokens.

in.input_ids            [B, T]
in.attention_mask       [B, T], when `padding` is not none
in.token_type_ids       [B, T], when `token_types_given` (else Transformers takes zeros)
in.labels               bert_mlm, gpt2_lm: [B, T]; marian_mt: [B, target length]; -100 is ignored.
                        bert_classifier: [B], float64 [B] or [B, labels] for regression, float64
                        [B, labels] for multi_label_classification
in.decoder_input_ids    marian_mt, [B, target length]: shift_tokens_right of the labels
out.last_hidden_state   bert_model
out.pooler_output       bert_model with `pooler`
out.logits, out.loss    the other kinds; the loss has shape []
out.cached_logits       gpt2_lm and marian_mt: the logits, computed one token at a time with
                        past_key_values
cot.X                   a random cotangent for every out.X but cached_logits
grad.param.NAME         the gradient of the sum over X of (out.X * cot.X).sum(), for every NAME of
                        model.named_parameters(), except Marian's embed_positions, which are
                        constants. Tied weights have one name, the first.

At padded positions last_hidden_state, logits and cached_logits of [B, T, ...] are stored as 0 and
their cotangents are 0. Marian's targets have no mask, so all their positions count: where labels
are -100, the decoder reads the pad id at the next place, and attends to it.
pooler_output and the classifier's logits are those of position 0, also where that is padding (left
padding): it attends to the tokens, and its own input is the id in in.input_ids.

Position ids are 0, 1, ... T - 1, also with padding on the left: that is what the models do when
they are called with input_ids and attention_mask only.

The loss of gpt2_lm compares logits at t with labels at t + 1; it is computed here in float64
(Transformers rounds the logits to float32 for it). The label of the first token after padding on
the left is -100, because logits of padding would have to predict it.

The gradient of a row pad_token_id of BERT's word embeddings and of Marian's embeddings has no part
from looking it up (padding_idx of torch.nn.Embedding); the part from a tied output layer is there.

Metadata: `kind`, and `config`, a JSON object
---------------------------------------------
padding           none, right, left
padding_ids       what the ids at padding are: pad (pad_token_id) or any (random ids)
dtype             of the files: float64, float32, float16, bfloat16
sharded           whether the parameters are in several files
saved_from        the class whose save_pretrained wrote the folder. BertForMaskedLM.bert and
                  GPT2Model (the `.transformer` of a GPT2LMHeadModel): keys without the base prefix.
                  For bert_model, BertForMaskedLM, BertForSequenceClassification and
                  BertForPreTraining: keys with `bert.`, and others to ignore.
                  For bert_mlm, BertForPreTraining: a pooler and a second head to ignore
rewritten         whether tensors were renamed or added; else the files are what save_pretrained
                  wrote
activation, layers, heads, width   what config.json says (of marian_mt: two numbers each for layers
                  and heads, encoder and decoder)
BERT and GPT-2:
layer_norm_eps    what config.json says
prune             none, some (heads), one_left (of a layer)
pruned_heads      {layer: [heads]}, as in config.json. Heads are numbered as before pruning
BERT:
token_types       type_vocab_size: 1, 2, 3
token_types_given whether in.token_type_ids is there
norm_names        weight (LayerNorm.weight and .bias) or gamma (LayerNorm.gamma and .beta)
extra_buffers     none, or position_ids: embeddings.position_ids (int64) is in the files
pad_id_in_text    whether pad_token_id occurs where there is no padding
pooler            bert_model: whether there is one
tied_weights      bert_mlm: once; twice: cls.predictions.decoder.weight and .bias are in the files,
                  equal to the word embeddings and cls.predictions.bias; untied: config.json has
                  tie_word_embeddings false, and the decoder has a weight of its own
labels, problem_type, problem_type_in_config   bert_classifier: their number, the loss
                  (single_label_classification: cross entropy, regression: mean squared error,
                  multi_label_classification: binary cross entropy with logits), and whether
                  config.json names it
GPT-2:
n_inner           null or a number
extra_buffers     none, or F32, U8, BOOL: h.I.attn.bias [1, 1, positions, positions] in that type,
                  and h.I.attn.masked_bias (float32, shape []) are in the files
tied_weights      once; twice: lm_head.weight is in the files, equal to wte.weight; untied
Marian:
ffn               two numbers, encoder and decoder
scale_embedding, share_embeddings   what config.json says (the latter as
                  share_encoder_decoder_embeddings)
tied_weights      once; twice: every name of a tied weight is in the files; untied: lm_head.weight
                  is a weight of its own
start             pad: decoder_start_token_id is pad_token_id; other: it is not
positions         computed: embed_positions are not in the files, and are the sines and cosines
                  rounded to float32; in_file: they are in the files, too
"""
import argparse
import hashlib
import json
import math
import pathlib
import random
import shutil
import struct
import sys
from collections import Counter

import torch
import torch.nn.functional as F
import transformers
from safetensors import safe_open
from transformers.models.marian.modeling_marian import shift_tokens_right

DTYPES = {"float64": torch.float64, "float32": torch.float32,
          "float16": torch.float16, "bfloat16": torch.bfloat16}
ACTIVATIONS = ["gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish"]
WIDTHS = {"small": [8, 8, 9, 12], "large": [12, 15, 16, 20, 24]}
MOST_PARAMETERS = {"small": 2600, "large": 4200}  # of one model, to keep the files small
IGNORED = -100


# ---------------------------------------------------------------- choices
class Draw:
    """The random choices of one case."""

    def __init__(self, kind, seed, index):
        self.kind, self.seed, self.index = kind, seed, index
        self.random = self._generator("case", index)

    def _generator(self, *what):
        text = "/".join(str(part) for part in (self.kind, self.seed, *what))
        return random.Random(hashlib.sha256(text.encode()).digest())

    def every(self, name, options):
        """Walks through all options in n cases, in another order for every name and round."""
        turn, place = divmod(self.index, len(options))
        order = list(options)
        self._generator(name, turn).shuffle(order)
        return order[place]

    def one(self, *options):
        return self.random.choice(options)

    def between(self, low, high):
        return self.random.randint(low, high)


def settings(draw):
    """What all kinds have: padding and the form of the files."""
    padding, ids = draw.every("padding", [("none", "pad"), ("right", "pad"), ("left", "pad"),
                                          ("none", "pad"), ("right", "any"), ("left", "any")])
    return {
        "padding": padding, "padding_ids": ids,
        "dtype": draw.every("dtype", ["float32", "float64", "float16", "float32", "bfloat16"]),
        "sharded": draw.every("sharded", [True, False, False, False]),
        "activation": draw.every("activation", ACTIVATIONS),
    }


def size_of(draw):
    return draw.every("size", ["small", "small", "large", "small"])


def width_and_heads(draw, least_heads=1):
    """A width, and a number of heads that divides it."""
    width = draw.one(*WIDTHS[size_of(draw)])
    heads = [h for h in range(least_heads, 5) if width % h == 0]
    return (width, draw.one(*heads)) if heads else width_and_heads(draw, least_heads)


def heads_to_prune(draw, how, layers, heads):
    """{layer: heads}; at least one head of every layer stays."""
    if how == "none":
        return {}
    gone = {}
    for layer in range(layers):
        count = draw.between(0 if layer else 1, heads - 1)
        if how == "one_left" and layer == 0:
            count = heads - 1
        if count:
            gone[layer] = sorted(draw.random.sample(range(heads), count))
    return gone


def small_model(draw, make):
    """Draws models until one is small enough."""
    most = MOST_PARAMETERS[size_of(draw)]
    while True:
        model = make()
        if sum(p.numel() for p in model.parameters()) <= most:
            return model


# ---------------------------------------------------------------- numbers
def rounded(tensor, dtype=torch.float32):
    """The nearest numbers that float32 and `dtype` have, as float64."""
    return tensor.float().to(dtype).double()


def randomize(model, dtype):
    """Draws all parameters, and Marian's final_logits_bias."""
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                if "PositionalEmbedding" not in type(module).__name__:
                    parameter.copy_(rounded(random_parameter(module, name, parameter), dtype))
        for name, buffer in model.named_buffers():
            if name == "final_logits_bias":
                buffer.copy_(rounded(torch.randn_like(buffer) / 2, dtype))


def random_parameter(module, name, like):
    noise = torch.randn_like(like)
    if isinstance(module, torch.nn.LayerNorm):
        return noise / 5 + (1 if name == "weight" else 0)
    if like.dim() == 1:
        return noise * 0.3
    if isinstance(module, torch.nn.Embedding):
        return noise * 0.7
    inputs = like.shape[0] if type(module).__name__ == "Conv1D" else like.shape[1]
    return noise * 1.2 / math.sqrt(inputs)


# ---------------------------------------------------------------- inputs
def random_mask(draw, padding, batch, length):
    """[batch, length]: the first text has no padding, at least one other has some."""
    tokens = [length] + [draw.between(1, length) for _ in range(batch - 1)]
    tokens[-1] = draw.between(1, length - 1)
    rows = [[1] * n + [0] * (length - n) for n in tokens]
    return torch.tensor([row if padding == "right" else row[::-1] for row in rows])


def random_text(draw, info, vocabulary, pad, longest):
    """input_ids, and attention_mask when there is padding."""
    length = draw.between(3, min(9, longest))
    batch = draw.between(1, 3) if info["padding"] == "none" else draw.between(2, 3)
    ids = random_ids(vocabulary, pad, batch, length)
    if info["padding"] == "none":
        return {"input_ids": ids}
    mask = random_mask(draw, info["padding"], batch, length)
    if info["padding_ids"] == "pad":
        ids[mask == 0] = pad
    return {"input_ids": ids, "attention_mask": mask}


def random_ids(vocabulary, without, *shape):
    """Ids of the vocabulary, of which one may be left out."""
    ids = torch.tensor([i for i in range(vocabulary) if i != without])
    return ids[torch.randint(len(ids), shape)]


def token_labels(inputs, labels):
    """Ignores some of the labels and all at padding, but not that of the last token of text 0."""
    keep = inputs.get("attention_mask", torch.ones_like(labels)) == 1
    labels[torch.rand(labels.shape) < 0.3] = IGNORED
    last = keep[0].nonzero()[-1]
    labels[0, last] = inputs["input_ids"][0, last]
    return labels.masked_fill(~keep, IGNORED)


# ---------------------------------------------------------------- BERT
def bert_settings(draw):
    types = draw.every("token_types", [(2, True), (2, False), (1, True), (3, True), (1, False),
                                       (3, False)])
    return settings(draw) | {
        "layer_norm_eps": draw.every("eps", [1e-12, 1e-5, 0.05, 1e-6]),
        "token_types": types[0], "token_types_given": types[1],
        "norm_names": draw.every("norm_names", ["weight", "weight", "gamma"]),
        "extra_buffers": draw.every("extra_buffers", ["none", "none", "position_ids"]),
        "pad_id_in_text": draw.every("pad_id_in_text", [False, False, True]),
        "prune": draw.every("prune", ["none", "some", "none", "one_left"]),
    }


def bert_config(draw, info, **more):
    width, heads = width_and_heads(draw, {"none": 1, "some": 2, "one_left": 3}[info["prune"]])
    return transformers.BertConfig(
        vocab_size=draw.one(width + 3, draw.between(11, 40)), hidden_size=width,
        num_hidden_layers=draw.one(1, 1, 2, 2, 3), num_attention_heads=heads,
        intermediate_size=draw.one(width, width, 2 * width, draw.between(5, 30)),
        hidden_act=info["activation"], max_position_embeddings=draw.between(12, 20),
        type_vocab_size=info["token_types"], layer_norm_eps=info["layer_norm_eps"],
        pad_token_id=draw.one(0, 0, 1, 5), attn_implementation="eager", **more)


def bert(draw, info, make, **more):
    """A BERT with random sizes and parameters, some of its heads pruned."""
    model = small_model(draw, lambda: make(bert_config(draw, info, **more))).double()
    prune(draw, info, model)
    return model


def prune(draw, info, model):
    """Prunes heads and draws the parameters."""
    config = model.config
    gone = heads_to_prune(draw, info["prune"], config.num_hidden_layers,
                          config.num_attention_heads)
    model.prune_heads(gone)
    info |= {"layers": config.num_hidden_layers, "heads": config.num_attention_heads,
             "width": config.hidden_size,
             "pruned_heads": {str(layer): heads for layer, heads in gone.items()}}
    randomize(model, DTYPES[info["dtype"]])


def bert_inputs(draw, info, config):
    pad = config.pad_token_id
    inputs = random_text(draw, info, config.vocab_size, pad, config.max_position_embeddings)
    if info["pad_id_in_text"]:
        inputs["input_ids"][0, 1] = pad
    if info["token_types_given"]:
        inputs["token_type_ids"] = torch.randint(config.type_vocab_size,
                                                 inputs["input_ids"].shape)
    return inputs


def bert_model(draw):
    info = bert_settings(draw)
    source, pooler = draw.every("saved_from", [
        ("BertModel", True), ("BertModel", False), ("BertForMaskedLM", False),
        ("BertForMaskedLM.bert", False), ("BertForSequenceClassification", True),
        ("BertForPreTraining", True)])
    if source == "BertModel":
        model = bert(draw, info, lambda c: transformers.BertModel(c, add_pooling_layer=pooler))
    else:
        model = bert(draw, info, getattr(transformers, source.removesuffix(".bert")))
    if source.endswith(".bert"):
        model = model.bert
    info |= {"saved_from": source, "pooler": pooler}
    return model, bert_inputs(draw, info, model.config), info


def bert_mlm(draw):
    info = bert_settings(draw)
    tied = draw.every("tied_weights", ["once", "twice", "untied", "once"])
    source = draw.every("saved_from", ["BertForMaskedLM", "BertForMaskedLM", "BertForPreTraining"])
    model = bert(draw, info, getattr(transformers, source), tie_word_embeddings=tied != "untied")
    info |= {"saved_from": source, "tied_weights": tied}
    inputs = bert_inputs(draw, info, model.config)
    shape = inputs["input_ids"].shape
    inputs["labels"] = token_labels(inputs, torch.randint(model.config.vocab_size, shape))
    return model, inputs, info


def bert_classifier(draw):
    info = bert_settings(draw)
    labels, problem = draw.every("labels", [
        (2, "single_label_classification"), (3, "single_label_classification"),
        (4, "single_label_classification"), (1, "regression"), (3, "regression"),
        (4, "multi_label_classification")])
    named = draw.every("problem_type_in_config", [True, False])
    named = named or (problem == "regression" and labels > 1)
    model = bert(draw, info, transformers.BertForSequenceClassification, num_labels=labels,
                 problem_type=problem if named else None)
    info |= {"saved_from": "BertForSequenceClassification", "labels": labels,
             "problem_type": problem, "problem_type_in_config": named}
    inputs = bert_inputs(draw, info, model.config)
    inputs["labels"] = class_labels(labels, problem, inputs["input_ids"].shape[0])
    return model, inputs, info


def class_labels(labels, problem, batch):
    if problem == "single_label_classification":
        return torch.randint(labels, (batch,))
    if problem == "regression":
        return rounded(torch.randn((batch,) if labels == 1 else (batch, labels)))
    return torch.randint(2, (batch, labels)).double()


# ---------------------------------------------------------------- GPT-2
def gpt2_config(draw, info, inner):
    width, heads = width_and_heads(draw, {"none": 1, "some": 2, "one_left": 3}[info["prune"]])
    vocabulary = draw.one(width + 3, draw.between(11, 40))
    return transformers.GPT2Config(
        vocab_size=vocabulary, n_positions=draw.between(12, 20), n_embd=width,
        n_layer=draw.one(1, 2, 2, 3), n_head=heads,
        n_inner={"null": None, "width": width, "other": draw.between(5, 30)}[inner],
        activation_function=info["activation"], layer_norm_epsilon=info["layer_norm_eps"],
        tie_word_embeddings=info["tied_weights"] != "untied",
        bos_token_id=vocabulary - 1, eos_token_id=vocabulary - 1, attn_implementation="eager")


def gpt2_lm(draw):
    source, tied = draw.every("saved_from", [
        ("GPT2LMHeadModel", "once"), ("GPT2LMHeadModel", "twice"), ("GPT2LMHeadModel", "untied"),
        ("GPT2Model", "once")])
    info = settings(draw) | {
        "layer_norm_eps": draw.every("eps", [1e-5, 1e-5, 0.05, 1e-6]),
        "saved_from": source, "tied_weights": tied,
        "extra_buffers": draw.every("extra_buffers", ["none", "F32", "none", "U8", "none",
                                                      "BOOL"]),
        "prune": draw.every("prune", ["none", "some", "none", "one_left"]),
    }
    inner = draw.every("n_inner", ["null", "width", "other"])
    model = small_model(
        draw, lambda: transformers.GPT2LMHeadModel(gpt2_config(draw, info, inner))).double()
    prune(draw, info, model)
    config = model.config
    info["n_inner"] = config.n_inner
    inputs = random_text(draw, info, config.vocab_size, config.eos_token_id, config.n_positions)
    inputs["labels"] = token_labels(inputs, inputs["input_ids"].clone())
    if info["padding"] == "left":
        for row, mask in zip(inputs["labels"], inputs["attention_mask"]):
            row[mask.argmax()] = IGNORED if mask[0] == 0 else row[0]
    return (model if source == "GPT2LMHeadModel" else model.transformer), inputs, info


# ---------------------------------------------------------------- Marian
def marian_config(draw, info):
    width, heads = width_and_heads(draw)
    more_heads = draw.one(*[h for h in range(1, 5) if width % h == 0])
    vocabulary = draw.one(width + 3, draw.between(11, 30))
    return transformers.MarianConfig(
        vocab_size=vocabulary, d_model=width, max_position_embeddings=draw.between(12, 20),
        encoder_layers=draw.one(1, 1, 2, 3), decoder_layers=draw.one(1, 1, 2),
        encoder_attention_heads=heads, decoder_attention_heads=more_heads,
        encoder_ffn_dim=draw.one(width, draw.between(5, 24)),
        decoder_ffn_dim=draw.one(width, draw.between(5, 24)),
        activation_function=info["activation"], scale_embedding=info["scale_embedding"],
        share_encoder_decoder_embeddings=info["share_embeddings"],
        tie_word_embeddings=info["tied_weights"] != "untied",
        pad_token_id=vocabulary - 1, eos_token_id=0, forced_eos_token_id=0,
        decoder_start_token_id=vocabulary - 1 if info["start"] == "pad" else 2,
        attn_implementation="eager")


def marian_mt(draw):
    share, tied = draw.every("tied_weights", [
        (True, "once"), (True, "twice"), (False, "once"), (False, "untied"), (False, "twice"),
        (True, "untied")])
    info = settings(draw) | {
        "saved_from": "MarianMTModel", "share_embeddings": share, "tied_weights": tied,
        "scale_embedding": draw.every("scale_embedding", [True, False]),
        "start": draw.every("start", ["pad", "pad", "other"]),
        "positions": draw.every("positions", ["computed", "in_file"]),
    }
    if info["dtype"] in ("float16", "bfloat16"):
        info["positions"] = "computed"  # headroom computes the table, which these would round
    model = small_model(
        draw, lambda: transformers.MarianMTModel(marian_config(draw, info))).double()
    randomize(model, DTYPES[info["dtype"]])
    c = model.config
    info |= {"layers": [c.encoder_layers, c.decoder_layers], "width": c.d_model,
             "heads": [c.encoder_attention_heads, c.decoder_attention_heads],
             "ffn": [c.encoder_ffn_dim, c.decoder_ffn_dim]}
    inputs = random_text(draw, info, c.vocab_size, c.pad_token_id, c.max_position_embeddings)
    labels = target_labels(draw, c, inputs["input_ids"].shape[0])
    inputs |= {"labels": labels, "decoder_input_ids": shift_tokens_right(
        labels, c.pad_token_id, c.decoder_start_token_id)}
    return model, inputs, info


def target_labels(draw, config, batch):
    """Targets of different lengths, filled up with -100; the first is of full length."""
    length = draw.between(3, 8)
    labels = random_ids(config.vocab_size, config.pad_token_id, batch, length)
    for row in labels[1:]:
        row[draw.between(1, length):] = IGNORED
    return labels


# ---------------------------------------------------------------- the folder
def write_model(folder, model, info):
    """save_pretrained in the type of the case, with tensors renamed or added where it says so."""
    dtype = DTYPES[info["dtype"]]
    model = model.to(dtype)
    rewritten = changed_tensors(model, info)
    info["rewritten"] = rewritten is not None
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    options = {"max_shard_size": size // 3} if info["sharded"] else {}
    if rewritten is not None:
        options["state_dict"] = rewritten
        model._keys_to_ignore_on_save = None
    model.save_pretrained(folder, **options)


def changed_tensors(model, info):
    """The tensors for the files by name, or None to leave them to save_pretrained."""
    extra = extra_buffers(model, info) | positions(model, info)
    twice = info.get("tied_weights") == "twice"
    gamma = info.get("norm_names") == "gamma"
    if not (extra or twice or gamma):
        return None
    state = {name: t.clone() for name, t in model.state_dict().items()
             if "embed_positions" not in name}
    if not twice:
        for name in tied_copies(model):
            del state[name]
    return {old_norm_name(name) if gamma else name: t for name, t in (state | extra).items()}


def tied_copies(model):
    """The names that save_pretrained leaves out, because another name has the same tensor."""
    kept = ["shared.weight", "embed_tokens.weight", "word_embeddings.weight", "wte.weight",
            "predictions.bias"]

    def rank(item):
        return next((i for i, end in enumerate(kept) if item[0].endswith(end)), len(kept))

    seen, copies = set(), []
    for name, tensor in sorted(model.state_dict().items(), key=rank):
        if tensor.data_ptr() in seen:
            copies.append(name)
        seen.add(tensor.data_ptr())
    return copies


def old_norm_name(name):
    """As TensorFlow called it."""
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias",
                                                                       "LayerNorm.beta")


def extra_buffers(model, info):
    """The buffers that older versions of Transformers saved."""
    kind = info.get("extra_buffers", "none")
    extra = {}
    for name, buffer in model.named_buffers():
        if kind == "position_ids" and name.endswith("embeddings.position_ids"):
            extra[name] = buffer.clone()
        if kind in ("F32", "U8", "BOOL") and name.endswith("attn.bias"):
            types = {"F32": torch.float32, "U8": torch.uint8, "BOOL": torch.bool}
            extra[name] = buffer.to(types[kind], copy=True)
        if kind in ("F32", "U8", "BOOL") and name.endswith("attn.masked_bias"):
            extra[name] = buffer.float().clone()
    return extra


def positions(model, info):
    """Marian's tables of positions, where they go into the files."""
    kind = info.get("positions", "computed")
    if kind == "computed":
        return {}
    tables = {}
    for name, parameter in model.named_parameters():
        if "embed_positions" in name:
            tables[name] = parameter.detach().clone()
    return tables


def open_model(kind, folder, info):
    """The model that the folder holds, in float64."""
    classes = {"bert_model": transformers.BertModel, "bert_mlm": transformers.BertForMaskedLM,
               "bert_classifier": transformers.BertForSequenceClassification,
               "gpt2_lm": transformers.GPT2LMHeadModel, "marian_mt": transformers.MarianMTModel}
    more = {"add_pooling_layer": info["pooler"]} if kind == "bert_model" else {}
    model, report = classes[kind].from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager", output_loading_info=True, **more)
    if report["missing_keys"] or report["mismatched_keys"]:
        raise ValueError(f"{folder}: the files lack {report}")
    return model.eval()


def drawn_parameters(model):
    """All parameters and final_logits_bias, by name, but for Marian's positions."""
    numbers = dict(model.named_parameters()) | dict(model.named_buffers())
    return {name: t.detach().clone() for name, t in numbers.items()
            if t.is_floating_point() and "embed_positions" not in name
            and not name.endswith("masked_bias")}


def require_same(drawn, opened):
    """Raises unless the opened model has exactly the numbers that were drawn."""
    for name, tensor in opened.items():
        names = [name, "bert." + name, name.removeprefix("transformer.")]
        same = [drawn[other] for other in names if other in drawn]
        if not same or not torch.equal(same[0], tensor):
            raise ValueError(f"{name} was not opened as it was drawn")


# ---------------------------------------------------------------- what the model computes
def outputs_of(kind, model, inputs):
    """The outputs of a case but cached_logits, zero at padding."""
    result = model(**inputs)
    if kind == "bert_model":
        outputs = {"last_hidden_state": without_padding(result.last_hidden_state, inputs)}
        if result.pooler_output is not None:
            outputs["pooler_output"] = result.pooler_output
        return outputs
    logits, loss = result.logits, result.loss
    if kind == "gpt2_lm":
        loss = next_token_loss(logits, inputs["labels"])
        if abs(loss - result.loss) > 1e-5 * max(1, abs(loss)):
            raise ValueError(f"the losses differ: {loss}, {result.loss}")
    if kind in ("bert_mlm", "gpt2_lm"):
        logits = without_padding(logits, inputs)
    return {"logits": logits, "loss": loss}


def without_padding(tensor, inputs):
    mask = inputs.get("attention_mask")
    return tensor if mask is None else torch.where(mask[..., None] == 1, tensor, 0.0)


def next_token_loss(logits, labels):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(),
                           ignore_index=IGNORED)


@torch.no_grad()
def cached_logits(kind, model, inputs):
    """The logits of one token after the other, each with the keys and values of those before."""
    mask, cache, logits = inputs.get("attention_mask"), None, []
    if kind == "marian_mt":
        encoded = model.get_encoder()(input_ids=inputs["input_ids"], attention_mask=mask)
    ids = inputs["decoder_input_ids" if kind == "marian_mt" else "input_ids"]
    for t in range(ids.shape[1]):
        if kind == "marian_mt":
            result = model(encoder_outputs=encoded, attention_mask=mask, past_key_values=cache,
                           decoder_input_ids=ids[:, t:t + 1], use_cache=True)
        else:
            result = model(ids[:, t:t + 1], past_key_values=cache, use_cache=True,
                           attention_mask=None if mask is None else mask[:, :t + 1])
        cache = result.past_key_values
        logits.append(result.logits)
    logits = torch.cat(logits, 1)
    return logits if kind == "marian_mt" else without_padding(logits, inputs)


def random_cotangents(kind, outputs, inputs):
    """One for each output, zero at padding."""
    cotangents = {name: rounded(torch.randn_like(t)) for name, t in outputs.items()}
    for name, t in cotangents.items():
        if name == "last_hidden_state" or (name == "logits" and kind in ("bert_mlm", "gpt2_lm")):
            cotangents[name] = without_padding(t, inputs)
    return cotangents


def gradients(model, outputs, cotangents):
    """grad.param.NAME for all parameters that are none of Marian's positions."""
    model.zero_grad()
    sum((t * cotangents[name]).sum() for name, t in outputs.items()).backward()
    return {f"grad.param.{name}": torch.zeros_like(p) if p.grad is None else p.grad.clone()
            for name, p in model.named_parameters() if "embed_positions" not in name}


def compute(kind, model, inputs, cotangents=None):
    """All out, cot and grad tensors of a case."""
    outputs = outputs_of(kind, model, inputs)
    if cotangents is None:
        cotangents = random_cotangents(kind, outputs, inputs)
    tensors = gradients(model, outputs, cotangents)
    if kind in ("gpt2_lm", "marian_mt"):
        outputs["cached_logits"] = cached_logits(kind, model, inputs)
        if not torch.allclose(outputs["cached_logits"], outputs["logits"], 1e-11, 1e-11):
            raise ValueError("the cached logits are others")
    for name, t in outputs.items():
        tensors[f"out.{name}"] = t
    return tensors | {f"cot.{name}": t for name, t in cotangents.items()}


# ---------------------------------------------------------------- making and checking
KINDS = {"bert_model": bert_model, "bert_mlm": bert_mlm, "bert_classifier": bert_classifier,
         "gpt2_lm": gpt2_lm, "marian_mt": marian_mt}


def make_case(kind, seed, index, out):
    draw = Draw(kind, seed, index)
    torch.manual_seed(draw.random.getrandbits(60))
    source, inputs, info = KINDS[kind](draw)
    drawn = drawn_parameters(source)
    folder = pathlib.Path(out) / f"{kind}_{seed}_{index}"
    shutil.rmtree(folder, ignore_errors=True)
    write_model(folder, source, info)
    model = open_model(kind, folder, info)
    require_same(drawn, drawn_parameters(model))
    tensors = compute(kind, model, inputs) | {f"in.{name}": t for name, t in inputs.items()}
    if "in.attention_mask" in tensors:
        tensors["in.attention_mask"] = tensors["in.attention_mask"].to(torch.uint8)
    write_expected(folder, {"kind": kind, "config": json.dumps(info)}, tensors)


def write_expected(folder, metadata, tensors):
    """A safetensors file, always in the same order, so that the same case has the same bytes."""
    types = {torch.float64: "F64", torch.int64: "I64", torch.uint8: "U8"}
    header, numbers = {"__metadata__": metadata}, b""
    for name, t in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        begin = len(numbers)
        numbers += t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": types[t.dtype], "shape": list(t.shape),
                        "data_offsets": [begin, len(numbers)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "expected.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + numbers)


def read_expected(folder):
    """kind, config and tensors of a case."""
    with safe_open(folder / "expected.safetensors", "pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    return metadata["kind"], json.loads(metadata["config"]), tensors


def part(tensors, prefix):
    return {name.removeprefix(prefix): t for name, t in tensors.items()
            if name.startswith(prefix)}


def complaint(folder):
    """What is wrong with a case, or an empty text."""
    kind, info, tensors = read_expected(folder)
    inputs = part(tensors, "in.")
    if "attention_mask" in inputs:
        inputs["attention_mask"] = inputs["attention_mask"].long()
    model = open_model(kind, folder, info)
    again = compute(kind, model, inputs, part(tensors, "cot."))
    names = {name for name in tensors if not name.startswith("in.")}
    if names != set(again):
        return f"tensors are missing or not known: {sorted(names ^ set(again))}"
    for name in sorted(names, key=lambda name: (not name.startswith("out."), name)):
        off = (again[name] - tensors[name]).abs().max()
        if not off <= 1e-12 * max(1, tensors[name].abs().max()):
            return f"{name} is off by {off:.3g}"
    return ""


def check(directory, kinds):
    """Recomputes all cases of a directory; returns whether they agree."""
    failed, tally = 0, {}
    folders = sorted(path.parent for path in pathlib.Path(directory).glob("*/expected.safetensors"))
    folders = [folder for folder in folders if read_expected(folder)[0] in kinds]
    for folder in folders:
        problem = complaint(folder)
        failed += bool(problem)
        print(f"FAIL {folder.name}: {problem}" if problem else f"ok {folder.name}")
        kind, info, _ = read_expected(folder)
        for name, value in info.items():
            tally.setdefault((kind, name), Counter())[json.dumps(value)] += 1
    for (kind, name), counts in tally.items():
        print(kind, name, ", ".join(f"{value}: {n}" for value, n in sorted(counts.items())))
    print(f"{len(folders) - failed} passed, {failed} failed")
    return bool(folders) and not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--count", type=int, default=13)
    parser.add_argument("--only", nargs="*", choices=KINDS)
    parser.add_argument("--check", metavar="DIR")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    kinds = options.only or list(KINDS)
    if options.check:
        sys.exit(0 if check(options.check, kinds) else 1)
    if not options.out:
        parser.error("say where to write, or what to check")
    for kind in kinds:
        for index in range(options.count):
            make_case(kind, options.seed, index, options.out)
    print(f"{len(kinds) * options.count} cases in {options.out}")


if __name__ == "__main__":
    main()
