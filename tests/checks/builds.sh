#!/usr/bin/env bash
# Compiles everything but the course in ways that the ordinary tests do not: as shared libraries,
# and with other compilers. In double, several files as one, warnings are errors.
#
# usage: builds.sh ROOT FOLDER shared
#        builds.sh ROOT FOLDER COMPILER     for example g++-14; exits with 77 where it is missing
set -euo pipefail
root=$1 folder=$2 kind=$3
options=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON
  -DHEADROOM_COURSE=OFF -DHEADROOM_PRECISIONS=f64 -DHEADROOM_WERROR=ON)
if [[ $kind == shared ]]; then
  options+=(-DBUILD_SHARED_LIBS=ON)
elif command -v "$kind" >/dev/null; then
  options+=(-DCMAKE_CXX_COMPILER="$kind")
else
  echo "skipped: there is no $kind here"
  exit 77
fi
mkdir -p "$folder"
log=$folder/$kind.log
cmake -S "$root" -B "$folder/$kind" "${options[@]}" >"$log" 2>&1 &&
  cmake --build "$folder/$kind" --parallel >"$log" 2>&1 || {
  grep -E "error|FAILED" -A 3 "$log" | head -n 40
  exit 1
}
# The programs of such a build run.
"$folder/$kind/bin/headroom-f64" lab head-slices --width 16 --heads 2 --json >/dev/null
"$folder/$kind/tests/test_ops_f64" '~[slow]~[long]~[.]' | tail -n 3
rm -rf "${folder:?}/$kind"
