#!/usr/bin/env bash
# Runs in a Debian with the packages: compiles programs, runs them, and looks into one that hangs.
set -euo pipefail
cd /programs

gcc -Wall -Werror sum.c -o sum $(pkg-config --cflags --libs grandcentral)
./sum
clang -Wall -Werror blocks.c -o blocks $(pkg-config --cflags --libs grandcentral-blocks)
./blocks
gcc -Wall -Werror words.c -o words $(pkg-config --cflags --libs grandcentral)
./words sum.c blocks.c
mkdir cmake && (cd cmake && cmake .. >/dev/null && make -s && ./sum-cmake)

with-grandcentral ./sum
# Nothing in this program leads to the library: it is the command that finds it.
gcc sum.c -o plain $(pkg-config --cflags grandcentral) -L/usr/lib/grandcentral -ldispatch
if ./plain 2>/dev/null; then exit 1; fi
[[ $(grandcentral run -- ./plain) == 333833500 ]]
if grandcentral run --no-dropin -- ./plain 2>/dev/null; then exit 1; fi
status=0 && with-grandcentral 2>/dev/null || status=$?
[[ $status -eq 64 ]]

gcc stuck.c -o stuck $(pkg-config --cflags --libs grandcentral)
./stuck &
program=$!
# The wait must last for a second to be reported; the command is asked again until it is.
for _ in $(seq 600); do
  status=0
  grandcentral dump $program --stuck-after 1 >report 2>errors || status=$?
  [[ $status -eq 1 ]] && break
  sleep 0.1
done
kill -9 $program
head -n 3 report
grep -q "queue 'orders'" report
