#!/usr/bin/env bash
# Builds the libdispatch.so that replaces the toolchain's; prints its size and dependencies.
#
#   scripts/dev dropin [release|debug] [FOLDER]     by default release, in .build-dropin/release
#   DROPIN_SANITIZER=address scripts/dev dropin     or thread: for programs with the same sanitizer
#   DROPIN_ARCHITECTURE=arm64 scripts/dev dropin    for another architecture (scripts/dev arm64)
#   DROPIN_FRAMES=1 scripts/dev dropin              with frame pointers, in release-frames
#
# The library is one module. Its sources, the engine's and those of the layer below are compiled
# together, without the modules that the compiler imports implicitly, because the Concurrency
# library itself needs libdispatch.so. The package's own targets compile the same sources without
# such flags.
source "$(dirname "$0")/../lib/common.sh"

mode=${1:-release}
out=${2:-.build-dropin/$mode${DROPIN_SANITIZER:+-$DROPIN_SANITIZER}${DROPIN_FRAMES:+-frames}}
[[ -n ${2:-} ]] || out+=${DROPIN_ARCHITECTURE:+-$DROPIN_ARCHITECTURE}
# The tools that come with the compiler, instead of the system's.
swift=$(readlink -f "$(command -v swiftc)")
clang=$(dirname "$swift")/clang
case $mode in
# Do not merge similar functions: a merged function calls its differing parts through a pointer, on
# fast paths too. Exclusive access is checked in all builds of the package, so in its tests, and not
# here: each check costs 40 instructions.
release)
  swift_flags=(-O -whole-module-optimization -Xllvm -swiftmergefunc-threshold=0
    -enforce-exclusivity=unchecked)
  c_flags=(-O2)
  ;;
debug) swift_flags=(-Onone -g) c_flags=(-O0 -g) ;;
*) echo "scripts/dev dropin [release|debug] [FOLDER]" >&2 && exit 64 ;;
esac
# DROPIN_FRAMES=1 keeps frame pointers, for profilers, and for the origins of a recording: without
# them a walk misses the function that calls the library. They cost 7 % of a sync's instructions.
if [[ -n ${DROPIN_FRAMES:-} ]]; then
  swift_flags+=(-Xcc -fno-omit-frame-pointer)
  c_flags+=(-fno-omit-frame-pointer)
fi
# DROPIN_SANITIZER=address or thread builds a library for finding mistakes, for programs that the
# toolchain's clang built with the same sanitizer. The sanitizer's runtime is in the program.
more=() definitions=(-Xlinker -z -Xlinker defs)
if [[ -n ${DROPIN_SANITIZER:-} ]]; then
  # Line tables only: full debug information would leave the module beside the sources.
  more+=("-sanitize=$DROPIN_SANITIZER" -gline-tables-only)
  c_flags+=("-fsanitize=$DROPIN_SANITIZER" -g)
  definitions=()
fi
case ${DROPIN_ARCHITECTURE:-} in
'') ;;
arm64)
  source scripts/lib/arm64.sh
  arm64_prepare
  swift_flags+=("${arm64_swiftc[@]}")
  c_flags+=("${arm64_clang[@]}")
  ;;
*) echo "dropin: there is no architecture '$DROPIN_ARCHITECTURE'; arm64 is one" >&2 && exit 64 ;;
esac

# Do nothing if the library is newer than all its inputs.
inputs=(Sources/Primitives Sources/GrandCentralCore Sources/Board Sources/CDispatchExports
  Sources/CDispatchStorage Sources/CLinux scripts/verbs/dropin.sh)
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
if [[ -e $out/libdispatch.so && -z $(find "${inputs[@]}" -newer "$out/libdispatch.so" -print -quit) ]]; then
  echo "$out/libdispatch.so is up to date"
  exit 0
fi

scratch=$out/objects
mkdir -p "$scratch"
modules=(-ISources/CLinux/include -ISources/CDispatchStorage/include)

objects=()
for source in Sources/CLinux/*.c Sources/CDispatchStorage/*.c; do
  object=$scratch/$(basename "$source" .c).o
  "$clang" -c -fPIC "${c_flags[@]}" "${modules[@]}" "$source" -o "$object"
  objects+=("$object")
done

# The functions of Sources/CLinux/Children.c, which a sanitized library lacks.
children=
[[ -n ${DROPIN_SANITIZER:-} ]] ||
  children=$(sed -n 's/^WEAK .*[ *]\([a-z_]*\)(.*/\1;/p' Sources/CLinux/Children.c | tr '\n' ' ')
echo "{ global: dispatch_*; _dispatch_*; _os_object_*; libdispatch_init; grandcentral_*; $children" \
  "local: *; };" >"$scratch/exports.map"
# The small libraries of Swift's are linked into this one where the toolchain has them as archives:
# loading one more takes a program 0.1 ms and 100 KB. Not the standard library: a Swift program
# would have two, which do not know each other's types. Neither the frontend nor the archives may
# name the libraries themselves: they pass the driver, which reads such names, as options of the
# linker.
libraries=(-lswiftSynchronization -lswiftGlibc)
archives=$(dirname "$swift")/../lib/swift_static/linux
if [[ -z ${DROPIN_ARCHITECTURE:-} && -e $archives/libswiftSynchronization.a ]]; then
  libraries=(-Xlinker "$archives/libswiftSynchronization.a" -Xlinker "$archives/libswiftGlibc.a")
fi
# The order decides through which module the compiler finds the types of the C library, and with it
# which imports must be public: the exports come first.
mapfile -t sources < <(
  for folder in Sources/CDispatchExports Sources/GrandCentralCore Sources/Primitives Sources/Board; do
    find "$folder" -name '*.swift' | sort
  done)
# A program may dlclose(3) a plug-in that needs this library, while threads of the engine sleep in
# it.
unloading=(-Xlinker -z -Xlinker nodelete)
# Under a temporary name until every step has succeeded. No incremental code generation: it leaves a
# hash in the library that depends on the folder, so two builds would differ.
made=$scratch/libdispatch.so
swiftc -emit-library -o "$made" "${swift_flags[@]}" "${more[@]}" \
  -swift-version 6 -parse-as-library -warnings-as-errors \
  -module-name GrandCentralDropIn -package-name grandcentral -DGRANDCENTRAL_DROPIN \
  -Xfrontend -disable-implicit-concurrency-module-import \
  -Xfrontend -disable-implicit-string-processing-module-import \
  -Xfrontend -disable-incremental-llvm-codegen -Xfrontend -disable-all-autolinking \
  "${modules[@]}" "${sources[@]}" "${objects[@]}" "${libraries[@]}" -lBlocksRuntime -lm -lpthread -ldl \
  -Xlinker -soname=libdispatch.so -Xlinker "--version-script=$scratch/exports.map" \
  "${unloading[@]}" "${definitions[@]}"

needed=$(readelf -d "$made" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -qE 'libswift_Concurrency|libswift_StringProcessing|libdispatch' <<<"$needed"; then
  echo "A library that needs libdispatch.so itself is among them." >&2
  exit 1
fi
mv "$made" "$out/libdispatch.so"
echo "$out/libdispatch.so: $(stat -c %s "$out/libdispatch.so") bytes, needs" $needed
