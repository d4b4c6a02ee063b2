// swift-tools-version: 6.2
import PackageDescription

// The engine's modules see no language feature beyond Swift 6 and need no unsafe flags, so that any
// package can depend on this one. Warnings are errors in this package's own builds only
// (scripts/tidy.sh passes the flag): a manifest that did it would break users on newer compilers.
let language: [SwiftSetting] = [.swiftLanguageMode(.v6)]

/// What explains a folder of the engine to its readers is no part of the module.
let readmes = ["Coordination", "Events", "Lanes", "Pool", "Work"].map { "\($0)/README.md" }

let package = Package(
  name: "GrandCentral",
  products: [
    .library(name: "GrandCentral", targets: ["GrandCentral"]),
    .library(name: "GrandCentralDropIn", targets: ["GrandCentralDropIn"]),
    .executable(name: "tour", targets: ["tour"]),
  ],
  targets: [
    // The engine's only C: system calls that Glibc's Swift overlay cannot express, thread-locals.
    .target(name: "CLinux"),
    // The C headers. The toolchain owns the name CDispatch, and Foundation imports its module.
    .target(name: "CGrandCentralDispatch", path: "Sources/CDispatch"),
    // The data symbols of the drop-in libdispatch.so, whose names and sizes programs are linked with.
    .target(name: "CDispatchStorage", linkerSettings: [.linkedLibrary("BlocksRuntime")]),
    // The façade over atomics, parking and thread identity.
    .target(name: "Primitives", dependencies: ["CLinux"], swiftSettings: language),
    // The engine and its Swift classes.
    .target(
      name: "GrandCentralCore", dependencies: ["CLinux", "Primitives"], exclude: readmes,
      swiftSettings: language),
    // What a program depends on to run on this engine as a whole, Foundation and Concurrency too.
    .target(
      name: "GrandCentralDropIn", dependencies: ["CDispatchExports"], swiftSettings: language,
      linkerSettings: [.linkedLibrary("dispatch"), .linkedLibrary("BlocksRuntime")]),
    // The C API's bodies, for the drop-in libdispatch.so (scripts/dropin.sh). A program that links this target
    // exports the API itself.
    .target(
      name: "CDispatchExports", dependencies: ["CDispatchStorage", "CLinux", "GrandCentralCore"],
      swiftSettings: language),
    // What users import.
    .target(
      name: "GrandCentral", dependencies: ["GrandCentralCore"], swiftSettings: language),

    // Runs small programs in every way that they can run. Knows nothing of the engine.
    .target(name: "CFibers"),
    .target(name: "ModelChecker", dependencies: ["CFibers"], swiftSettings: language),
    .target(
      name: "FiberTests", dependencies: ["CFibers"], path: "Tests/Fibers",
      publicHeadersPath: "include"),
    // Checks the checker: its searches against each other, on random programs.
    .target(
      name: "ModelSelfTest", dependencies: ["ModelChecker"], path: "Tests/ModelSelfTest",
      swiftSettings: language),
    .testTarget(
      name: "ModelCheckerTests", dependencies: ["FiberTests", "ModelChecker", "ModelSelfTest"],
      swiftSettings: language),
    // The models, and the engine's own sources compiled once more beside the checker's primitives: Core
    // and some of the files in Primitives are symbolic links.
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
    // Its live chapters: sockets, files and processes under sources.
    .target(
      name: "TourChapters", dependencies: ["GrandCentral", "TourKit"], swiftSettings: language),
    .executableTarget(
      name: "tour", dependencies: ["TourKit", "TourJob", "TourJobDispatch", "TourChapters"],
      swiftSettings: language),

    .target(
      name: "TestSupport", dependencies: ["CLinux", "CFaults"], path: "Tests/TestSupport",
      swiftSettings: language),
    // Programs for what cannot be tested inside the test process.
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
    // What brings faults about: limits, refused system calls, signals, CPU masks; a wall clock to set.
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
    // Programs on the drop-in library, which is built by its script, in processes of their own.
    .testTarget(
      name: "DropInTests", dependencies: ["TestSupport"],
      exclude: ["Clients", "ClientPackage", "Embedding"],
      swiftSettings: language),
    // One source, compiled with either engine; DoorDispatchTests is a symbolic link to DoorTests.
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

// A sanitizer looks at the engine and the tests that run it in their own process; the rest would take most of the time
// to build (scripts/sanitize.sh).
if Context.environment["GRANDCENTRAL_SANITIZED"] != nil {
  let kept: Set = [
    "CLinux", "Primitives", "GrandCentralCore", "GrandCentral", "CFaults", "TestSupport",
    "ForkProbe", "LifetimeProbe", "MainQueueProbe", "PoolProbe",
    "GrandCentralTests", "GrandCentralCoreTests", "StressTests",
  ]
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { $0.name != "GrandCentral" }
}
