#!/bin/bash
# The exact study: every metric and chooser against all 4096 subsets of a model's 12 heads, at 4
# points of training, for 5 seeds, on dates (1 + 1 layers of 4 heads) and brackets (3 layers of 4).
#
#     bash examples/studies/exact.sh [FOLDER]
#
# Trains 10 models in FOLDER (default runs/exact), two at a time, and writes tables to TASK.txt
# there. Models that are trained already are not trained again. HEADROOM: the program (default
# ./headroom).
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

for seed in 1 2 3 4 5; do
  train "dates-$seed" --task dates --layers 1 --heads 4 --steps 1300 --rate 4e-3 \
    --snapshots 100,300,600,1300 --seed "$seed" &
  train "brackets-$seed" --task brackets --layers 3 --heads 4 --steps 2000 --rate 5e-4 \
    --weight-decay 0.1 --snapshots 200,500,1000,2000 --seed "$seed"
  wait $!
done

for task in dates brackets; do
  runs=()
  for seed in 1 2 3 4 5; do runs+=("$folder/$task-$seed"); done
  "$headroom" importance --oracle --examples 128 --trace "${runs[@]}" > "$folder/$task.txt"
done
