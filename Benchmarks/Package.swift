// swift-tools-version: 6.2
import PackageDescription

// One folder of workloads, compiled twice: WorkloadsDispatch is a symbolic link to
// WorkloadsGrandCentral, and only the define differs. `bench` links both and imports neither engine.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6)]

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "GrandCentral", path: "..")
  ],
  targets: [
    // What glibc's Swift overlay cannot express: allocator totals, a compiler barrier.
    .target(name: "CMetrics"),
    // The plumbing both sides share: workload type, clocks, threads, statistics.
    .target(name: "Metrics", dependencies: ["CMetrics"], swiftSettings: settings),
    .target(
      name: "WorkloadsGrandCentral",
      dependencies: ["Metrics", .product(name: "GrandCentral", package: "GrandCentral")],
      swiftSettings: settings + [.define("GRAND_CENTRAL")]),
    .target(name: "WorkloadsDispatch", dependencies: ["Metrics"], swiftSettings: settings),
    .executableTarget(
      name: "bench", dependencies: ["Metrics", "WorkloadsGrandCentral", "WorkloadsDispatch"],
      swiftSettings: settings),
  ]
)
