#!/usr/bin/env bash
# Ends a command that hangs, and shows what each of its threads did.
#
#   scripts/dev limit SECONDS COMMAND…
#
# If the command takes longer than SECONDS, prints the stacks of all threads of its processes (with
# gdb or lldb, if one is installed), ends the processes and fails, so that a hang shows where it is.
set -uo pipefail

seconds=$1
shift

# Prints the process $1 and all its descendants.
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
  # In short steps, so that the timer process ends soon after a command that ends early.
  for ((waited = 0; waited < seconds; waited++)); do
    sleep 1
    kill -0 $command 2>/dev/null || exit 0
  done
  echo "limit: after $seconds s not over: $*"
  members=$(family $command)
  # The leaves of the process tree wait for no other process, so the hang is there. They end first;
  # their parents then print what they have left to print.
  for process in $(echo "$members" | tac); do stacks "$process" | cut -c1-300; done
  for process in $(echo "$members" | tac); do
    kill -9 "$process" 2>/dev/null && sleep 2
  done
) &
wait $command
status=$?
((SECONDS < seconds)) || exit 124
exit $status
