// swift-tools-version: 6.3
import PackageDescription

// What the tests of several packages share. It knows nothing of the engine, so tests of the
// toolchain's Dispatch use it too.
let package = Package(
  name: "Support",
  products: [
    .library(name: "TestSupport", targets: ["TestSupport"]),
    .library(name: "CFaults", targets: ["CFaults"]),
    .library(name: "CClock", targets: ["CClock"]),
    .library(name: "CAllocations", targets: ["CAllocations"]),
  ],
  targets: [
    // Latches, threads, child processes, descriptors, schedules and seeds.
    .target(
      name: "TestSupport", dependencies: ["CFaults"], swiftSettings: [.swiftLanguageMode(.v6)]),
    // Injects faults: limits, refused system calls, signals, CPU masks.
    .target(name: "CFaults"),
    // A wall clock that a program may set.
    .target(name: "CClock"),
    // Counts the allocations of a program.
    .target(name: "CAllocations"),
  ]
)
