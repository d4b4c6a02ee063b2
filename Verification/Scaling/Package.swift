// swift-tools-version: 6.3
import PackageDescription

// Workloads on a simulated machine of up to 64 cores (Docs/Scaling.md). They compile the engine's
// own sources beside the simulator's atomics, threads and clock: Core and some files in Primitives
// are symbolic links. A package of its own, because the engine compiles for minutes and only
// scripts/dev scaling runs the program; scripts/dev tidy checks the types.

// The README of a folder of the engine is not part of the module.
let readmes = [
  "BlackBox", "Coordination", "Data", "Faults", "IO", "Lanes", "Lifecycle", "Platform", "Pool",
  "Priority",
  "QoS", "Queues", "Reactor", "Sources", "ThreadPolicy", "Time", "Work",
].map { "Core/\($0)/README.md" }

let package = Package(
  name: "Scaling",
  dependencies: [.package(name: "Verification", path: "..")],
  targets: [
    .executableTarget(
      name: "scaling",
      dependencies: [
        .product(name: "CoreSimulator", package: "Verification"),
        .product(name: "CGrandCentralLinux", package: "Verification"),
      ],
      path: ".", exclude: readmes,
      swiftSettings: [.swiftLanguageMode(.v6), .define("GRANDCENTRAL_MODEL")])
  ]
)
