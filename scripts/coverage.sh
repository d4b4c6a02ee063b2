#!/usr/bin/env bash
# Line coverage of the engine: scripts/coverage.sh [--threshold PERCENT] [FILTER].
# Builds and runs the tests (only those whose name matches FILTER), then says for each file of
# GrandCentralCore and Primitives how many lines ran, and which did not. Fails below the threshold, 95
# unless given, and when a test fails.
set -euo pipefail
cd "$(dirname "$0")/.."

threshold=95
if [[ ${1:-} == --threshold ]]; then
  threshold=${2:?"coverage: --threshold wants a percentage"}
  shift 2
fi

# The tools must be the compiler's own: the format of profiles changes from version to version.
resources=$(swiftc -print-target-info |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["runtimeResourcePath"])')
tools=$(realpath "$resources/../../bin")
folder=.build-coverage
profiles=$PWD/$folder/profiles
rm -rf "$profiles"
mkdir -p "$profiles"

# Most reports of faults run in processes that end in a trap, and so never come to write a profile. In
# continuous mode (%c) the counters are the file itself, mapped into memory: whatever ran is in it,
# however the process ended. On Linux that needs counters that can be relocated. One file for each
# process (%p) and program (%m).
# https://clang.llvm.org/docs/SourceBasedCodeCoverage.html#running-the-instrumented-program
# Counters are atomic: most regions have none of their own but are a difference of two others, which a
# lost count would make greater than zero for code that never ran.
export LLVM_PROFILE_FILE="$profiles/%p-%m%c.profraw"
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-enable=no}
build=(--scratch-path "$folder")
for option in -runtime-counter-relocation -instrprof-atomic-counter-update-all; do
  build+=(-Xswiftc -Xllvm -Xswiftc "$option")
done
# The compiler, too, is a program with a profile in some toolchains: none while building.
LLVM_PROFILE_FILE=/dev/null swift build --build-tests --enable-code-coverage "${build[@]}"

# Not --enable-code-coverage here: it would name the profiles anew, without %c.
arguments=(--disable-xctest)
if (($# > 0)); then arguments+=(--filter "$1"); fi
failed=0
swift test --skip-build "${build[@]}" "${arguments[@]}" || failed=$?

# Every program has a copy of the engine, but they are one source, so the profiles of all of them count
# for the copy in the test program.
find "$profiles" -name '*.profraw' >"$profiles/list"
"$tools/llvm-profdata" merge --sparse --failure-mode=all --input-files="$profiles/list" \
  --output="$profiles/merged.profdata"
"$tools/llvm-cov" export --format=lcov --instr-profile="$profiles/merged.profdata" \
  "$folder"/debug/*.xctest Sources/GrandCentralCore Sources/Primitives >"$profiles/lines.info"
python3 scripts/coverage.py "$profiles/lines.info" "$threshold" || failed=1
exit "$failed"
