// swift-tools-version: 6.3
import PackageDescription

// One folder of workloads, compiled twice: WorkloadsDispatch is a symbolic link to
// WorkloadsGrandCentral; only the defines differ. `bench` links both and imports neither engine.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6)]

/// DESCRIPTOR_SOURCES enables the workloads that need makeReadSource and makeWriteSource.
let ours: [SwiftSetting] = [.define("GRAND_CENTRAL"), .define("DESCRIPTOR_SOURCES")]
let toolchains: [SwiftSetting] = [.define("DESCRIPTOR_SOURCES")]

// The third engine, where it can do the same job. scripts/dev bench sets the variable where libuv
// is installed. A look at the file system would not do: manifests are cached, and of the two only
// the environment is part of the cache's key.
let hasLibuv = Context.environment["BENCHMARKS_LIBUV"] == "1"
let libuvTargets: [Target] = [
  .target(name: "CLibuv", linkerSettings: [.linkedLibrary("uv")]),
  .target(name: "WorkloadsLibuv", dependencies: ["CLibuv", "Metrics"], swiftSettings: settings),
]

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "GrandCentral", path: "..")
  ],
  targets: [
    // What the Glibc overlay cannot express: allocator totals and a compiler barrier.
    .target(name: "CMetrics"),
    // Shared by all engines: the workload type, clocks, threads, sockets and statistics.
    .target(name: "Metrics", dependencies: ["CMetrics"], swiftSettings: settings),
    .target(
      name: "WorkloadsGrandCentral",
      dependencies: ["Metrics", .product(name: "GrandCentral", package: "GrandCentral")],
      swiftSettings: settings + ours),
    .target(
      name: "WorkloadsDispatch", dependencies: ["Metrics"], swiftSettings: settings + toolchains),
    .executableTarget(
      name: "bench",
      dependencies: ["Metrics", "WorkloadsGrandCentral", "WorkloadsDispatch"]
        + (hasLibuv ? ["WorkloadsLibuv"] : []),
      swiftSettings: settings + (hasLibuv ? [.define("LIBUV")] : [])),
  ] + (hasLibuv ? libuvTargets : [])
)
