// swift-tools-version: 6.2
import PackageDescription

// One folder of workloads, compiled twice: WorkloadsDispatch is a symbolic link to
// WorkloadsGrandCentral, and only the defines differ. `bench` links both and imports neither
// engine.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6)]

/// The workloads on descriptors need makeReadSource and makeWriteSource. Add the define here when
/// Grand Central has them.
let ours: [SwiftSetting] = [.define("GRAND_CENTRAL"), .define("DESCRIPTOR_SOURCES")]
let toolchains: [SwiftSetting] = [.define("DESCRIPTOR_SOURCES")]

// libuv stands beside both where the job is the same. scripts/bench.sh asks for it where it is
// installed. By the environment, and not by a look at the file system: manifests are cached, by
// what is in the environment too.
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
    // What glibc's Swift overlay cannot express: allocator totals, a compiler barrier.
    .target(name: "CMetrics"),
    // The plumbing that all sides share: workload type, clocks, threads, sockets, statistics.
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
