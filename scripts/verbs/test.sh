#!/usr/bin/env bash
# Runs the tests of all packages, or those whose names match FILTER.
#
#   scripts/dev test [FILTER]     a regular expression, matched against Target.Suite/test
#
#   GRANDCENTRAL_STRESS=10        ten times the work in the stress tests
#   GRANDCENTRAL_SEED=42          replays a random test; each prints its seed
#   GRANDCENTRAL_DEADLINE=600     the seconds after which a waiting test fails, 300 by default
#
# Without a FILTER it first installs what the tests use and is missing (scripts/dev setup). A FILTER
# that begins with the name of a test target builds and runs only that target's package.
source "$(dirname "$0")/../lib/common.sh"

filter=()
if (($# > 0)); then
  filter=(--filter "$1")
  target=$(sed -E 's/^\^?([A-Za-z]*).*/\1/' <<<"$1")
  for package in "${packages[@]}"; do
    if [[ -n $target && -d $package/Tests/$target ]]; then packages=("$package") && break; fi
  done
fi

if (($# == 0)); then scripts/dev setup; fi
export GRANDCENTRAL_DEADLINE=${GRANDCENTRAL_DEADLINE:-300}

# The last lines of the output name every failed test, so the failures of the first package are
# repeated behind the tests of the others.
GRANDCENTRAL_FAILURES=$(mktemp)
export GRANDCENTRAL_FAILURES
trap 'rm -f "$GRANDCENTRAL_FAILURES"' EXIT
failed=()
for package in "${packages[@]}"; do
  # Before the tests, most of which would stand still while one of them builds it.
  if [[ $package == . ]] && (($# == 0)); then scripts/dev dropin; fi
  scripts/dev build "$package"
  set_build "$package"
  scripts/dev failures swift test --skip-build --disable-xctest "${width[@]}" "${build[@]}" "${filter[@]}" ||
    failed+=("$package")
done
if ((${#failed[@]} > 0)); then
  echo "── tests failed in: ${failed[*]}"
  cat "$GRANDCENTRAL_FAILURES"
  exit 1
fi
