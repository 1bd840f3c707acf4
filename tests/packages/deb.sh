#!/usr/bin/env bash
# Builds the Debian package in a bare Debian 12, as somebody does who has the sources, and installs
# it in bare roots of Debian 12 and 13, where smoke.sh tries it.
#
#   sudo tests/packages/deb.sh [--package FILE] [SUITE...]     (default: bookworm trixie)
#
# --package takes a package that was built before. Exits with 77, "skipped", without root or
# debootstrap.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/bare_debian.sh
source "$here/tests/bare_debian.sh"
skip_without_bare_debian
package=
if [[ ${1:-} == --package ]]; then
  package=$(realpath "${2:?--package needs a file}")
  shift 2
fi
suites=("$@")
((${#suites[@]})) || suites=(bookworm trixie)

rooms=$(mktemp -d "${TMPDIR:-/tmp}/headroom_packages.XXXXXX")
trap 'rm -rf --one-file-system "$rooms"' EXIT
chmod 755 "$rooms"

if [[ -z $package ]]; then
  mkdir "$rooms/build"
  bare_debian bookworm "$rooms/build" git
  git -C "$here" bundle create -q "$rooms/build/root/headroom.bundle" HEAD
  inside "$rooms/build" 'cd && git -c advice.detachedHead=false clone -q headroom.bundle headroom &&
    cd headroom && src/make_package.sh'
  package=$(echo "$rooms"/build/root/headroom/build/package/*.deb)
fi
for suite in "${suites[@]}"; do
  mkdir "$rooms/$suite"
  bare_debian "$suite" "$rooms/$suite"
  cp "$package" "$rooms/$suite/root/headroom.deb"
  cp "$here/tests/packages/smoke.sh" "$rooms/$suite/root/"
  inside "$rooms/$suite" 'cd && apt-get -qq update &&
    apt-get -qq -y install --no-install-recommends ./headroom.deb >/dev/null && ./smoke.sh &&
    apt-get -qq -y purge headroom >/dev/null && ! command -v headroom'
  echo "$suite: installed, tried and removed again"
done
