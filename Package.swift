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
        .library(name: "Ordering", targets: ["Ordering"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-service-context", exact: "1.5.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CPlatform"),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // Linked statically, so that all servers of a release have one version on all systems.
        .target(
            name: "CICU",
            linkerSettings: [":libicui18n.a", ":libicuuc.a", ":libicudata.a", "stdc++"].map { .linkedLibrary($0) }
        ),
        .target(name: "Collation", dependencies: ["CICU"], swiftSettings: strict),
        .target(name: "Platform", dependencies: ["CExpat", "CPlatform", "CZlib"], swiftSettings: strict),
        .target(name: "WebClient", dependencies: ["CCurl", "Platform"], swiftSettings: strict),
        .target(
            name: "Telemetry",
            dependencies: [
                "Platform", "WebClient",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceContextModule", package: "swift-service-context"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "LibPQ",
            dependencies: [
                "CLibPQ", "Platform",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        .target(name: "LocalPostgres", dependencies: ["LibPQ", "Platform"], swiftSettings: strict),
        .target(name: "Ordering", swiftSettings: strict),
        .target(name: "AisleDiff", dependencies: ["Ordering"], swiftSettings: strict),
        .target(name: "JSON", swiftSettings: strict),
        .target(name: "Catalog", dependencies: ["AisleDiff", "JSON", "Ordering"], swiftSettings: strict),
        .target(name: "Shelves", dependencies: ["Catalog"], swiftSettings: strict),
        .target(
            name: "CatalogImport",
            dependencies: ["Catalog", "JSON", "Platform"],
            swiftSettings: strict
        ),
        .target(
            name: "CatalogJSON",
            dependencies: ["AisleDiff", "Catalog", "CatalogImport", "JSON"],
            swiftSettings: strict
        ),
        .target(name: "Live", dependencies: ["Catalog", "CatalogJSON"], swiftSettings: strict),
        .plugin(name: "EmbedMigrations", capability: .buildTool(), path: "sql/EmbedMigrations"),
        .executableTarget(name: "ListStatements", path: "sql/ListStatements"),
        .plugin(
            name: "NameStatements",
            capability: .buildTool(),
            dependencies: ["ListStatements"],
            path: "sql/NameStatements"
        ),
        .target(
            name: "Schema",
            path: "sql",
            exclude: ["EmbedMigrations", "ListStatements", "NameStatements", "citus", "migrations"],
            swiftSettings: strict,
            plugins: ["EmbedMigrations"]
        ),
        .target(
            name: "SeedData",
            path: "seed-data",
            resources: [.embedInCode("products.csv"), .embedInCode("price-changes.csv")],
            swiftSettings: strict
        ),
        .target(
            name: "Guides",
            path: "docs",
            exclude: [
                "ARCHITECTURE.md", "README.md", "api.md", "cli", "configuration.md", "decisions", "examples",
                "images/page-request.svg",
                "images/resort.gif", "images/shop.png", "install.md", "operations", "performance.md", "upgrading.md",
            ],
            resources: [
                .embedInCode("concepts.md"), .embedInCode("errors.md"), .embedInCode("faq.md"), .embedInCode("guides"),
                .embedInCode("images/diff.svg"), .embedInCode("images/sync.svg"), .embedInCode("images/system.svg"),
                .embedInCode("quickstart.md"), .embedInCode("tutorials"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CatalogPostgres",
            dependencies: [
                "Catalog", "CatalogImport", "Collation", "JSON", "LibPQ", "Ordering", "Platform", "Schema", "Shelves",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict,
            // libFuzzer has no main function for the tool of the plugin.
            plugins: Context.environment["AISLE_FUZZ"] == nil ? ["NameStatements"] : []
        ),
        .target(
            name: "Site",
            dependencies: ["Catalog", "Guides", "JSON"],
            resources: [.embedInCode("Pictures"), .embedInCode("Web")],
            swiftSettings: strict
        ),
        .target(
            name: "CatalogHTTP",
            dependencies: [
                "AisleDiff", "Catalog", "CatalogImport", "CatalogJSON", "JSON", "Live", "Platform", "Site",
                "Telemetry",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            resources: [.embedInCode("openapi.json")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "aisle",
            dependencies: [
                "AisleDiff", "Catalog", "CatalogHTTP", "CatalogImport", "CatalogJSON", "CatalogPostgres", "JSON",
                "LibPQ", "Live", "LocalPostgres", "Platform", "Schema", "SeedData", "Site", "Telemetry", "WebClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "DiffExample",
            dependencies: ["AisleDiff"],
            path: "docs/examples/diff",
            exclude: ["session.txt"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "OrderingExample",
            dependencies: ["Ordering"],
            path: "docs/examples/ordering",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "DiffBench",
            dependencies: [
                "AisleDiff", "Ordering",
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            path: "Tests/Bench/Diff",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "PageLoad",
            dependencies: [
                "Ordering",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Bench/Load",
            swiftSettings: strict
        ),
        .target(
            name: "InMemoryCatalog",
            dependencies: ["Catalog", "CatalogJSON", "Ordering", "Shelves"],
            path: "Tests/InMemoryCatalog",
            swiftSettings: strict
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "Catalog", "CatalogJSON", "CatalogPostgres", "Collation", "JSON", "LibPQ", "Live", "LocalPostgres",
                "Ordering", "Platform", "Schema",
            ],
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
            dependencies: ["AisleDiff", "Ordering", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogTests",
            dependencies: ["Catalog", "CatalogJSON", "JSON", "Ordering", "TestSupport"],
            resources: [.copy("Cases")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CollationTests",
            dependencies: ["Collation", "Ordering"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ShelvesTests",
            dependencies: ["Catalog", "Collation", "Ordering", "Shelves", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogJSONTests",
            dependencies: ["Catalog", "CatalogImport", "CatalogJSON", "JSON", "Ordering", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LiveTests",
            dependencies: ["AisleDiff", "Catalog", "CatalogJSON", "InMemoryCatalog", "JSON", "Live", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogImportTests",
            dependencies: ["Catalog", "CatalogImport", "CatalogJSON", "Platform", "TestSupport"],
            resources: [.copy("Cases")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TelemetryTests",
            dependencies: [
                "Platform", "Telemetry", "TestSupport", "WebClient",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LibPQTests",
            dependencies: ["LibPQ", "Ordering"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogHTTPTests",
            dependencies: [
                "Catalog", "CatalogHTTP", "CatalogJSON", "InMemoryCatalog", "JSON", "Live", "Ordering", "Platform",
                "Site", "Telemetry", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LibPQIntegrationTests",
            dependencies: ["LibPQ", "LocalPostgres", "Platform", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogPostgresIntegrationTests",
            dependencies: [
                "AisleDiff", "Catalog", "CatalogImport", "CatalogJSON", "CatalogPostgres", "Collation",
                "InMemoryCatalog", "JSON", "LibPQ", "Ordering", "Platform", "Schema", "Shelves", "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogHTTPIntegrationTests",
            dependencies: [
                "AisleDiff", "Catalog", "CatalogHTTP", "CatalogJSON", "CatalogPostgres", "InMemoryCatalog", "JSON",
                "LibPQ", "Live", "Platform", "TestSupport", "WebClient",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.copy("Cases")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "RealCatalogTests",
            dependencies: [
                "Catalog", "CatalogImport", "CatalogJSON", "CatalogPostgres", "LibPQ", "Ordering", "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AisleTests",
            dependencies: [
                "aisle", "Catalog", "CatalogHTTP", "CatalogImport", "CatalogJSON", "CatalogPostgres", "JSON", "LibPQ",
                "Live", "LocalPostgres", "Platform", "Telemetry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AisleIntegrationTests",
            dependencies: [
                "aisle", "AisleDiff", "Catalog", "CatalogHTTP", "CatalogJSON", "CatalogPostgres", "JSON", "LibPQ",
                "Live", "LocalPostgres", "Ordering", "Platform", "Schema", "Telemetry", "TestSupport", "WebClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
    ]
)

// `make fuzz` builds everything for libFuzzer, which brings its own main function.
if Context.environment["AISLE_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "AisleDiff", "Catalog", "CatalogHTTP", "CatalogImport", "CatalogJSON", "JSON", "Ordering", "Platform",
                "Shelves",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests/Fuzz",
            exclude: ["corpora"],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    )
}
