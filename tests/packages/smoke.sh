#!/usr/bin/env bash
# What somebody tries first after `apt install headroom`. Run it where the package is installed, in
# an empty folder; it ends with the first thing that is wrong.
set -euo pipefail

says() { # says WORDS COMMAND...: the output must have the words
  local words=$1 out
  shift
  out=$("$@" 2>&1) || { echo "error: $*: $out" >&2 && exit 1; }
  grep -qF -- "$words" <<<"$out" || { echo "error: $*: no \"$words\" in: $out" >&2 && exit 1; }
}

says 'headroom 0.' headroom --version
says '(double)' headroom-f64 --version
echo 'March 3, 1987' >date.txt
says '19' headroom predict date.txt
says 'encoder heads' headroom inspect
says '✓' headroom lab head-slices
says 'exact_match' headroom train --task sort --steps 30 --width 16 --heads 2 --layers 1 --out run
grep -q 'Chart' run/report.html || { echo "error: the page has no Chart.js" >&2 && exit 1; }
says '6 of 6 heads' headroom export --model run --to onnx --out onnx
for file in /usr/share/man/man1/headroom-train.1 /usr/share/bash-completion/completions/headroom \
  /usr/share/zsh/site-functions/_headroom /usr/share/fish/vendor_completions.d/headroom.fish; do
  [[ -s $file ]] || { echo "error: $file is missing" >&2 && exit 1; }
done

# Both builds of the engine compute the same. Without AVX2 the loader takes the plain one.
loader=/lib64/ld-linux-x86-64.so.2
if [[ -x $loader ]]; then
  plain() { GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 "$@"; }
  engine() { ldd /usr/bin/headroom | sed -n 's/.*libheadroom\.so[^ ]* => \([^ ]*\).*/\1/p'; }
  if "$loader" --help | grep -q 'x86-64-v3 (supported'; then
    says 'glibc-hwcaps/x86-64-v3' engine
  fi
  old=$(plain engine)
  [[ -e $old && $old != *hwcaps* ]] || { echo "error: no plain engine: \"$old\"" >&2 && exit 1; }
  headroom predict date.txt >new.txt 2>/dev/null
  plain headroom predict date.txt >old.txt 2>/dev/null
  cmp new.txt old.txt
fi
echo "the package works"
