#!/usr/bin/env bash
# Measures which lines of the engine the root's tests run.
#
#   scripts/dev coverage [--threshold PERCENT] [FILTER]
#
# Builds and runs the tests (only those whose name matches FILTER), then prints for each file of
# GrandCentralCore and Primitives how many lines ran, and which did not. Fails if a test fails, and
# if the coverage is below the threshold, 95 per cent by default.
source "$(dirname "$0")/../lib/common.sh"

threshold=95
if [[ ${1:-} == --threshold ]]; then
  threshold=${2:?"coverage: --threshold wants a percentage"}
  shift 2
fi

# The tools must be the compiler's own, because the format of profiles changes between versions.
resources=$(swiftc -print-target-info |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["runtimeResourcePath"])')
tools=$(realpath "$resources/../../bin")
folder=.build-coverage
profiles=$PWD/$folder/profiles
rm -rf "$profiles"
mkdir -p "$profiles"

# Most reports of faults run in processes that end in a trap, and these never write a profile at
# exit. In continuous mode (%c) the counters are in the file itself, mapped into memory, so they
# survive any end of the process. On Linux that needs relocatable counters. There is a file for each
# process (%p) and program (%m).
# https://clang.llvm.org/docs/SourceBasedCodeCoverage.html#running-the-instrumented-program
# Counters are atomic: most regions have no counter of their own but are the difference of two
# others, and a lost increment would make the difference positive for code that never ran.
export LLVM_PROFILE_FILE="$profiles/%p-%m%c.profraw"
build=(--scratch-path "$folder")
for option in -runtime-counter-relocation -instrprof-atomic-counter-update-all; do
  build+=(-Xswiftc -Xllvm -Xswiftc "$option")
done
# In some toolchains the compiler writes a profile too; it must not while building.
LLVM_PROFILE_FILE=/dev/null swift build --build-tests --enable-code-coverage "${build[@]}"

# Without --enable-code-coverage, which would set the names of the profiles without %c.
arguments=(--disable-xctest)
if (($# > 0)); then arguments+=(--filter "$1"); fi
failed=0
swift test --skip-build "${build[@]}" "${arguments[@]}" || failed=$?

# Every program has a copy of the engine from the same source, so the profiles of all programs count
# for the copy in the test program.
find "$profiles" -name '*.profraw' >"$profiles/list"
"$tools/llvm-profdata" merge --sparse --failure-mode=all --input-files="$profiles/list" \
  --output="$profiles/merged.profdata"
"$tools/llvm-cov" export --format=lcov --instr-profile="$profiles/merged.profdata" \
  "$folder"/debug/*.xctest Sources/GrandCentralCore Sources/Primitives >"$profiles/lines.info"
python3 scripts/lib/coverage.py "$profiles/lines.info" "$threshold" || failed=1
exit "$failed"
