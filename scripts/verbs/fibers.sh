#!/usr/bin/env bash
# Tests each way of switching the model checker's stacks.
#
#   scripts/dev fibers
#
# They are this machine's instructions and ucontext(3), the substitute on other machines. Also
# assembles the switch for arm64.
source "$(dirname "$0")/../lib/common.sh"

compiler=$(command -v clang || command -v cc)
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

for way in native ucontext; do
  defines=(-DGRANDCENTRAL_FIBERS_MAIN)
  if [[ $way == ucontext ]]; then defines+=(-DGRANDCENTRAL_UCONTEXT); fi
  for optimisation in -O0 -O2; do
    "$compiler" -std=gnu11 -Wall -Wextra -Werror -Wno-nullability-completeness -Wno-infinite-recursion \
      $optimisation "${defines[@]}" -IVerification/Sources/CFibers/include -IVerification/Sources/FiberTests/include \
      Verification/Sources/CFibers/CFibers.c Verification/Sources/FiberTests/FiberTests.c -lpthread -o "$output/fibers"
    "$output/fibers"
    echo "fibers: $way $optimisation"
  done
done

# The C library's headers for arm64 may be missing; the functions in assembly need none of them.
{
  printf '#include "CFibers.h"\nvoid *memset(void *, int, size_t);\n'
  awk '/^#else/ { exit } is_here { print } /^#elif defined\(__aarch64__\)/ { is_here = 1 }' \
    Verification/Sources/CFibers/CFibers.c
} >"$output/arm64.c"
if "$compiler" --target=aarch64-linux-gnu -ffreestanding -c -IVerification/Sources/CFibers/include \
  "$output/arm64.c" -o "$output/arm64.o" 2>"$output/errors"; then
  echo "fibers: arm64 assembles"
elif grep -q "No available targets\|unable to create target\|unknown target" "$output/errors"; then
  echo "fibers: arm64 skipped, $compiler has no such target"
else
  cat "$output/errors" >&2
  exit 1
fi
