// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "aisle",
    products: [
        .executable(name: "aisle", targets: ["aisle"]),
        .library(name: "AisleDiff", targets: ["AisleDiff"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "Postgres",
            dependencies: [
                "CLibPQ",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        .target(name: "Ordering", swiftSettings: strict),
        .target(name: "AisleDiff", dependencies: ["Ordering"], swiftSettings: strict),
        .target(name: "Catalog", dependencies: ["AisleDiff", "Ordering"], swiftSettings: strict),
        .target(
            name: "Schema",
            path: "sql",
            exclude: ["distribute.sql", "distribute_users.sql", "distribute_purchases.sql", "distribute_lists.sql"],
            resources: [.embedInCode("migrations")],
            swiftSettings: strict
        ),
        .target(
            name: "SeedData",
            path: "seed-data",
            resources: [.embedInCode("products.csv"), .embedInCode("price-changes.csv")],
            swiftSettings: strict
        ),
        .target(
            name: "CatalogPostgres",
            dependencies: [
                "Catalog", "Ordering", "Postgres", "Schema",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CatalogHTTP",
            dependencies: [
                "AisleDiff", "Catalog",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ],
            resources: [.embedInCode("openapi.json"), .embedInCode("Web")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "aisle",
            dependencies: [
                "AisleDiff", "Catalog", "CatalogHTTP", "CatalogPostgres", "Postgres", "Schema", "SeedData",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "DiffBench",
            dependencies: [
                "AisleDiff", "Ordering", .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            path: "Tests/Bench/Diff",
            swiftSettings: strict
        ),
        .target(
            name: "CICU",
            path: "Tests/CICU",
            linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]
        ),
        .target(
            name: "TestSupport",
            dependencies: ["CICU", "Catalog", "CatalogPostgres", "Ordering", "Postgres"],
            path: "Tests/Support",
            swiftSettings: strict
        ),
        .testTarget(
            name: "OrderingTests",
            dependencies: ["Ordering", "TestSupport"],
            resources: [.copy("Cases")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AisleDiffTests",
            dependencies: ["AisleDiff", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogTests",
            dependencies: ["Catalog", "TestSupport"],
            resources: [.copy("Cases")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["Postgres", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogPostgresTests",
            dependencies: ["AisleDiff", "Catalog", "CatalogPostgres", "Postgres", "Schema", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogHTTPTests",
            dependencies: [
                "AisleDiff", "Catalog", "CatalogHTTP", "CatalogPostgres", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "RealCatalogTests",
            dependencies: ["Catalog", "CatalogPostgres", "Ordering", "Postgres", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AisleTests",
            dependencies: [
                "aisle", "AisleDiff", "Catalog", "CatalogHTTP", "Postgres", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
    ]
)
