#!/usr/bin/env bash
# Runs a command. When it takes longer than SECONDS, shows what each thread of each of its processes does (with gdb or
# lldb, where there is one), ends them and fails: what hangs should say where, and not be waited for.
#   scripts/limit.sh SECONDS COMMAND…
set -uo pipefail

seconds=$1
shift

# The process $1 and all that it started, however deep.
family() {
  local child
  echo "$1"
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do family "$child"; done
}

stacks() {
  echo "limit: process $1: $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -c1-200)"
  if command -v gdb >/dev/null; then
    timeout 120 gdb -p "$1" -batch -ex 'thread apply all backtrace 30' 2>/dev/null | grep -E '^(Thread|#)'
  elif command -v lldb >/dev/null; then
    timeout 120 lldb -p "$1" --batch -o 'thread backtrace all' 2>/dev/null
  else
    for task in "/proc/$1/task/"*; do echo "$(cat "$task/comm") in $(cat "$task/wchan")"; done
  fi
}

SECONDS=0
"$@" &
command=$!
trap 'kill $(family $command) 2>/dev/null; exit 130' INT TERM
(
  # In steps, so that little is left behind of a command that ends earlier.
  for ((waited = 0; waited < seconds; waited++)); do
    sleep 1
    kill -0 $command 2>/dev/null || exit 0
  done
  echo "limit: after $seconds s not over: $*"
  members=$(family $command)
  # Those furthest down wait for nobody: what hangs is there. They go first, and the others say what they still have to.
  for process in $(echo "$members" | tac); do stacks "$process" | cut -c1-300; done
  for process in $(echo "$members" | tac); do
    kill -9 "$process" 2>/dev/null && sleep 2
  done
) &
wait $command
status=$?
((SECONDS < seconds)) || exit 124
exit $status
