#!/usr/bin/env bash
# Installs the Debian packages in a clean Debian, uses them, and removes them.
#
#   scripts/dev package-test [--reproducible]
#
# Makes the packages (scripts/dev package) and a Debian root without Swift (mmdebstrap). There,
# programs are compiled by gcc and clang with the installed headers, and run; a deadlock is shown by
# the command; after the removal no file is left. --reproducible also makes the packages a second
# time, in another folder, and compares the checksums. Needs root (scripts/dev setup --packages).
source "$(dirname "$0")/../lib/common.sh"

reproducible=
case ${1:-} in
--reproducible) reproducible=1 ;;
'') ;;
*) echo "scripts/dev package-test [--reproducible]" >&2 && exit 64 ;;
esac

# The second build is of a clone, and the tarball contains pages besides.
if [[ -n $reproducible && -n $(git status --porcelain --untracked-files=no) ]]; then
  echo "package-test: the second build is of the last commit: commit the changes first" >&2
  exit 1
fi

scratch=$(mktemp -d)
root=$scratch/debian
trap 'rm -rf "$scratch"' EXIT

scripts/dev package --check
made=$PWD/.build-package/release-files
if [[ -n $reproducible ]]; then
  git clone -q . "$scratch/again"
  (cd "$scratch/again" && scripts/dev package --output "$scratch/second")
  diff "$made/SHA256SUMS" "$scratch/second/SHA256SUMS"
  echo "package-test: two builds, the same bytes"
  rm -rf "$scratch/again"
fi

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mmdebstrap --quiet --variant=minbase --include=gcc,libc6-dev,pkgconf,cmake,make,clang,procps \
  "$suite" "$root" /etc/apt/sources.list.d/debian.sources
mkdir "$root/packages" "$root/programs"
cp "$made"/*.deb "$root/packages"
cp "$made"/*.tar.gz "$root/programs"
cp scripts/lib/package-test/* Examples/C/words.c "$root/programs"

# /proc is what the command reads, /dev/shm holds boards. A folder for temporary files that the
# environment names is not there.
in_root() {
  unshare --mount bash -c '
    mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
      exec env --unset=TMPDIR chroot "$@"' \
    - "$root" "$@"
}
before=$(cd "$root" && find etc usr var/lib/dpkg/info -xdev | sort)
in_root bash -euc 'apt-get install -y -qq --no-install-recommends /packages/*.deb >/dev/null'
in_root bash /programs/use.sh
in_root bash -euc 'apt-get purge -y -qq grandcentral grandcentral-dev grandcentral-libdispatch >/dev/null'
# Folders and caches that apt and its triggers keep are no part of the packages.
after=$(cd "$root" && find etc usr var/lib/dpkg/info -xdev | sort)
left=$(comm -13 <(echo "$before") <(echo "$after") | grep grandcentral || true)
[[ -z $left ]] || { echo "package-test: the removal left: $left" >&2 && exit 1; }
in_root bash -euc '
  cd /programs && tar xzf grandcentral-*.tar.gz && cd grandcentral-*/ && bin/with-grandcentral ../sum
  bin/grandcentral run -- ../plain
  PKG_CONFIG_PATH=$PWD/lib/pkgconfig pkg-config --libs grandcentral'
echo "package-test: installed, used, removed; nothing is left"
