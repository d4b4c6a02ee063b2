// swift-tools-version: 6.3
import PackageDescription

// The product and its tests. The packages in Verification, Comparison and Benchmarks hold the rest
// (ARCHITECTURE.md, "Packages").
//
// The engine's modules need no language feature beyond Swift 6 and no unsafe flags, so any package
// can depend on this one. Warnings are errors in this package's own builds only (scripts/dev tidy
// passes the flag): in the manifest, the flag would break users with newer compilers.
let language: [SwiftSetting] = [.swiftLanguageMode(.v6)]

// The README of a folder of the engine is not part of the module.
let readmes = [
  "BlackBox", "Coordination", "Data", "Faults", "IO", "Lanes", "Lifecycle", "Platform", "Pool",
  "Priority",
  "QoS", "Queues", "Reactor", "Sources", "ThreadPolicy", "Time", "Work",
].map { "\($0)/README.md" }

// Latches, threads, child processes, and C code that causes faults, without the engine. Only tests
// use this package, so a dependant neither loads nor builds it.
let testSupport: Target.Dependency = .product(name: "TestSupport", package: "Support")
let faults: Target.Dependency = .product(name: "CFaults", package: "Support")
let clock: Target.Dependency = .product(name: "CClock", package: "Support")

// The page that `grandcentral timeline` writes, which the C file beside it embeds.
let pageFiles =
  ["page.html", "page.css"]
  + ["arrows", "data", "draw", "input", "lanes", "panel"].map { "\($0).js" }

