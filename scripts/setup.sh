#!/usr/bin/env bash
# Install what is missing: Debian packages (scripts/packages.txt) and the Python venv in build/venv.
# Does nothing, quickly, when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }

# dpkg's `Provides` count too: an image may bring pkgconf for pkg-config.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' |
    awk '$1 == "installed" { $1 = ""; gsub(/\([^)]*\)|,/, " "); print }' | tr -s ' ' '\n')
  grep -v '^#' scripts/packages.txt | grep -vxF -f <(printf '%s\n' "$installed") || true
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian machine; install what scripts/packages.txt names by hand"
    return
  fi
  local -a missing
  mapfile -t missing < <(missing_packages)
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    say "packages are missing and this is not root; first run:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
    exit 1
  fi
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >build/apt.log 2>&1 ||
    { tail -n 40 build/apt.log >&2; exit 1; }
}

# One venv for the Python side. The stamp names what it was made from.
make_venv() {
  local stamp want
  stamp=build/venv/hilo-stamp
  want=$(cat scripts/requirements.txt python/pyproject.toml 2>/dev/null | sha256sum; pwd -P)
  [ "$(cat "$stamp" 2>/dev/null)" = "$want" ] && build/venv/bin/python -c '' 2>/dev/null && return
  say "making build/venv"
  rm -rf build/venv
  python3 -m venv build/venv
  build/venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements.txt
  if [ -f python/pyproject.toml ]; then
    build/venv/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation -e python
  fi
  printf '%s\n' "$want" >"$stamp"
}

mkdir -p build
install_packages
make_venv
