#!/usr/bin/env bash
# Runs the engine's models in the model checker: the engine's own sources in every schedule.
#
#   scripts/dev model [FILTER]         checks the models whose names contain FILTER
#   scripts/dev model --share 1        runs all random schedules instead of a hundredth of them
#   scripts/dev model --seconds 5      limits each search to 5 s; one that is cut off is INCOMPLETE
#   scripts/dev model self-test [COUNT] [SEED]
#                                      compares the checker's searches on COUNT random programs
#   scripts/dev model list | mutants | orderings [FILE] | replay 'NAME|MEMORY|SCHEDULE'
#
# Runs as many parts at a time as there are CPUs, at most four.
source "$(dirname "$0")/../lib/common.sh"

build_program Verification model

case ${1:-} in
  list | replay) exec "$program" "$@" ;;
esac

jobs=$(nproc)
((jobs > 4)) && jobs=4
# Durations of models differ from nothing to minutes, so there are many parts, and an idle process
# takes the next one.
parts=$((jobs * 8))
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT
failed=0
seq "$parts" | xargs -P "$jobs" -I '{}' \
  bash -c 'out=$1 part=$2; shift 2; "$@" --part "$part" >"$out/${part%/*}" 2>&1' \
  - "$outputs" "{}/$parts" "$program" "$@" || failed=1
for ((part = 1; part <= parts; part++)); do cat "$outputs/$part"; done
exit $failed
