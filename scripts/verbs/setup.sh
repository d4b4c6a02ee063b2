#!/usr/bin/env bash
# Installs the programs that the tests and the tour use, if they are missing.
#
#   scripts/dev setup [--benchmarks] [--packages]
#
#   --benchmarks     also libuv, which the benchmarks measure too
#   --packages       also what makes and tests packages: lintian, mmdebstrap, dpkg-dev, and reuse,
#                    in .build-reuse
#
# Beside the Swift toolchain they are binutils (nm), util-linux (taskset), coreutils (timeout),
# curl, gcc, g++ and valgrind. Needs root only to install.
set -euo pipefail

packages=()
with_reuse=
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v nm >/dev/null || packages+=(binutils)
command -v taskset >/dev/null || packages+=(util-linux)
command -v timeout >/dev/null || packages+=(coreutils)
command -v curl >/dev/null || packages+=(curl)
command -v gcc >/dev/null || packages+=(gcc)
command -v g++ >/dev/null || packages+=(g++)
command -v python3 >/dev/null || packages+=(python3)
# callgrind and its header, for scripts/dev instructions.
[[ -e /usr/include/valgrind/callgrind.h ]] || packages+=(valgrind)
for option in "$@"; do
  case $option in
  --benchmarks)
    echo '#include <uv.h>' | clang -E - >/dev/null 2>&1 || packages+=(libuv1-dev)
    ;;
  --packages)
    command -v lintian >/dev/null || packages+=(lintian)
    command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)
    command -v dpkg-shlibdeps >/dev/null || packages+=(dpkg-dev)
    python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
    with_reuse=1
    ;;
  *) echo "scripts/dev setup [--benchmarks] [--packages]" >&2 && exit 64 ;;
  esac
done
command -v swift >/dev/null || {
  echo "setup: no swift on PATH. Install Swift 6.3 or later: https://www.swift.org/install/linux" >&2
  exit 1
}

if ((${#packages[@]} == 0)); then
  echo "setup: everything is there"
else
  echo "setup: installing ${packages[*]}"
  sudo=()
  ((EUID == 0)) || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}"
fi
# Debian's package is too old for REUSE.toml.
if [[ -n $with_reuse && ! -x .build-reuse/bin/reuse ]]; then
  python3 -m venv .build-reuse
  .build-reuse/bin/pip install --quiet 'reuse>=5'
fi
