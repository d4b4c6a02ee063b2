#!/usr/bin/env bash
# Runs the engine's models in the model checker, which takes the engine's own sources through every schedule.
#
#   scripts/model.sh [FILTER]          checks the models whose names contain FILTER
#   scripts/model.sh --share 1         with all the random schedules instead of a hundredth of them
#   scripts/model.sh --seconds 5       no search for longer than that; what is cut off is said to be INCOMPLETE
#   scripts/model.sh self-test [COUNT] [SEED]
#                                      compares the checker's searches on so many random programs
#   scripts/model.sh list | mutants | orderings [FILE] | replay 'NAME|MEMORY|SCHEDULE'
#
# As many at a time as there are CPUs, four at the most.
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
# Some models take minutes and most take none, so the parts are many, and whoever is free takes the next.
parts=$((jobs * 8))
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT
failed=0
seq "$parts" | xargs -P "$jobs" -I '{}' \
  bash -c 'out=$1 part=$2; shift 2; "$@" --part "$part" >"$out/${part%/*}" 2>&1' \
  - "$outputs" "{}/$parts" "$program" "$@" || failed=1
for ((part = 1; part <= parts; part++)); do cat "$outputs/$part"; done
exit $failed
