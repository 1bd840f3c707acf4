#!/usr/bin/env bash
# Builds the Debian package, build/package/headroom_VERSION_ARCHITECTURE.deb, on a Debian machine:
# installs what is missing, if it may, then runs CMake and CPack.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(g++ cmake ninja-build file dpkg-dev libxtensor-dev libxtensor-blas-dev libxsimd-dev
  libopenblas-dev libfmt-dev libprotozero-dev libutf8proc-dev nlohmann-json3-dev
  libcli11-dev libjs-chart.js)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${packages[@]}" \
    >/dev/null
fi
cmake --preset package
cmake --build --preset package
cd build/package && cpack
