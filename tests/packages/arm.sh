#!/usr/bin/env bash
# Cross-compiles the engine's tests for 64-bit ARM in a bare Debian 12 and runs those of kernels,
# operations and arrays under qemu-user: SIMD is NEON there.
#
#   sudo tests/packages/arm.sh [TEST...]     (default: array kernels op_table)
#
# Exits with 77, "skipped", without root or debootstrap.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/bare_debian.sh
source "$here/tests/bare_debian.sh"
skip_without_bare_debian
tests=("$@")
((${#tests[@]})) || tests=(array kernels op_table)
room=$(mktemp -d "${TMPDIR:-/tmp}/headroom_arm.XXXXXX")
trap 'rm -rf --one-file-system "$room"' EXIT
bare_debian bookworm "$room" git
git -C "$here" bundle create -q "$room/root/headroom.bundle" HEAD
inside "$room" 'dpkg --add-architecture arm64 && apt-get -qq update &&
  apt-get -qq -y install --no-install-recommends cmake ninja-build g++-aarch64-linux-gnu qemu-user \
    libxtensor-dev libxtensor-blas-dev libxsimd-dev libprotozero-dev nlohmann-json3-dev python3 \
    libc6-dev:arm64 libstdc++-12-dev:arm64 libgomp1:arm64 libopenblas-dev:arm64 libfmt-dev:arm64 \
    libutf8proc-dev:arm64 catch2:arm64 >/dev/null'
inside "$room" "cd && git -c advice.detachedHead=false clone -q headroom.bundle headroom &&
  cd headroom && cat >arm.cmake <<'END'
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
foreach(headers xtensor xtensor-blas xsimd xtl) # the same on all architectures
  set(\${headers}_DIR /usr/lib/x86_64-linux-gnu/cmake/\${headers})
endforeach()
END
  cmake -G Ninja -B build/arm -DCMAKE_TOOLCHAIN_FILE=\$PWD/arm.cmake -DCMAKE_UNITY_BUILD=ON \
    -DHEADROOM_PROGRAMS=OFF -DHEADROOM_COURSE=OFF -DHEADROOM_EXAMPLES=OFF -DHEADROOM_INSTALL=OFF \
    -DHEADROOM_WERROR=OFF >configure.log || { cat configure.log; exit 1; }"
failed=()
for name in "${tests[@]}"; do
  for precision in f32 f64; do
    program=tests/test_${name}_$precision
    inside "$room" "cd /root/headroom && ninja -C build/arm $program >build.log ||
      { tail -n 30 build.log; exit 1; }"
    inside "$room" "set -o pipefail; cd /root/headroom/build/arm &&
      qemu-aarch64 $program '~[long]~[slow]~[.]' | tail -n 3" || failed+=("$program")
  done
done
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "${#tests[@]} test programs pass on ARM in both precisions"
