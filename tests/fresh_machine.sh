#!/usr/bin/env bash
# A newcomer's first minutes, for real: makes a bare Debian with nothing but git, clones this
# repository's HEAD into it and runs commands there, each timed. Not part of the test suite.
#
#   sudo tests/fresh_machine.sh                         ./headroom demo
#   sudo tests/fresh_machine.sh './headroom test' ...   other commands, one per argument
#   --suite NAME                                        Debian's release (default: bookworm)
#   --keep                                              keep the machine's folder, and print it
#
# Needs root, debootstrap, and a Debian mirror: MIRROR=..., else the one this machine uses, else
# deb.debian.org. So that apt works in there as it does here, it copies, where they exist:
# /etc/apt without its third-party sources, /etc/resolv.conf, /etc/hosts, this machine's own
# certificates (/usr/local/share/ca-certificates and /etc/ssl/certs) and the variables *_proxy.
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

if ((EUID != 0)) || ! command -v debootstrap >/dev/null; then
  echo "error: fresh_machine.sh needs root and debootstrap (apt-get install debootstrap)" >&2
  exit 2
fi

own_mirror() { # the first Debian archive that this machine's apt reads
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
    grep -oE '^(deb |URIs:).*' | grep -oE '(https?|file)://[^ ]*/debian/?( |$)' | head -n 1 || true
}
mirror=${MIRROR:-$(own_mirror)}
mirror=${mirror:-http://deb.debian.org/debian}

machine=$(mktemp -d "${TMPDIR:-/tmp}/fresh_machine.XXXXXX")
if $keep; then
  trap 'echo "the machine is kept in $machine"' EXIT
else
  trap 'rm -rf --one-file-system "$machine"' EXIT
fi
chmod 755 "$machine"

echo "making a bare Debian ($suite) from $mirror"
debootstrap --variant=minbase --include=git "$suite" "$machine" "$mirror" >"$machine.log" 2>&1 || {
  tail -n 5 "$machine.log" >&2
  exit 1
}
rm "$machine.log"

copy() { # copy PATH...: into the machine, links followed, what exists
  local path
  for path in "$@"; do
    [[ -e $path ]] || continue
    mkdir -p "$machine$(dirname "$path")"
    cp -rL "$path" "$machine$(dirname "$path")/" 2>/dev/null || true
  done
}
copy /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates /etc/ssl/certs
copy /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/apt/auth.conf /etc/apt/auth.conf.d
copy /etc/apt/trusted.gpg.d /etc/apt/keyrings
if grep -qsx "VERSION_CODENAME=$suite" /etc/os-release; then
  copy /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources
  [[ -e /etc/apt/sources.list ]] || rm -f "$machine/etc/apt/sources.list"
fi
git -C "$here" bundle create -q "$machine/root/headroom.bundle" HEAD

environment=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" LANG=C.UTF-8)
while IFS= read -r variable; do
  environment+=("$variable")
done < <(env | grep -iE '^(https?|ftp|all|no)_proxy=' || true)

# inside COMMAND: runs it in the machine. Its mounts are in a separate namespace, so nothing of this
# machine is left mounted in the folder, whatever happens.
inside() {
  env -i "${environment[@]}" unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
    exec chroot "$0" bash -c "$1"' "$machine" "$1"
}

inside 'for tool in g++ c++ cmake ninja make python3 sudo; do
    if command -v $tool; then echo "not bare: it has $tool" >&2; exit 1; fi
  done
  cd && git -c advice.detachedHead=false clone -q headroom.bundle headroom'

echo "without root and without sudo it must say what is missing:"
inside 'cp -r /root/headroom /tmp/ && chown -R nobody /tmp/headroom && cd /tmp/headroom &&
  setpriv --reuid=nobody --clear-groups ./headroom demo; code=$?
  rm -rf /tmp/headroom; [ $code = 2 ]'

status=0
for command in "${commands[@]}"; do
  began=$SECONDS
  echo "\$ $command"
  inside "cd /root/headroom && $command" || status=$?
  echo "[$((SECONDS - began)) s, exit code $status]"
  ((status == 0)) || exit $status
done
inside 'cd /root/headroom && time ./headroom --help >/dev/null'
