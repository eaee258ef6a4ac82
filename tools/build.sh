# SPDX-License-Identifier: Apache-2.0
# What tools/test and tools/demo share; sourced by them. Quiet where there is nothing to do.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release

say() { printf '%s\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "needs root to run: $*"
    return 1
  fi
}

missing_packages() {
  local package
  while read -r package; do
    case $package in '' | '#'*) continue ;; esac
    # dpkg-query is silent about packages it has never heard of.
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done <"$root/tools/packages.txt"
}

# Installs the Debian packages of tools/packages.txt that are not there.
install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: tools/packages.txt lists what must be installed"
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} = 0 ] && return 0
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  install_packages() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; }
  # The lists of a fresh machine are empty or old: update them once, and only if the packages are not found as it is.
  if ! install_packages >"$log" 2>&1 && ! { as_root apt-get update && install_packages; } >>"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# build TARGET...: configures the release preset where needed and builds; prints nothing unless it fails.
build_targets() {
  local log
  log=$(mktemp)
  local tests=$1
  # The interpreter that the h5py package belongs to; another one may come first in PATH.
  local python=()
  [ -x /usr/bin/python3 ] && python=(-DPython3_EXECUTABLE=/usr/bin/python3)
  shift
  if ! { cd "$root" && cmake --preset release -DTANDEM_TESTS="$tests" "${python[@]}" && cmake --build --preset release --target "$@"; } >"$log" 2>&1; then
    grep -E -A12 'error|FAILED' "$log" >&2 || cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}
