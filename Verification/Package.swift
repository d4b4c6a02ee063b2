// swift-tools-version: 6.3
import PackageDescription

// The model checker, and the engine's models (Docs/Verification.md). The models compile the
// engine's own sources beside the checker's atomics, threads and clock, so this package depends on
// no other.
let language: [SwiftSetting] = [.swiftLanguageMode(.v6)]

// The README of a folder of the engine is not part of the module.
let readmes = [
  "BlackBox", "Coordination", "Data", "Faults", "IO", "Lanes", "Lifecycle", "Platform", "Pool",
  "Priority",
  "QoS", "Queues", "Reactor", "Sources", "ThreadPolicy", "Time", "Work",
].map { "Core/\($0)/README.md" }
let simulated = language + [.define("GRANDCENTRAL_MODEL")]

let package = Package(
  name: "Verification",
  products: [
    .executable(name: "model", targets: ["model"]),
    // What the package in Scaling uses.
    .library(name: "CoreSimulator", targets: ["CoreSimulator"]),
    .library(name: "CGrandCentralLinux", targets: ["CGrandCentralLinux"]),
  ],
  targets: [
    // Runs small programs in every possible schedule. Independent of the engine.
    .target(name: "CFibers"),
    .target(name: "ModelChecker", dependencies: ["CFibers"], swiftSettings: language),
    // Tests the checker: its switch of stacks, and its searches against each other on random
    // programs.
    .target(name: "FiberTests", dependencies: ["CFibers"]),
    .target(name: "ModelSelfTest", dependencies: ["ModelChecker"], swiftSettings: language),
    .testTarget(
      name: "ModelCheckerTests", dependencies: ["FiberTests", "ModelChecker", "ModelSelfTest"],
      swiftSettings: language),
    // The models. Core, CLinux, Async and some files in Primitives are symbolic links to the
    // product's.
    .target(name: "CGrandCentralLinux", path: "Sources/CLinux"),
    .executableTarget(
      name: "model", dependencies: ["CGrandCentralLinux", "ModelChecker", "ModelSelfTest"],
      path: "Models", exclude: readmes, swiftSettings: simulated),
    // A machine of up to 64 cores, on which the package in Scaling runs the engine's own sources
    // in simulated time (Docs/Scaling.md).
    .target(name: "CoreSimulator", dependencies: ["CFibers"], swiftSettings: language),
    .testTarget(
      name: "CoreSimulatorTests", dependencies: ["CoreSimulator"], swiftSettings: language),
  ]
)