// A program has one name space for modules, so each module that a dependant builds carries the
// project's name. The folders do not repeat it.
let package = Package(
  name: "GrandCentral",
  products: [
    .library(name: "GrandCentral", targets: ["GrandCentral"]),
    .library(name: "GrandCentralDropIn", targets: ["GrandCentralDropIn"]),
    .library(name: "GrandCentralDispatchBridge", targets: ["GrandCentralDispatchBridge"]),
    .library(name: "GrandCentralFoundation", targets: ["GrandCentralFoundation"]),
    .executable(name: "grandcentral", targets: ["grandcentral"]),
  ],
  traits: [
    .trait(
      name: "ExecutorFactory",
      description: "Queues as the executors of programs with an async main function. Uses SPI.")
  ],
  dependencies: [.package(path: "Tests/Support")],
  targets: [
    // The engine's only C: system calls that the Glibc overlay cannot express, and thread-locals.
    .target(name: "CGrandCentralLinux", path: "Sources/CLinux"),
    // The C headers. The name CDispatch belongs to a module of the toolchain, which Foundation
    // imports.
    .target(name: "CGrandCentralDispatch", path: "Sources/CDispatch"),
    // The data symbols of the drop-in libdispatch.so, with the names and sizes that programs
    // expect.
    .target(
      name: "CGrandCentralStorage", path: "Sources/CDispatchStorage",
      linkerSettings: [.linkedLibrary("BlocksRuntime")]),
    // Atomics, parking, thread identity and the clock.
    .target(
      name: "GrandCentralPrimitives", dependencies: ["CGrandCentralLinux"],
      path: "Sources/Primitives", exclude: ["README.md"], swiftSettings: language),
    // The engine and its Swift classes.
    .target(
      name: "GrandCentralCore", dependencies: ["CGrandCentralLinux", "GrandCentralPrimitives"],
      exclude: readmes, swiftSettings: language),
    // Makes a whole program run on this engine, including Foundation and Concurrency.
    .target(
      name: "GrandCentralDropIn", dependencies: ["GrandCentralExports"], swiftSettings: language,
      linkerSettings: [.linkedLibrary("dispatch"), .linkedLibrary("BlocksRuntime")]),
    // Reads a board and explains what hangs: that of another process for the command, and a
    // program's own for the programs that ask.
    .target(
      name: "GrandCentralBoard", dependencies: ["CGrandCentralLinux", "GrandCentralCore"],
      path: "Sources/Board", exclude: ["README.md"], swiftSettings: language),
    // The functions of the C API, for the drop-in libdispatch.so (scripts/dev dropin). A program
    // that links this target exports the API itself.
    .target(
      name: "GrandCentralExports",
      dependencies: [
        "CGrandCentralStorage", "CGrandCentralLinux", "GrandCentralBoard", "GrandCentralCore",
      ],
      path: "Sources/CDispatchExports", swiftSettings: language),
    // The module that users import.
    .target(
      name: "GrandCentral", dependencies: ["GrandCentralBoard", "GrandCentralCore"],
      swiftSettings: language, linkerSettings: [.linkedLibrary("BlocksRuntime")]),
    // Queues and data of Dispatch on queues and data of this engine, and the other way. A product
    // of its own, because it links the toolchain's Dispatch.
    .target(
      name: "GrandCentralDispatchBridge",
      dependencies: ["CGrandCentralLinux", "GrandCentral", "GrandCentralCore"],
      path: "Sources/DispatchBridge", swiftSettings: language),
    // DispatchData as Foundation's DataProtocol. A product of its own, because it imports
    // Foundation.
    .target(
      name: "GrandCentralFoundation", dependencies: ["GrandCentral"],
      path: "Sources/FoundationData", swiftSettings: language),

    // Finds the board of another process, and records what it does.
    .target(
      name: "GrandCentralInside",
      dependencies: [
        "CGrandCentralLinux", "CGrandCentralTimelinePage", "GrandCentralBoard", "GrandCentralCore",
        "GrandCentralPrimitives",
      ],
      path: "Sources/Inside", swiftSettings: language),
    .target(
      name: "CGrandCentralTimelinePage", path: "Sources/CTimelinePage", exclude: pageFiles),
    // The command.
    .executableTarget(
      name: "grandcentral",
      dependencies: ["GrandCentralCore", "GrandCentralInside", "GrandCentralPrimitives"],
      path: "Sources/Command", swiftSettings: language),

    // Programs for behaviour that cannot be tested inside the test process.
    .executableTarget(
      name: "MainQueueProbe", dependencies: ["GrandCentral", "GrandCentralCore", testSupport],
      path: "Tests/Probes/MainQueueProbe", swiftSettings: language),
    .executableTarget(
      name: "ConcurrencyProbe", dependencies: ["GrandCentral", testSupport],
      path: "Tests/Probes/ConcurrencyProbe", swiftSettings: language),
    // An async main function takes over Concurrency, which it must not.
    .executableTarget(
      name: "AsyncMainProbe", dependencies: ["GrandCentral"],
      path: "Tests/Probes/AsyncMainProbe", swiftSettings: language),
    // Queues, sources and channels in tasks: whole programs, and what needs a process to measure.
    .executableTarget(
      name: "TaskProbe", dependencies: ["GrandCentral", faults, testSupport],
      path: "Tests/Probes/TaskProbe", swiftSettings: language),
    .executableTarget(
      name: "PoolProbe", dependencies: ["GrandCentral", faults, testSupport],
      path: "Tests/Probes/PoolProbe", swiftSettings: language),
    // Walks one path of the engine, for scripts/dev paths.
    .executableTarget(
      name: "PathProbe", dependencies: ["GrandCentral"],
      path: "Tests/Probes/PathProbe", swiftSettings: language),
    .executableTarget(
      name: "LifetimeProbe", dependencies: ["GrandCentral", testSupport],
      path: "Tests/Probes/LifetimeProbe", swiftSettings: language),
    .executableTarget(
      name: "ForkProbe",
      dependencies: [
        "GrandCentral", "GrandCentralCore", "CGrandCentralLinux", "GrandCentralPrimitives", faults,
        testSupport,
      ],
      path: "Tests/Probes/ForkProbe", swiftSettings: language),
    .executableTarget(
      name: "FaultProbe", dependencies: ["GrandCentral", "GrandCentralCore", faults, testSupport],
      path: "Tests/Probes/FaultProbe", swiftSettings: language),
    // Programs that hang, for the command to explain.
    .executableTarget(
      name: "HangProbe", dependencies: ["GrandCentral", faults],
      path: "Tests/Probes/HangProbe", swiftSettings: language),
    // Programs to record.
    .executableTarget(
      name: "RecordProbe",
      dependencies: ["GrandCentral", "GrandCentralCore", "GrandCentralInside"],
      path: "Tests/Probes/RecordProbe", swiftSettings: language),
    .executableTarget(
      name: "ClockProbe", dependencies: ["GrandCentral", clock, testSupport],
      path: "Tests/Probes/ClockProbe", swiftSettings: language),

    .testTarget(
      name: "GrandCentralTests",
      dependencies: [
        "GrandCentral", "AsyncMainProbe", "ConcurrencyProbe", "ForkProbe", "LifetimeProbe",
        "MainQueueProbe", "PoolProbe", "TaskProbe", faults, testSupport,
      ],
      swiftSettings: language),
    .testTarget(
      name: "GrandCentralCoreTests",
      dependencies: [
        "GrandCentralCore", "GrandCentral", "CGrandCentralLinux", "GrandCentralPrimitives", faults,
        testSupport,
      ],
      swiftSettings: language),
    .testTarget(
      name: "PrimitivesTests",
      dependencies: ["GrandCentralPrimitives", "CGrandCentralLinux", testSupport],
      swiftSettings: language),
    .testTarget(
      name: "StressTests",
      dependencies: [
        "GrandCentral", "GrandCentralCore", "GrandCentralPrimitives", faults, testSupport,
      ],
      swiftSettings: language),
    .testTarget(
      name: "FaultTests", dependencies: ["FaultProbe", "ClockProbe", testSupport],
      swiftSettings: language),
    // Runs the command on programs that hang.
    .testTarget(
      name: "InsideTests",
      dependencies: [
        "CGrandCentralLinux", "GrandCentralInside", "GrandCentralCore", "grandcentral", "HangProbe",
        "RecordProbe", testSupport,
      ],
      exclude: ["Recordings"],
      swiftSettings: language),
    .testTarget(
      name: "ParityTests", dependencies: ["GrandCentral", testSupport],
      exclude: ["Lists", "Programs"],
      swiftSettings: language),
    .testTarget(
      name: "DispatchBridgeTests",
      dependencies: ["GrandCentral", "GrandCentralDispatchBridge", testSupport],
      swiftSettings: language),
    // Tests programs on the drop-in library, which its script builds, in separate processes.
    .testTarget(
      name: "DropInTests", dependencies: ["grandcentral", testSupport],
      exclude: ["Clients", "ClientPackage", "Embedding"],
      swiftSettings: language),
  ]
)
