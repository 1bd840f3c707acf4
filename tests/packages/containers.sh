#!/usr/bin/env bash
# Does what Dockerfile and .devcontainer say, without Docker: their commands, in bare Debians.
#
#   sudo tests/packages/containers.sh
#
# Exits with 77, "skipped", without root or debootstrap.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/bare_debian.sh
source "$here/tests/bare_debian.sh"
skip_without_bare_debian
rooms=$(mktemp -d "${TMPDIR:-/tmp}/headroom_containers.XXXXXX")
trap 'rm -rf --one-file-system "$rooms"' EXIT
chmod 755 "$rooms"

suite_of() { sed -nE 's/^FROM debian:([a-z]+)-slim.*/\1/p' "$here/Dockerfile" | sed -n "$1p"; }
mapfile -t runs < <(sed -n 's/^RUN //p' "$here/Dockerfile")
if ((${#runs[@]} != 2)); then
  echo "error: the Dockerfile has ${#runs[@]} RUN lines, not 2" >&2
  exit 1
fi

mkdir "$rooms/build" "$rooms/image" "$rooms/development"
bare_debian "$(suite_of 1)" "$rooms/build"
git clone -q "$here" "$rooms/build/headroom" # COPY . /headroom
inside "$rooms/build" "${runs[0]}"
bare_debian "$(suite_of 2)" "$rooms/image"
cp "$rooms"/build/headroom/build/package/*.deb "$rooms/image/tmp/" # COPY --from=build
rm -rf --one-file-system "$rooms/build"
inside "$rooms/image" "${runs[1]}"
inside "$rooms/image" 'mkdir /work && cd /work && headroom --version &&
  headroom lab head-slices | tail -3'
echo "the image works"

step() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' \
  "$here/.devcontainer/devcontainer.json" "$1"; }
bare_debian bookworm "$rooms/development"
inside "$rooms/development" "$(step onCreateCommand)"
git clone -q "$here" "$rooms/development/headroom"
inside "$rooms/development" "cd /headroom && $(step postCreateCommand)"
echo "the development container works"
