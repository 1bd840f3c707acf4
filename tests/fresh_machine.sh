#!/usr/bin/env bash
# A newcomer's first minutes, for real: makes a bare Debian with nothing but git, clones this
# repository's HEAD into it and runs commands there, each timed. Not part of the test suite.
#
#   sudo tests/fresh_machine.sh                         ./headroom demo
#   sudo tests/fresh_machine.sh './headroom test' ...   other commands, one per argument
#   --suite NAME                                        Debian's release (default: bookworm)
#   --keep                                              keep the machine's folder, and print it
#
# Needs root and debootstrap; see bare_debian.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
keep=false
suite=bookworm
while [[ ${1:-} == --* ]]; do
  case $1 in
    --keep) keep=true ;;
    --suite) suite=${2:?--suite needs a release of Debian, such as trixie} && shift ;;
    *)
      echo "error: fresh_machine.sh has no option $1; it takes --suite NAME and --keep" >&2
      exit 2
      ;;
  esac
  shift
done
commands=("$@")
((${#commands[@]})) || commands=('./headroom demo')

# shellcheck source=tests/bare_debian.sh
source "$here/tests/bare_debian.sh"
if ! can_make_bare_debian; then
  echo "error: fresh_machine.sh needs root and debootstrap (apt-get install debootstrap)" >&2
  exit 2
fi

machine=$(mktemp -d "${TMPDIR:-/tmp}/fresh_machine.XXXXXX")
if $keep; then
  trap 'echo "the machine is kept in $machine"' EXIT
else
  trap 'rm -rf --one-file-system "$machine"' EXIT
fi
bare_debian "$suite" "$machine" git
git -C "$here" bundle create -q "$machine/root/headroom.bundle" HEAD

inside "$machine" 'for tool in g++ c++ cmake ninja make python3 sudo; do
    if command -v $tool; then echo "not bare: it has $tool" >&2; exit 1; fi
  done
  cd && git -c advice.detachedHead=false clone -q headroom.bundle headroom'

echo "without root and without sudo it must say what is missing:"
inside "$machine" 'cp -r /root/headroom /tmp/ && chown -R nobody /tmp/headroom &&
  cd /tmp/headroom &&
  setpriv --reuid=nobody --clear-groups ./headroom demo; code=$?
  rm -rf /tmp/headroom; [ $code = 2 ]'

status=0
for command in "${commands[@]}"; do
  began=$SECONDS
  echo "\$ $command"
  inside "$machine" "cd /root/headroom && $command" || status=$?
  echo "[$((SECONDS - began)) s, exit code $status]"
  ((status == 0)) || exit $status
done
inside "$machine" 'cd /root/headroom && time ./headroom --help >/dev/null'
