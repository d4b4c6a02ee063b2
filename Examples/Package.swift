// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Examples",
  products: [
    .executable(name: "http", targets: ["http"]), .executable(name: "tour", targets: ["tour"]),
  ],
  // A program outside this repository names the repository's folder, or its address and a version.
  dependencies: [.package(name: "grandcentral", path: "..")],
  targets: [
    .executableTarget(
      name: "tour",
      dependencies: [
        .product(name: "GrandCentral", package: "grandcentral"),
        // The command, which the tour runs. It is built beside the tour, not linked.
        .product(name: "grandcentral", package: "grandcentral"),
      ]),
    .executableTarget(
      name: "http", dependencies: [.product(name: "GrandCentral", package: "grandcentral")]),
    .testTarget(name: "HTTPTests", dependencies: ["http"]),
    .testTarget(name: "TourTests", dependencies: ["tour"]),
  ],
  swiftLanguageModes: [.v6]
)
