#!/usr/bin/env bash
# Checks format, warnings, the order of the rooms, lengths, columns, imports, words and paths.
#
#   scripts/dev tidy [--no-build]     --no-build: all but the compiler's warnings
#
# These are the parts of the house style (CONTRIBUTING.md) that a tool can check.
source "$(dirname "$0")/../lib/common.sh"

failed=()
step() {
  local name=$1
  shift
  if "$@"; then echo "tidy: $name"; else echo "tidy: $name FAILED" >&2 && failed+=("$name"); fi
}

# Only scripts/dev scaling builds this package, and it compiles the engine's sources.
scaling_types() {
  local built files
  set_build Verification
  built=$(swift build "${build[@]}" --show-bin-path)
  mapfile -t files < <(
    find -L Verification/Scaling -name '.*' -prune -o -name Package.swift -o -name '*.swift' -print)
  swiftc -typecheck -wmo -swift-version 6 -warnings-as-errors -module-name scaling -package-name scaling \
    -D GRANDCENTRAL_MODEL -I "$built/Modules" -I Sources/CLinux/include \
    -Xcc "-fmodule-map-file=$built/CFibers.build/module.modulemap" "${files[@]}"
}

step "format" swift format lint --strict --parallel --recursive "${sources[@]}"
step "imports, lengths, columns, words and paths" python3 scripts/lib/tidy.py
if [[ ${1:-} != --no-build ]]; then
  step "no warnings" scripts/dev build
  step "order of the rooms" python3 scripts/lib/rooms.py
  step "types of the workloads that measure scaling" scaling_types
fi
# Said again, since the build has printed pages in between.
if ((${#failed[@]})); then
  printf 'tidy: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
