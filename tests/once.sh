#!/usr/bin/env bash
# Runs a test, unless it passed before and nothing changed since.
#
# usage: once.sh NAME COMMAND...
#   HEADROOM_PASSED: folder with a file per test that passed, which ./headroom test --long makes and
#   empties when a source changed; without it the test always runs
set -uo pipefail
name=$1
shift
passed=${HEADROOM_PASSED:-}
if [[ -n $passed && -e $passed/$name ]]; then
  echo "passed before; to run it again: rm $passed/$name"
  exit 0
fi
"$@" || exit
[[ -z $passed ]] || : >"$passed/$name"
