#!/usr/bin/env bash
# Runs the checks of an exercise that were linked with one answer, and proves four things: they
# print the text that is promised for this answer, they pass only right answers, they end by
# themselves (no signal, no abort), and the answer really replaces the library's own function (by
# the linker's map).
#
# usage: linked_answer.sh PROGRAM LIBRARY MEMBER ANSWER PROMISED_TEXT
set -uo pipefail
program=$1 library=$2 member=$3 answer=$4 promised=$5

said=$("$program")
code=$?
echo "$said"
# Catch2 breaks long lines.
grep -qF -- "$promised" <<<"$(tr -s ' \n' ' ' <<<"$said")" ||
  { echo "should have printed: $promised"; exit 1; }
right=0
[[ $answer == library || $answer == solution ]] && right=1
((right == (code == 0))) || { echo "exit code $code for the answer $answer"; exit 1; }
((code < 126)) || { echo "exit code $code: the checks did not end by themselves"; exit 1; }
grep -qE "fatal error|unexpected exception" <<<"$said" &&
  { echo "the checks let an exception or a signal through"; exit 1; }

# The map's first part lists the members of the library that were needed.
linked=object expected=object
grep -qF "$(basename "$library")($member)" "$program.map" && linked=library
[[ $answer == library ]] && expected=library
[[ $linked == "$expected" ]] || { echo "$member comes from the $linked"; exit 1; }

# Whatever else the member defined would be missing from the program, or there twice.
functions=$(nm -C "$library" | sed -n "/^$member:/,/^$/p" | grep -c ' T ')
((functions == 1)) || { echo "$member defines $functions functions, not one"; exit 1; }
