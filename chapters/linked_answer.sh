#!/usr/bin/env bash
# Runs the checks of an exercise that were linked with one answer, and proves three things: they
# say what is promised of this answer, they pass only right ones, and the answer really stands in
# the place of the library's own function (by the linker's map).
#
# usage: linked_answer.sh PROGRAM LIBRARY MEMBER ANSWER PROMISED_TEXT
set -uo pipefail
program=$1 library=$2 member=$3 answer=$4 promised=$5

said=$("$program")
code=$?
echo "$said"
grep -qF -- "$promised" <<<"$said" || { echo "should have said: $promised"; exit 1; }
wanted=1
[[ $answer == library || $answer == solution ]] && wanted=0
((code == wanted)) || { echo "exit code $code instead of $wanted"; exit 1; }

# The map's first part lists the members of the library that were needed.
linked=object expected=object
grep -qF "$(basename "$library")($member)" "$program.map" && linked=library
[[ $answer == library ]] && expected=library
[[ $linked == "$expected" ]] || { echo "$member comes from the $linked"; exit 1; }

# Whatever else the member defined would be missing from the program, or there twice.
functions=$(nm -C "$library" | sed -n "/^$member:/,/^$/p" | grep -c ' T ')
((functions == 1)) || { echo "$member defines $functions functions, not one"; exit 1; }
