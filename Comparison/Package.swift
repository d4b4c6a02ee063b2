// swift-tools-version: 6.3
import PackageDescription

// Programs and tests that run on both engines, this one and the toolchain's. A folder whose name
// contains Dispatch is a symbolic link to the folder before it: one source, compiled against both.
let language: [SwiftSetting] = [.swiftLanguageMode(.v6)]
// Tests in which no code of this engine is inlined: to optimise them takes longer than to run them.
let unoptimised = language + [.unsafeFlags(["-Onone"])]

let engine: Target.Dependency = .product(name: "GrandCentral", package: "GrandCentral")
let foundation: Target.Dependency = .product(
  name: "GrandCentralFoundation", package: "GrandCentral")
let testSupport: Target.Dependency = .product(name: "TestSupport", package: "Support")
let allocations: Target.Dependency = .product(name: "CAllocations", package: "Support")

let package = Package(
  name: "Comparison",
  products: [
    .executable(name: "fuzz", targets: ["fuzz"]),
    .executable(name: "instructions", targets: ["instructions"]),
  ],
  dependencies: [
    .package(name: "GrandCentral", path: ".."),
    .package(path: "../Tests/Support"),
  ],
  targets: [
    // Makes random legal programs and judges their logs; knows no engine.
    .target(name: "FuzzKit", dependencies: [testSupport], swiftSettings: language),
    // Runs them on an engine.
    .target(
      name: "FuzzEngine", dependencies: ["FuzzKit", engine, testSupport],
      swiftSettings: language + [.define("GRAND_CENTRAL")]),
    .target(
      name: "FuzzEngineDispatch", dependencies: ["FuzzKit", testSupport], swiftSettings: language),
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzKit", "FuzzEngine", "FuzzEngineDispatch", testSupport],
      swiftSettings: language),
    // The hot paths of the Swift interface, for the table of instructions.
    .target(name: "CCallgrind"),
    .executableTarget(
      name: "instructions", dependencies: ["CCallgrind", engine], swiftSettings: language),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["FuzzKit", "FuzzEngine", "FuzzEngineDispatch", "fuzz", testSupport],
      swiftSettings: unoptimised),
    // Programs that both Swift modules must compile and run alike.
    .testTarget(
      name: "DoorTests", dependencies: [engine, foundation, testSupport], swiftSettings: language),
    // Allocations of optimised code, which debug builds have more of.
    .testTarget(
      name: "AllocationTests", dependencies: [engine, testSupport, allocations],
      swiftSettings: language),
    .testTarget(
      name: "DoorDispatchTests", dependencies: [testSupport],
      swiftSettings: unoptimised + [.define("DOOR_DISPATCH")]),
  ]
)
