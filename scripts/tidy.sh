#!/usr/bin/env bash
# Checks the parts of the house style (CONTRIBUTING.md) that a tool can check: format, warnings,
# layers, lengths, imports, words. scripts/tidy.sh [--no-build]
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
step() {
  local name=$1
  shift
  if "$@"; then echo "tidy: $name"; else echo "tidy: $name FAILED" >&2 && failed=1; fi
}

sources=()
for path in Package.swift Sources Tests Benchmarks Examples; do
  if [[ -e $path ]]; then sources+=("$path"); fi
done

step "format" swift format lint --strict --parallel --recursive "${sources[@]}"
step "layers, lengths and words" python3 scripts/tidy.py
if [[ ${1:-} != --no-build ]]; then
  # The same build as that of scripts/test.sh, so that only one of them compiles.
  step "no warnings" swift build --build-tests -Xswiftc -warnings-as-errors
fi
exit $failed
