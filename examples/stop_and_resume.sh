#!/bin/sh
# usage: stop_and_resume.sh PROGRAM: runs the example training_run once as a whole, and once stopped
# in the middle and resumed; both must leave the same model.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder/whole" 80 > "$folder/whole.txt"
"$1" "$folder/parts" 80 > "$folder/parts.txt" &
run=$!
until grep -qs '"step":50,' "$folder/parts/metrics.jsonl" || ! kill -0 $run 2> /dev/null; do
  sleep 0.05
done
kill -INT $run || true
code=0
wait $run || code=$?
[ $code -eq 130 ] || { echo "stopped run: exit code $code, not 130"; exit 1; }
[ ! -e "$folder/parts/summary.json" ] || { echo "the run was not stopped"; exit 1; }
"$1" "$folder/parts" 80 > "$folder/parts.txt"
for name in checkpoint.safetensors best.safetensors summary.json config.json; do
  cmp "$folder/whole/$name" "$folder/parts/$name"
done
grep -q '"record":"heads"' "$folder/parts/metrics.jsonl"
[ ! -e "$folder/whole/report.html" ] || grep -q removed_at "$folder/parts/report.html"
