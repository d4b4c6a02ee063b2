#!/usr/bin/env bash
# Builds the packages and their tests; a warning is an error.
#
#   scripts/dev build [PACKAGE…]     by default the root (.), Verification, Comparison and Examples
source "$(dirname "$0")/../lib/common.sh"

if (($# > 0)); then packages=("$@"); fi
for package in "${packages[@]}"; do
  set_build "$package"
  swift build --build-tests "${build[@]}"
done
