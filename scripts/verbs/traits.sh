#!/usr/bin/env bash
# Builds and runs a package that depends on the engine with the trait ExecutorFactory.
#
#   scripts/dev traits
#
# Its two programs are those of ExecutorFactoryTests, which compiles them without the package
# manager: one has an async main function and sets an unsafe flag, which a root package may, one
# calls takeOverConcurrency(). Both print where tasks, the main actor and sleeps run. Exits with 1
# if any of them is not on the engine.
source "$(dirname "$0")/../lib/common.sh"

package=.build-traits
programs=Tests/ParityTests/Programs
expected="global=true
main=true
cancelled=true
sleeps=500500
actor=100
sets=1"

mkdir -p "$package"
sed "s|GRAND CENTRAL|$PWD|; s|NAME|$(basename "$PWD")|" "$programs/Package.swift.txt" \
  >"$package/Package.swift"
for program in AsyncMain SyncMain; do
  mkdir -p "$package/Sources/$program"
  for file in "$program" Checks; do
    # A dependant imports one module, and what it exports as SPI.
    sed 's|^import GrandCentralCore|@_spi(ExperimentalCustomExecutors) import GrandCentral|' \
      "$programs/$file.swift" >"$package/Sources/$program/$file.swift"
  done
done
grep -q GrandCentral "$package/Sources/AsyncMain/AsyncMain.swift" ||
  sed -i '1i @_spi(ExperimentalCustomExecutors) import GrandCentral' \
    "$package/Sources/AsyncMain/AsyncMain.swift"

swift build --package-path "$package" >"$package/log" 2>&1 || { cat "$package/log" && exit 1; }
failed=0
for program in AsyncMain SyncMain; do
  said=$(timeout 60 "$package/.build/debug/$program") || failed=1
  echo "$program: ${said//$'\n'/ }"
  [[ $said == "$expected" ]] || failed=1
done
((failed == 0)) || echo "which is not what is expected: ${expected//$'\n'/ }"
exit $failed
