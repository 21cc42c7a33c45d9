// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that only mutation tests build the Swift parser.
let package = Package(
    name: "mutate",
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", exact: "603.0.1")],
    targets: [
        .executableTarget(
            name: "mutate",
            dependencies: [
                .product(name: "SwiftOperators", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ]
)
