# What the shell verbs share: they read this file first. It makes the root the working folder and
# says how each package is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Tests crash processes on purpose, and symbolising each stack would take most of the time.
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-enable=no}

# The packages that have tests; . is the root.
packages=(. Verification Comparison Examples)
# Where Swift sources are.
sources=(Package.swift Sources Tests Verification Comparison Benchmarks Examples KnownIssues)

# Without a limit all tests begin at once: hundreds of programs that they start share the
# processors, and a task that a test starts has its turn behind those of all others.
width=(--experimental-maximum-parallelization-width 16)

# GRANDCENTRAL_BUILD_ONCE=1 takes a quarter of the processor time off a debug build from nothing,
# and makes every later one longer: one process compiles each module, whole, with no debug
# information but the lines. .ci/run sets it. The index stays, in which SwiftPM looks for tests,
# without that of the system's modules.
once=()
if [[ -n ${GRANDCENTRAL_BUILD_ONCE:-} ]]; then
  for flag in -whole-module-optimization -no-emit-module-separately-wmo -num-threads 1 -gline-tables-only \
    -index-ignore-system-modules; do
    once+=(-Xswiftc "$flag")
  done
fi

# Sets `build` to the options of a package's build, of which there is one only, so that no verb
# compiles again what another has compiled. The programs of Verification and Comparison compute
# much, and their tests run the optimised code too.
set_build() {
  build=(--package-path "$1" -Xswiftc -warnings-as-errors)
  case $1 in
  .) build+=("${once[@]}") ;;
  # Fibers switch stacks during accesses, which the run-time exclusivity check does not support.
  Verification*) build+=(-c release -Xswiftc -enforce-exclusivity=unchecked) ;;
  # One folder for all of them, so that the engine's optimised code is compiled once. A plan that
  # the package manager had kept there would be that of the package that was built last.
  Comparison | Benchmarks | Examples | .build-dropin/embedding)
    build+=(-c release --scratch-path .build-release --disable-build-manifest-caching)
    ;;
  esac
}

# Builds the product $2 of the package $1, and sets `program` to its path. The build's output goes
# to standard error.
build_program() {
  set_build "$1"
  swift build "${build[@]}" --product "$2" >&2
  program=$(swift build "${build[@]}" --product "$2" --show-bin-path)/$2
}
