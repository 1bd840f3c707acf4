#!/usr/bin/env bash
# The first minutes of a new user, timed: clone, demo, an attention map, the first exercise of the
# course. Writes the transcript in Markdown to standard output. docs/first-steps.md was made by
#
#   tests/fresh_machine.sh --keep 'tests/first_steps.sh >first-steps.md'
#
# on a bare Debian. It answers the exercise as a learner would who knows the answer: by an edit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

begin=$SECONDS
system=$(. /etc/os-release && echo "$PRETTY_NAME")
export COLUMNS=80 HEADROOM_WORKSPACE=$PWD/workspace

elapsed() { printf '%d min %02d s' $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)); }

step() { # step TITLE SENTENCE COMMAND [LINES]: runs a command, shows its output or the last LINES
  local output
  printf '## %s\n\n%s\n\n```\n$ %s\n' "$1" "$2" "$3"
  output=$(bash -c "$3" 2>&1) || true
  if [[ -n ${4:-} ]]; then
    echo '...'
    tail -n "$4" <<<"$output"
  else
    echo "$output"
  fi
  printf '```\n\nAfter %s.\n\n' "$(elapsed)"
}

cat <<EOF
# First steps

A transcript of the first minutes with headroom, made by \`tests/first_steps.sh\` on a bare
$system with $(nproc) processors. The clock begins after \`git clone\`;
Debian's packages were installed and everything was compiled on the way. All times depend on the
machine and its load. [Results](results.md) has the demo's results for five seeds.

EOF
step 'The demo' \
  'Installs packages, compiles, trains two models, removes half of their heads, shows a map.' \
  './headroom demo' 34
step 'Maps of your own' 'Asks the trained model a question, and shows where its heads looked.' \
  './headroom attend --model runs/demo-1 --input "May 3rd, 2021" --kind cross --layer 0' 18
step 'The course' \
  'Compiles what the first exercise needs, and lists all. The rest is built meanwhile.' \
  './headroom learn list' 24
step 'The first exercise' \
  'Puts a file into `workspace/`, and checks it. The file is wrong on purpose.' \
  './headroom learn check 00/1'
step 'An answer' \
  'Any editor will do. In a terminal, `./headroom learn 00/1` checks the file at every save.' \
  "sed -i 's|return 1;.*|return 1 / std::sqrt(Real(head_dim));|' \\
    workspace/00_first_light/1_scale.cpp
  ./headroom learn check 00/1"
