// swift-tools-version: 6.3
import PackageDescription

// Programs of a page or two: README.md describes each.
let short = ["cache", "follow", "hash", "serve", "supervise", "thumbnails"]
let engine: Target.Dependency = .product(name: "GrandCentral", package: "grandcentral")

let package = Package(
  name: "Examples",
  products: (short + ["embed", "http", "tour"]).map { .executable(name: $0, targets: [$0]) },
  // A program outside this repository names the repository's folder, or its address and a version.
  dependencies: [.package(name: "grandcentral", path: "..")],
  targets: short.map { .executableTarget(name: $0, dependencies: [engine]) } + [
    .executableTarget(
      name: "embed",
      dependencies: [
        engine,
        .product(name: "GrandCentralDispatchBridge", package: "grandcentral"),
        .product(name: "GrandCentralDropIn", package: "grandcentral"),
      ]),
    .executableTarget(
      name: "tour",
      dependencies: [
        engine,
        // The command, which the tour runs. It is built beside the tour, not linked.
        .product(name: "grandcentral", package: "grandcentral"),
      ],
      // Its tests see its inner declarations in optimised code too.
      swiftSettings: [.unsafeFlags(["-enable-testing"])]),
    .executableTarget(name: "http", dependencies: [engine]),
    // Runs each program in a process of its own. It does not depend on `embed`, which is built with
    // the package: a test target is linked with what it depends on, so all tests would run on the
    // engine that the program embeds.
    .testTarget(name: "ExampleTests", dependencies: short.map { .init(stringLiteral: $0) }),
    .testTarget(name: "HTTPTests", dependencies: ["http"]),
    .testTarget(name: "TourTests", dependencies: ["tour"]),
  ],
  swiftLanguageModes: [.v6]
)
