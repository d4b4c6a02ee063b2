#!/usr/bin/env bash
# Builds the drop-in library for arm64 on another machine, and runs the C suite in an emulator.
#
#   scripts/dev arm64
#
# Fetches Debian's C library and Swift runtime for arm64 and qemu-user into .build-arm64 (600 MB,
# once); needs mmdebstrap (scripts/dev setup --packages). Then this machine's compiler builds the
# drop-in library, and the emulator runs the C conformance suite on it, and the tests of the model
# checker's stacks.
#
# It shows that the sources compile and link for arm64, that structures and system calls are right,
# and the behaviour that the C suite asks for. It cannot show weak memory, since the emulator runs
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
echo "arm64: all passed"
