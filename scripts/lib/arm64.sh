# What builds and runs programs for arm64 on a machine of another kind. Read after common.sh.
#
# The compiler is this machine's. Debian's unstable suite has the C library, Swift's runtime and the
# interfaces of its modules for arm64, from which the compiler makes modules of its own version. The
# runtime may therefore be older than the compiler; the linker names what it lacks.

arm64_target=aarch64-unknown-linux-gnu
arm64_sdk=$PWD/.build-arm64/sdk
arm64_resources=$arm64_sdk/usr/lib/swift
arm64_clang=("--target=$arm64_target" "--sysroot=$arm64_sdk")
arm64_swiftc=(
  -target "$arm64_target" -sdk "$arm64_sdk" -resource-dir "$arm64_resources" -use-ld=lld
  -module-cache-path "$PWD/.build-arm64/modules" -Xclang-linker "--sysroot=$arm64_sdk")
# Runs a program; the emulator needs none of the machine's settings.
arm64_run=("$PWD/.build-arm64/qemu/usr/bin/qemu-aarch64" -L "$arm64_sdk")

# Fetches the parts, once: 1.2 GB. A mirror that is a few weeks old is good enough.
arm64_prepare() {
  [[ -e .build-arm64/fetched ]] && return
  local tool apt
  for tool in mmdebstrap dpkg-deb; do
    command -v "$tool" >/dev/null || {
      echo "arm64: there is no $tool: scripts/dev setup --packages" >&2
      exit 1
    }
  done
  rm -rf .build-arm64
  apt=$PWD/.build-arm64/apt
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial}
  echo "deb [arch=amd64,arm64] http://deb.debian.org/debian unstable main" >"$apt/sources.list"
  cat >"$apt/apt.conf" <<CONF
Dir::State "$apt/state";
Dir::Cache "$apt/cache";
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
APT::Architectures {"amd64"; "arm64";};
APT::Sandbox::User "root";
Acquire::Check-Valid-Until "false";
CONF
  mmdebstrap --quiet --variant=extract --skip=check/qemu --architectures=arm64 \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --include=libswiftlang,libc6-dev,libstdc++-14-dev,libgcc-14-dev,linux-libc-dev \
    unstable .build-arm64/debian
  (cd "$apt" && export APT_CONFIG=$apt/apt.conf && apt-get update -qq &&
    apt-get download -qq swiftlang:arm64 qemu-user \
      {swiftlang,libswiftlang,libc6,libstdc++6,libgcc-s1}:amd64)
  dpkg-deb --extract "$apt"/qemu-user_*.deb .build-arm64/qemu
  arm64_assemble "$apt"/swiftlang_*_arm64.deb
  arm64_take_macros "$apt"
  rm -rf "$apt" .build-arm64/debian
  touch .build-arm64/fetched
}

# Makes the folder that the compiler gets as its SDK, with its resources where it looks for them.
arm64_assemble() {
  local host folder=usr/libexec/swift/lib/swift module
  host=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/swift
  mkdir "$arm64_sdk"
  cp -a .build-arm64/debian/usr "$arm64_sdk"
  ln -s usr/lib "$arm64_sdk/lib"
  mv "$arm64_sdk/$folder" "$arm64_resources"
  dpkg-deb --fsys-tarfile "$1" |
    tar --extract --directory "$arm64_resources" --strip-components=6 "./$folder/linux"
  # The modules of another compiler's version cannot be read; their interfaces can.
  find "$arm64_resources/linux" -name '*.swiftmodule' -type f | while read -r module; do
    [[ ! -e ${module%.swiftmodule}.swiftinterface ]] || rm "$module"
  done
  for folder in shims clang apinotes; do
    rm -rf "${arm64_resources:?}/$folder"
    ln -s "$host/$folder" "$arm64_resources/$folder"
  done
}

# Takes the macros of Testing from the packages in the folder $1. Macros and module must have the
# same version. The macros are programs for x86-64, which run here on the C library of their system.
arm64_take_macros() {
  local macros=.build-arm64/macros package
  mkdir "$macros"
  for package in libswiftlang libc6 libstdc++6 libgcc-s1; do
    dpkg-deb --extract "$1/${package}"_*_amd64.deb "$macros"
  done
  dpkg-deb --fsys-tarfile "$1"/swiftlang_*_amd64.deb |
    tar --extract --directory "$macros" ./usr/libexec/swift/bin/swift-plugin-server \
      ./usr/libexec/swift/lib/swift/host
}

