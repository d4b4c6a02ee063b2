#!/usr/bin/env bash
# Runs programs that were never recompiled on the toolchain's libdispatch.so and on ours.
#
#   scripts/dev dropin-tour
#
# A Foundation program, an async/await program, and the package manager building a package. Prints
# the library that the loader took, and the time and peak memory of each run. Exits with 1 if a
# program fails on ours or prints something else there.
source "$(dirname "$0")/../lib/common.sh"

scripts/dev dropin
ours=$PWD/.build-dropin/release
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run LIBRARY NAME COMMAND…: writes the output to $scratch/NAME.LIBRARY and prints the seconds and
# KiB. The library is set for the command alone, not for the program that measures it. A process
# inherits its parent's peak (getrusage(2), ru_maxrss), so a peak below that of the measuring
# program, about 10 MiB, reads as that.
run() {
  local library=$1 name=$2
  shift 2
  local folder=
  [[ $library == ours ]] && folder=$ours
  python3 - "$scratch/$name.$library" "$folder" "$@" <<'PYTHON'
import os, sys, time

output, folder, command = sys.argv[1], sys.argv[2], sys.argv[3:]
start = time.monotonic()
child = os.fork()
if child == 0:
    if folder:
        os.environ["LD_LIBRARY_PATH"] = folder
    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(target, 1)
    os.dup2(target, 2)
    os.execvp(command[0], command)
_, status, usage = os.wait4(child, 0)
code = os.waitstatus_to_exitcode(status)
print(f"{time.monotonic() - start:8.2f} s {usage.ru_maxrss / 1024:8.1f} MiB", end="")
sys.exit(0 if code == 0 else 1)
PYTHON
}

failed=0
# tour NAME WHAT SAYS SECONDS COMMAND…: SAYS states whether both outputs must be equal. A command
# that takes longer than SECONDS is ended and reported. On the toolchain's library, a Foundation
# handle often does not report the end of its pipe.
tour() {
  local name=$1 what=$2 says=$3 seconds=$4
  shift 4
  printf '%s\n' "$what"
  for library in toolchain ours; do
    rm -rf "$scratch/package/.build"
    printf '  %-10s' "$library"
    if run "$library" "$name" timeout "$seconds" "$@"; then
      printf '\n'
    else
      printf '  failed, or did not end in %s s; until then:\n' "$seconds"
      sed 's/^/    /' "$scratch/$name.$library"
      # A failure of the toolchain's library is not our fault, and its output cannot be compared.
      if [[ $library == ours ]]; then failed=1; else says=each; fi
    fi
  done
  if [[ $says == same ]]; then
    if diff "$scratch/$name.toolchain" "$scratch/$name.ours" >"$scratch/difference"; then
      sed 's/^/    /' "$scratch/$name.ours"
    else
      echo "  They say different things:"
      sed 's/^/    /' "$scratch/difference"
      failed=1
    fi
  fi
}

# These are built with the toolchain's compiler, headers and modules, and with nothing of ours.
clients=Tests/DropInTests/Clients
swiftc -O "$clients/FoundationClient.swift" -o "$scratch/foundation"
swiftc -O -parse-as-library "$clients/Concurrency.swift" -o "$scratch/concurrency"
cp -r Tests/DropInTests/ClientPackage "$scratch/package"
mv "$scratch/package/Package.swift.txt" "$scratch/package/Package.swift"

echo "What the loader takes:"
for folder in "" "$ours"; do
  LD_LIBRARY_PATH=$folder LD_TRACE_LOADED_OBJECTS=1 "$scratch/foundation" \
    | sed -n 's/^[[:space:]]*libdispatch\.so => \([^ ]*\).*/  \1/p'
done
tour foundation "Foundation: operations, a process, a pipe's handle, timers, run loops, a URL" same 20 \
  "$scratch/foundation"
tour concurrency "async/await: task groups, sleeps, the main actor, actors, streams" same 20 \
  "$scratch/concurrency"
tour package "swift build of a package" each 300 swift build --package-path "$scratch/package"
exit $failed
