# A bare Debian in a folder, for scripts that try what a newcomer does. Source it, then:
#
#   bare_debian SUITE FOLDER [INCLUDE]   makes it (debootstrap's minbase and the packages INCLUDE)
#   inside FOLDER COMMAND                runs a command in it
#
# Needs root, debootstrap, and a Debian mirror: MIRROR=..., else the one this machine uses, else
# deb.debian.org. So that apt works in there as it does here, it copies, where they exist:
# /etc/apt without its third-party sources, /etc/resolv.conf, /etc/hosts, this machine's own
# certificates (/usr/local/share/ca-certificates and /etc/ssl/certs) and the variables *_proxy.

can_make_bare_debian() { ((EUID == 0)) && command -v debootstrap >/dev/null; }

skip_without_bare_debian() { # ends a test as skipped
  can_make_bare_debian && return
  echo "skipped: bare Debians need root and debootstrap"
  exit 77
}

own_mirror() { # the first Debian archive that this machine's apt reads
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
    grep -oE '^(deb |URIs:).*' | grep -oE '(https?|file)://[^ ]*/debian/?( |$)' | head -n 1 || true
}

bare_debian() {
  local suite=$1 machine=$2 include=${3:-ca-certificates} mirror path
  mirror=${MIRROR:-$(own_mirror)}
  mirror=${mirror:-http://deb.debian.org/debian}
  chmod 755 "$machine"
  echo "making a bare Debian ($suite) from $mirror"
  debootstrap --variant=minbase --include="$include" "$suite" "$machine" "$mirror" \
    >"$machine.log" 2>&1 || {
    tail -n 5 "$machine.log" >&2
    return 1
  }
  rm "$machine.log"
  local copied=(/etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates /etc/ssl/certs
    /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/apt/auth.conf /etc/apt/auth.conf.d
    /etc/apt/trusted.gpg.d /etc/apt/keyrings)
  if grep -qsx "VERSION_CODENAME=$suite" /etc/os-release; then
    copied+=(/etc/apt/sources.list /etc/apt/sources.list.d/debian.sources)
    [[ -e /etc/apt/sources.list ]] || rm -f "$machine/etc/apt/sources.list"
  fi
  for path in "${copied[@]}"; do # links followed, what exists
    [[ -e $path ]] || continue
    mkdir -p "$machine$(dirname "$path")"
    cp -rL "$path" "$machine$(dirname "$path")/" 2>/dev/null || true
  done
}

# Its mounts are in a separate namespace, so nothing of this machine is left mounted in the folder,
# whatever happens.
inside() {
  local environment=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" LANG=C.UTF-8
    DEBIAN_FRONTEND=noninteractive) variable
  while IFS= read -r variable; do
    environment+=("$variable")
  done < <(env | grep -iE '^(https?|ftp|all|no)_proxy=' || true)
  env -i "${environment[@]}" unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
    exec chroot "$0" bash -c "$1"' "$1" "$2"
}
