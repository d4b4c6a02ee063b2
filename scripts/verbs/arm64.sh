#!/usr/bin/env bash
# Builds the engine for arm64 on another machine, and runs its tests in an emulator.
#
#   scripts/dev arm64
#
# Fetches Debian's C library and Swift runtime for arm64 and qemu-user into .build-arm64 (1.2 GB,
# once); needs mmdebstrap (scripts/dev setup --packages). Then this machine's compiler builds the
# drop-in library, and the emulator runs the C conformance suite on it, the tests of the model
# checker's stacks, README's Swift programs, a program of tests of the main queue, and the Swift
# tests of the engine and its interface, except for those that scripts/lib/arm64-tests.txt names.
#
# It shows that the sources compile and link for arm64, that structures and system calls are right,
# and the behaviour that these tests ask for. It cannot show weak memory, since the emulator runs
# on this machine's stronger one (the model checker's subject: Docs/Verification.md), speed, large
# pages, and what the emulator lacks: io_uring, and madvise(MADV_DONTFORK), without which the
# command sees nothing. Docs/Support.md has the results.
source "$(dirname "$0")/../lib/common.sh"
source scripts/lib/arm64.sh

if [[ $(uname -m) == aarch64 ]]; then
  echo "arm64: this machine is one: .ci/run runs everything"
  exit 0
fi
arm64_prepare
DROPIN_ARCHITECTURE=arm64 scripts/dev dropin
scripts/dev conformance --arm64 --ours .build-dropin/release-arm64 --only-ours --no-headers --limit 300

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for way in native ucontext; do
  defines=(-DGRANDCENTRAL_FIBERS_MAIN)
  if [[ $way == ucontext ]]; then defines+=(-DGRANDCENTRAL_UCONTEXT); fi
  clang "${arm64_clang[@]}" -fuse-ld=lld -std=gnu11 -O2 "${defines[@]}" \
    -IVerification/Sources/CFibers/include -IVerification/Sources/FiberTests/include \
    Verification/Sources/CFibers/CFibers.c Verification/Sources/FiberTests/FiberTests.c \
    -lpthread -o "$scratch/fibers"
  "${arm64_run[@]}" "$scratch/fibers"
  echo "arm64: fibers, $way"
done

arm64_set_build
arm64_make_package
for product in MainQueueProbe Tests; do
  swift build --package-path .build-arm64/package "${arm64_build[@]}" --product "$product"
done
built=$PWD/.build-arm64/package/.build/$arm64_target/debug
arm64_swift_run=("${arm64_run[@]}" -E "LD_LIBRARY_PATH=$arm64_resources/linux")
export GRANDCENTRAL_DEADLINE=${GRANDCENTRAL_DEADLINE:-300}
scripts/dev snippets README --build "$built" --swiftc "swiftc ${arm64_swiftc[*]}" \
  --through "${arm64_swift_run[*]}"
# Each scenario prints there what it prints here.
build_program . MainQueueProbe
for scenario in order producers sync target notify suspend specific before main-actor run-loop \
  between throws; do
  here=$("$program" "$scenario")
  there=$(scripts/dev limit 300 "${arm64_swift_run[@]}" "$built/MainQueueProbe" "$scenario")
  [[ -n $here && $here == "$there" ]] || {
    printf 'arm64: main queue, %s: here\n%s\nin the emulator\n%s\n' \
      "$scenario" "$here" "$there" >&2
    exit 1
  }
  echo "arm64: main queue, $scenario"
done
mapfile -t skipped < <(sed -n 's/^\^/--skip\n^/p' scripts/lib/arm64-tests.txt)
# One test at a time: many at once would wait for each other's turn on the emulated processors.
for target in PrimitivesTests GrandCentralCoreTests GrandCentralTests; do
  GRANDCENTRAL_STRESS=0.2 arm64_run_with_children scripts/dev limit 2400 \
    "$built/Tests" --no-parallel --filter "^$target\." "${skipped[@]}"
done
echo "arm64: all passed"
