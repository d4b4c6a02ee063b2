#!/usr/bin/env bash
# Builds and runs a package that embeds the engine, in every way that Swift links a program.
#
#   scripts/dev embedding [debug|release] [dynamic|static]     without arguments: all four
#
# The package has one dependency. Its program App prints where the work of Foundation, Concurrency
# and the Dispatch overlay runs. The last lines print which parts of the toolchain's libdispatch are
# in the process. Exits with 1 if any work is not the engine's.
source "$(dirname "$0")/../lib/common.sh"

modes=(debug release)
links=(dynamic static)
for word in "$@"; do
  case $word in
  debug | release) modes=("$word") ;;
  dynamic | static) links=("$word") ;;
  *) echo "scripts/dev embedding [debug|release] [dynamic|static]" >&2 && exit 64 ;;
  esac
done

# Kept, so that the next run compiles only what has changed.
package=.build-dropin/embedding
mkdir -p "$package"
exec 9>"$package/lock"
flock 9
cp -r Tests/DropInTests/Embedding/Sources "$package/"
mkdir -p "$package/Sources/Jobs"
cp Tests/DropInTests/Clients/Jobs.swift "$package/Sources/Jobs/"
sed "s|GRAND CENTRAL|$PWD|" Tests/DropInTests/Embedding/Package.swift.txt >"$package/Package.swift"

expected="in charge: true
operations: 100
tasks: 100
a sleep's end: true
an item: true
main actor: true
bridges: true"
libraries=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib

# The names that only the toolchain's archive defines. A program that links any part of it has some
# of them.
peers_own_names() {
  comm -23 \
    <(nm -g --defined-only "$libraries/swift_static/linux/libdispatch.a" 2>/dev/null \
      | sed -nE 's/.* [A-Z] (_?_?dispatch_.*|_os_object.*)$/\1/p' | sort -u) \
    <(nm -g --defined-only "$libraries/swift/linux/libdispatch.so" -D \
      | sed -nE 's/.* [A-Z] ([^@]*).*$/\1/p' | sort -u)
}

failed=0
fail() {
  echo "  $1"
  failed=1
}

for link in "${links[@]}"; do
  for mode in "${modes[@]}"; do
    echo "$mode, $link"
    if [[ $mode == release && $link == dynamic ]]; then
      set_build "$package"
      built=.build-release
    else
      built=$package/$link
      build=(-c "$mode" --package-path "$package" --scratch-path "$built")
    fi
    if [[ $link == static ]]; then build+=(--static-swift-stdlib); fi
    swift build "${build[@]}" >"$package/log" 2>&1 || { cat "$package/log" && exit 1; }
    program=$built/$mode/App
    said=$(env -u LD_LIBRARY_PATH -u LD_PRELOAD timeout 60 "$program") || fail "ended with $?"
    sed 's/^/  /' <<<"$said"
    [[ $said == "$expected" ]] || fail "which is not what is expected"
    # A program that uses Dispatch through Concurrency alone: all that it submits are jobs.
    counted=$(GRANDCENTRAL_COUNT_JOBS=1 env -u LD_LIBRARY_PATH -u LD_PRELOAD \
      timeout 60 "$(dirname "$program")/Jobs" 2>&1) || fail "Jobs ended with $?"
    least=$(sed -n 's/^least=//p' <<<"$counted")
    jobs=$(sed -nE 's/^GRAND CENTRAL: jobs=([0-9]+) functions=0$/\1/p' <<<"$counted")
    if ((${jobs:-0} >= ${least:-1})); then
      echo "  takes all $jobs jobs of Concurrency as jobs"
    else
      fail "does not take every job of Concurrency as a job: $counted"
    fi
    plugin=$(dirname "$program")/libPlugin.so
    clang Tests/DropInTests/Clients/Unloading.c -o "$package/unloading"
    closed=$(timeout 60 "$package/unloading" "$plugin") || fail "ended with $?"
    if [[ $closed == stays=1 ]]; then
      echo "  stays when it is in a plug-in that is closed"
    else
      fail "does not stay when it is in a plug-in that is closed: $closed"
    fi
    if [[ $link == static ]]; then
      loaded=$(ldd "$program" | grep -E 'libdispatch|libswift|libFoundation' || true)
      [[ -z $loaded ]] || fail "loads $loaded"
      inside=$(comm -12 <(peers_own_names) <(nm "$program" | sed 's/.* //' | sort -u))
      [[ -z $inside ]] || fail "holds parts of the toolchain's libdispatch: $inside"
      echo "  holds nothing of the toolchain's libdispatch, of which $(peers_own_names | wc -l) names would tell"
    else
      # A call of a name that the program does not define would go to the toolchain's library.
      missing=$(comm -13 \
        <(nm -D --defined-only "$program" | sed 's/.* //' | sort -u) \
        <(nm -D -g --defined-only "$libraries/swift/linux/libdispatch.so" \
          | sed -nE 's/.* [A-Z] (_?_?dispatch_[^@]*|_os_object[^@]*|libdispatch_init).*$/\1/p' | sort -u))
      [[ -z $missing ]] || fail "does not define $missing"
      echo "  defines every symbol of the toolchain's libdispatch, which is loaded and not called"
    fi
    echo "  $(stat -c %s "$program") bytes"
  done
done
exit $failed
