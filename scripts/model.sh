#!/usr/bin/env bash
# Runs the engine's models in the model checker, which takes the engine's own sources through every schedule.
#
#   scripts/model.sh [FILTER]          checks the models whose names contain FILTER
#   scripts/model.sh --share 1         with all the random schedules instead of a hundredth of them
#   scripts/model.sh self-test [COUNT] [SEED]
#                                      compares the checker's searches on so many random programs
#   scripts/model.sh list | mutants | orderings [FILE] | replay 'NAME|MEMORY|SCHEDULE'
#
# Two at a time where there are two CPUs.
set -euo pipefail
cd "$(dirname "$0")/.."

# Fibers switch stacks in the middle of accesses, which the run-time check of exclusivity cannot follow.
build=(swift build -c release --product model -Xswiftc -enforce-exclusivity=unchecked)
"${build[@]}" >&2
program="$("${build[@]}" --show-bin-path)/model"

case ${1:-} in
  list | replay) exec "$program" "$@" ;;
esac

jobs=$(nproc)
((jobs > 4)) && jobs=4
pids=()
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT
for ((part = 1; part <= jobs; part++)); do
  "$program" "$@" --part "$part/$jobs" >"$outputs/$part" 2>&1 &
  pids+=($!)
done
failed=0
for ((part = 1; part <= jobs; part++)); do
  wait "${pids[part - 1]}" || failed=1
  cat "$outputs/$part"
done
exit $failed
