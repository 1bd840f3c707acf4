#!/bin/bash
# The exact study: every metric and chooser against all 4096 subsets of a model's 12 heads, at 4
# points of training, for 5 seeds, on dates (1 + 1 layers of 4 heads) and brackets (3 layers of 4),
# each trained with and without DropHead.
#
#     bash examples/studies/exact.sh [FOLDER]
#
# Trains 20 models in FOLDER (default runs/exact), two at a time, measures each kind of model, and
# writes the numbers to FOLDER/KIND.json (and KIND-500.json: sensitivity on 500 examples).
# Whatever is done is not done again. `python3 examples/studies/exact.py FOLDER` makes tables and a
# picture of the JSON. HEADROOM: the program (default ./headroom).
set -e
folder=${1:-runs/exact}
headroom=${HEADROOM:-./headroom}
mkdir -p "$folder"

train() { # NAME OPTIONS...
  local run=$folder/$1
  shift
  [ -e "$run/summary.json" ] && return
  "$headroom" train "$@" --validation 2000 --threads 1 --no-page --out "$run" --force \
    > "$run.log" 2>&1
}

dates="--task dates --layers 1 --heads 4 --steps 1300 --rate 4e-3 --snapshots 100,300,600,1300"
brackets="--task brackets --layers 3 --heads 4 --steps 2000 --rate 5e-4 --weight-decay 0.1
  --snapshots 200,500,1000,2000"
for seed in 1 2 3 4 5; do # shellcheck disable=SC2086  # options are several words
  train "dates-$seed" $dates --seed "$seed" &
  train "brackets-$seed" $brackets --seed "$seed"
  wait $!
  train "dates-dropped-$seed" $dates --drop-head 0.2 --seed "$seed" &
  train "brackets-dropped-$seed" $brackets --drop-head 0.2 --seed "$seed"
  wait $!
done

measure() { # KIND OUTPUT OPTIONS...
  local kind=$1 output=$folder/$2 runs=()
  shift 2
  [ -s "$output" ] && return
  for seed in 1 2 3 4 5; do runs+=("$folder/$kind-$seed"); done
  "$headroom" importance "$@" --json --trace "${runs[@]}" > "$output.part"
  mv "$output.part" "$output"
}

for kind in dates brackets; do
  measure "$kind" "$kind.json" --oracle --examples 64
  measure "$kind" "$kind-500.json" --metric sensitivity --examples 500
  measure "$kind-dropped" "$kind-dropped.json" --oracle --metric leave_one_out --examples 64
done