# Sets `arm64_build` to what makes SwiftPM build for arm64. Makes the Swift SDK that it names, and
# the program that expands macros.
arm64_set_build() {
  local bundle=.build-arm64/sdks/arm64.artifactbundle macros=$PWD/.build-arm64/macros
  local swift=$macros/usr/libexec/swift
  mkdir -p "$bundle/arm64"
  ln -sfn "$arm64_sdk" "$bundle/arm64/root"
  cat >"$bundle/info.json" <<'JSON'
{ "schemaVersion": "1.0",
  "artifacts": {
    "arm64": {
      "type": "swiftSDK", "version": "1",
      "variants": [{ "path": "arm64" }] } } }
JSON
  cat >"$bundle/arm64/swift-sdk.json" <<JSON
{ "schemaVersion": "4.0",
  "targetTriples": {
    "$arm64_target": {
      "sdkRootPath": "root", "swiftResourcesPath": "root/usr/lib/swift",
      "toolsetPaths": ["toolset.json"] } } }
JSON
  cat >"$bundle/arm64/toolset.json" <<'JSON'
{ "schemaVersion": "1.0",
  "swiftCompiler": { "extraCLIOptions": ["-use-ld=lld"] } }
JSON
  cat >"$macros/server" <<SERVER
#!/bin/sh
exec $macros/usr/lib64/ld-linux-x86-64.so.2 --library-path $macros/usr/lib/x86_64-linux-gnu \
  $swift/bin/swift-plugin-server "\$@"
SERVER
  chmod +x "$macros/server"
  arm64_build=(
    --swift-sdks-path "$PWD/.build-arm64/sdks" --swift-sdk arm64
    -Xswiftc -module-cache-path -Xswiftc "$PWD/.build-arm64/modules"
    -Xswiftc -external-plugin-path -Xswiftc "$swift/lib/swift/host/plugins#$macros/server")
}

# Makes the root package with what a program that imports it builds, a program of scenarios of the
# main queue, and the product Tests: a program that runs the tests of three targets. SwiftPM's own
# runner imports XCTest, of which Debian has no readable module, so the targets are plain ones here.
# scripts/lib/arm64-tests.txt names the files of tests that are left out.
arm64_make_package() {
  local package=.build-arm64/package target
  mkdir -p "$package/Runner"
  ln -sfn "$PWD/Sources" "$package/Sources"
  ln -sfn "$PWD/Tests" "$package/Tests"
  cat >"$package/Runner/main.swift" <<'SWIFT'
import Testing

await Testing.__swiftPMEntryPoint() as Never
SWIFT
  {
    cat Package.swift
    echo 'let leftOut: [String: [String]] = ['
    for target in PrimitivesTests GrandCentralCoreTests GrandCentralTests; do
      echo "  \"$target\": ["
      sed -nE "s,^$target/(.*),    \"\1\"\,,p" scripts/lib/arm64-tests.txt
      echo '  ],'
    done
    echo ']'
    cat <<'SWIFT'
let kept: Set = [
  "CGrandCentralLinux", "GrandCentralPrimitives", "GrandCentralCore", "GrandCentralBoard",
  "GrandCentral", "MainQueueProbe",
]
let engine: [Target.Dependency] = [
  "CGrandCentralLinux", "GrandCentralPrimitives", "GrandCentralCore", "GrandCentral",
]
package.targets.removeAll { !kept.contains($0.name) }
package.products.removeAll { $0.name != "GrandCentral" }
package.targets += leftOut.sorted { $0.key < $1.key }.map { name, files in
  .target(
    name: name, dependencies: engine + [faults, testSupport], path: "Tests/\(name)",
    exclude: files, swiftSettings: language)
}
package.targets.append(
  .executableTarget(
    name: "Tests", dependencies: leftOut.keys.sorted().map { .byName(name: $0) }, path: "Runner"))
SWIFT
  } >"$package/Package.swift"
}

# Runs a program for arm64, which may start others, with the emulator as the kernel's handler of
# such programs. The handler is that of a name space of its own, for which Linux must be 6.7 or
# later.
arm64_run_with_children() {
  QEMU_LD_PREFIX=$arm64_sdk QEMU_SET_ENV=LD_LIBRARY_PATH=$arm64_resources/linux \
    unshare --user --map-root-user --mount bash -euc '
      handlers=/proc/sys/fs/binfmt_misc
      mount -t binfmt_misc none "$handlers"
      # The head of an ELF file: 64 bits, little-endian, any system; a program, for AArch64.
      eight="\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
      head="\\x7fELF\\x02\\x01\\x01\\x00$eight\\x02\\x00\\xb7\\x00"
      mask="\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00${eight//00/ff}\\xfe\\xff\\xff\\xff"
      printf %s ":arm64:M::$head:$mask:$1:F" >"$handlers/register"
      shift
      exec "$@"' - "${arm64_run[0]}" "$@"
}
