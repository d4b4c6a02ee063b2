// swift-tools-version: 6.2
import PackageDescription

// The engine's modules need no language feature beyond Swift 6 and no unsafe flags, so any package
// can depend on this one. Warnings are errors in this package's own builds only (scripts/tidy.sh
// passes the flag): in the manifest, the flag would break users with newer compilers.
let language: [SwiftSetting] = [.swiftLanguageMode(.v6)]

// The README of a folder of the engine is not part of the module.
let readmes = ["Coordination", "Events", "Lanes", "Pool", "Work"].map { "\($0)/README.md" }

let package = Package(
  name: "GrandCentral",
  products: [
    .library(name: "GrandCentral", targets: ["GrandCentral"]),
    .library(name: "GrandCentralDropIn", targets: ["GrandCentralDropIn"]),
    .executable(name: "tour", targets: ["tour"]),
  ],
  targets: [
    // The engine's only C: system calls that the Glibc overlay cannot express, and thread-locals.
    .target(name: "CLinux"),
    // The C headers. The name CDispatch belongs to a module of the toolchain, which Foundation
    // imports.
    .target(name: "CGrandCentralDispatch", path: "Sources/CDispatch"),
    // The data symbols of the drop-in libdispatch.so, with the names and sizes that programs
    // expect.
    .target(name: "CDispatchStorage", linkerSettings: [.linkedLibrary("BlocksRuntime")]),
    // Atomics, parking, thread identity and the clock.
    .target(name: "Primitives", dependencies: ["CLinux"], swiftSettings: language),
    // The engine and its Swift classes.
    .target(
      name: "GrandCentralCore", dependencies: ["CLinux", "Primitives"], exclude: readmes,
      swiftSettings: language),
    // Makes a whole program run on this engine, including Foundation and Concurrency.
    .target(
      name: "GrandCentralDropIn", dependencies: ["CDispatchExports"], swiftSettings: language,
      linkerSettings: [.linkedLibrary("dispatch"), .linkedLibrary("BlocksRuntime")]),
    // The functions of the C API, for the drop-in libdispatch.so (scripts/dropin.sh). A program
    // that links this target exports the API itself.
    .target(
      name: "CDispatchExports", dependencies: ["CDispatchStorage", "CLinux", "GrandCentralCore"],
      swiftSettings: language),
    // The module that users import.
    .target(
      name: "GrandCentral", dependencies: ["GrandCentralCore"], swiftSettings: language),

    // Runs small programs in every possible schedule. Independent of the engine.
    .target(name: "CFibers"),
    .target(name: "ModelChecker", dependencies: ["CFibers"], swiftSettings: language),
    .target(
      name: "FiberTests", dependencies: ["CFibers"], path: "Tests/Fibers",
      publicHeadersPath: "include"),
    // Tests the checker: compares its searches with each other on random programs.
    .target(
      name: "ModelSelfTest", dependencies: ["ModelChecker"], path: "Tests/ModelSelfTest",
      swiftSettings: language),
    .testTarget(
      name: "ModelCheckerTests", dependencies: ["FiberTests", "ModelChecker", "ModelSelfTest"],
      swiftSettings: language),
    // The models, with the engine's sources compiled a second time beside the checker's primitives.
    // Core and some of the files in Primitives are symbolic links.
    .executableTarget(
      name: "model", dependencies: ["CLinux", "ModelChecker", "ModelSelfTest"],
      path: "Tests/Models", exclude: readmes.map { "Core/\($0)" },
      swiftSettings: language + [.define("GRANDCENTRAL_MODEL")]),

    // The main job that a newcomer runs. TourJobDispatch is a symbolic link to TourJob: one source,
    // compiled against both engines.
    .target(name: "TourKit", swiftSettings: language),
    .target(
      name: "TourJob", dependencies: ["GrandCentral", "TourKit"],
      swiftSettings: language + [.define("GRAND_CENTRAL")]),
    .target(name: "TourJobDispatch", dependencies: ["TourKit"], swiftSettings: language),
    // The tour's live chapters: sockets, files and processes, watched by sources.
    .target(
      name: "TourChapters", dependencies: ["GrandCentral", "TourKit"], swiftSettings: language),
    .executableTarget(
      name: "tour", dependencies: ["TourKit", "TourJob", "TourJobDispatch", "TourChapters"],
      swiftSettings: language),

    .target(
      name: "TestSupport", dependencies: ["CLinux", "CFaults"], path: "Tests/TestSupport",
      swiftSettings: language),
    // Programs for behaviour that cannot be tested inside the test process.
    .executableTarget(
      name: "MainQueueProbe", dependencies: ["GrandCentral", "GrandCentralCore", "TestSupport"],
      path: "Tests/Probes/MainQueueProbe", swiftSettings: language),
    .executableTarget(
      name: "PoolProbe", dependencies: ["CFaults", "GrandCentral", "TestSupport"],
      path: "Tests/Probes/PoolProbe", swiftSettings: language),
    .executableTarget(
      name: "LifetimeProbe", dependencies: ["GrandCentral", "TestSupport"],
      path: "Tests/Probes/LifetimeProbe", swiftSettings: language),
    .executableTarget(
      name: "ForkProbe",
      dependencies: ["CFaults", "GrandCentral", "GrandCentralCore", "TestSupport"],
      path: "Tests/Probes/ForkProbe", swiftSettings: language),
    // Injects faults: limits, refused system calls, signals, CPU masks; and sets a wall clock.
    .target(name: "CFaults", path: "Tests/CFaults"),
    .target(name: "CClock", path: "Tests/CClock"),
    .executableTarget(
      name: "FaultProbe",
      dependencies: ["GrandCentral", "GrandCentralCore", "TestSupport", "CFaults"],
      path: "Tests/Probes/FaultProbe", swiftSettings: language),
    .executableTarget(
      name: "ClockProbe", dependencies: ["GrandCentral", "TestSupport", "CClock"],
      path: "Tests/Probes/ClockProbe", swiftSettings: language),
    .testTarget(
      name: "FaultTests", dependencies: ["TestSupport", "FaultProbe", "ClockProbe"],
      swiftSettings: language),
    .testTarget(
      name: "GrandCentralTests",
      dependencies: [
        "CFaults", "GrandCentral", "TestSupport", "ForkProbe", "LifetimeProbe", "MainQueueProbe",
        "PoolProbe",
      ],
      swiftSettings: language),
    .testTarget(
      name: "PrimitivesTests", dependencies: ["Primitives", "CLinux", "TestSupport"],
      swiftSettings: language),
    .testTarget(
      name: "GrandCentralCoreTests",
      dependencies: [
        "CFaults", "GrandCentralCore", "GrandCentral", "CLinux", "Primitives", "TestSupport",
      ],
      swiftSettings: language),
    .testTarget(
      name: "StressTests",
      dependencies: ["GrandCentral", "GrandCentralCore", "Primitives", "TestSupport"],
      swiftSettings: language),
    .testTarget(
      name: "ParityTests", dependencies: ["GrandCentral", "TestSupport"], exclude: ["Lists"],
      swiftSettings: language),
    // Tests programs on the drop-in library, which its script builds, in separate processes.
    .testTarget(
      name: "DropInTests", dependencies: ["TestSupport"],
      exclude: ["Clients", "ClientPackage", "Embedding"],
      swiftSettings: language),
    // One source, compiled against either engine. DoorDispatchTests is a symbolic link.
    .testTarget(
      name: "DoorTests", dependencies: ["GrandCentral", "TestSupport"], swiftSettings: language),
    .testTarget(
      name: "DoorDispatchTests", dependencies: ["TestSupport"],
      swiftSettings: language + [.define("DOOR_DISPATCH")]),
    // The fuzzer. FuzzEngineDispatch is a symbolic link to FuzzEngine: one source, compiled against
    // both engines.
    .target(
      name: "FuzzKit", dependencies: ["TestSupport"], path: "Tests/Fuzzing/FuzzKit",
      swiftSettings: language),
    .target(
      name: "FuzzEngine", dependencies: ["GrandCentral", "FuzzKit", "TestSupport"],
      path: "Tests/Fuzzing/FuzzEngine",
      swiftSettings: language + [.define("GRAND_CENTRAL")]),
    .target(
      name: "FuzzEngineDispatch", dependencies: ["FuzzKit", "TestSupport"],
      path: "Tests/Fuzzing/FuzzEngineDispatch", swiftSettings: language),
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzKit", "FuzzEngine", "FuzzEngineDispatch", "TestSupport"],
      path: "Tests/Fuzzing/fuzz", swiftSettings: language),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["FuzzKit", "FuzzEngine", "FuzzEngineDispatch", "fuzz", "TestSupport"],
      swiftSettings: language),
    .testTarget(
      name: "TourTests",
      dependencies: [
        "GrandCentral", "TourKit", "TourJob", "TourJobDispatch", "TourChapters", "tour",
      ],
      swiftSettings: language),
  ]
)

// Under a sanitizer, build only the engine and the tests that run it in their own process; the rest
// would take most of the build time (scripts/sanitize.sh).
if Context.environment["GRANDCENTRAL_SANITIZED"] != nil {
  let kept: Set = [
    "CLinux", "Primitives", "GrandCentralCore", "GrandCentral", "CFaults", "TestSupport",
    "ForkProbe", "LifetimeProbe", "MainQueueProbe", "PoolProbe",
    "GrandCentralTests", "GrandCentralCoreTests", "StressTests",
  ]
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { $0.name != "GrandCentral" }
}
