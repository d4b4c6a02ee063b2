# Builds and runs the root's tests under a sanitizer: sanitize.sh thread|address [FILTER]. The verbs
# tsan and asan use it. A FILTER that begins with the name of a test target builds only that target.
source "$(dirname "$0")/common.sh"
sanitizer=$1
shift

# Excluded: tests that start other builds of the engine or read object files, the tests of the
# interface to the toolchain's Dispatch, and exit tests, whose traps sanitizers report at length.
filter=${1:-'^(GrandCentralTests|GrandCentralCoreTests|StressTests)\.'}
tests=(GrandCentralTests GrandCentralCoreTests StressTests)
target=$(sed -E 's/^\^?([A-Za-z]*).*/\1/' <<<"$filter")
if [[ -n $target && -d Tests/$target ]]; then tests=("$target"); fi
skip=(--skip '^GrandCentralTests\.[A-Za-z]*Fault' --skip 'DeadlockTests' --skip 'TargetLoopTests'
  --skip '^GrandCentralTests\.PoolTests' --skip 'NeedyPoolTests'
  # Suites that run the same tests again in a child.
  --skip '^GrandCentralTests\.BackendTests'
  # What these vary is the machine or the class, not the code that runs. Their endless items
  # compute beside all other tests.
  --skip 'LivenessTests/`begins (under|on|with|beside (items|global))'
  # They join the main thread, which the thread sanitizer does not know as one to join.
  --skip 'MainThreadTests/`leaves the main queue to workers'
  # The policy is a value, which one thread simulates for many virtual seconds: most of the time
  # of all tests, and nothing that a sanitizer could see.
  --skip 'GrandCentralCoreTests\.GrowthPolicyTests/')

# Sanitized code is about ten times slower, and a deadline only ends a test that hangs.
export GRANDCENTRAL_DEADLINE=${GRANDCENTRAL_DEADLINE:-300}
# Reports that are not ours, each with its reason.
suppressed="suppressions=$PWD/scripts/lib/thread.supp"
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1 $suppressed ${TSAN_OPTIONS:-}"
export ASAN_OPTIONS="detect_leaks=1 ${ASAN_OPTIONS:-}"

# A package of links to this one's files, with these test targets and what they depend on. To
# compile the others too would take a fifth more time.
package=.build-$sanitizer/package
mkdir -p "$package"
ln -sfn "$PWD/Sources" "$PWD/Tests" "$package/"
manifest=$(
  cat Package.swift
  printf 'var needed: Set = ["%s"]\n' "$(sed 's/ /", "/g' <<<"${tests[*]}")"
  cat <<'END'
for _ in package.targets {
  for target in package.targets where needed.contains(target.name) {
    for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
  }
}
package.products = []
package.targets.removeAll { !needed.contains($0.name) }
END
)
[[ $manifest == "$(cat "$package/Package.swift" 2>/dev/null)" ]] || echo "$manifest" >"$package/Package.swift"

build=(--package-path "$package" --sanitize="$sanitizer" --scratch-path ".build-$sanitizer" "${once[@]}")
swift build --build-tests "${build[@]}"
# Each pattern must match a test, so that a renamed test is neither run nor skipped unnoticed. Those
# of skipped tests are all in the targets of no filter.
listing=$(swift test list --skip-build --disable-xctest "${build[@]}")
patterns=("$filter")
(($# > 0)) || patterns+=("${skip[@]}")
for pattern in "${patterns[@]}"; do
  [[ $pattern == --skip ]] || grep -qE -- "$pattern" <<<"$listing" ||
    { echo "$pattern matches no test" >&2 && exit 1; }
done
scripts/dev failures swift test --skip-build --disable-xctest "${width[@]}" "${build[@]}" \
  --filter "$filter" "${skip[@]}"
