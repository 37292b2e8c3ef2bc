// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors, unsafe code says so, imports stay inside the file that needs them.
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

func target(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "Backline",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "backline", targets: ["backline"]),
        .library(name: "RoomClientGRDB", targets: ["RoomClientGRDB"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Pure: no I/O, no clock, no randomness.
        target("ByteText", []),
        target("GeoSearch", ["ByteText"]),
        target("RoomDomain", ["ByteText", "GeoSearch"]),
        target("RoomWire", ["ByteText", "GeoSearch", "RoomDomain"]),
        target("RoomReplica", ["GeoSearch", "RoomDomain", "RoomWire"]),
        target("Rehearsal", ["RoomWire"]),
        target("RoomClient", ["GeoSearch", "RoomDomain", "RoomReplica", "RoomWire"]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        target("WebSocketCodec", ["ByteText", "CZlib", nioCore]),
        target("EventStorage", ["ByteText", "GeoSearch"]),
        target("RoomLog", ["ByteText", "RoomDomain", "RoomWire", "EventStorage"]),
        target("RoomStatistics", ["EventStorage", "RoomDomain"]),
        .target(
            name: "SchemaFiles", path: "Schema",
            resources: [.embedInCode("postgres"), .embedInCode("sqlite")], swiftSettings: settings),

        // Storage.
        target("SystemErrors", []),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        target(
            "PostgresEventStore", ["ByteText", "EventStorage", "SchemaFiles", "SystemErrors", "CPostgres"]),
        target(
            "SQLiteEventStore",
            ["EventStorage", "SchemaFiles", "SystemErrors", .product(name: "GRDB", package: "GRDB.swift")]),
        target("RoomClientGRDB", ["RoomClient", .product(name: "GRDB", package: "GRDB.swift")]),

        // Shells.
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CMalloc"),
        target("TLSTransport", ["COpenSSL", "SystemErrors", nioCore]),
        // The plugin compiles the files of `Pages` into it.
        .target(
            name: "WebClient", dependencies: ["ByteText", "SystemErrors", "TLSTransport", "WebSocketCodec", nioCore],
            exclude: ["Pages"], swiftSettings: settings, plugins: ["EmbedFiles"]),
        .plugin(name: "EmbedFiles", capability: .buildTool(), dependencies: ["EmbedFilesTool"]),
        .executableTarget(name: "EmbedFilesTool", path: "Plugins/EmbedFilesTool", swiftSettings: settings),
        target(
            "RoomClientNIO",
            [
                "RoomClient", "TLSTransport", "WebSocketCodec", .product(name: "NIOHTTP1", package: "swift-nio"),
                nioCore, nioPosix,
            ]),
        // The commands of a terminal: watch, vote and others.
        target("TerminalClient", ["RoomClient", "RoomClientNIO", "SystemErrors", argumentParser]),
        target(
            "HTTPTransport",
            ["WebSocketCodec", .product(name: "NIOHTTP1", package: "swift-nio"), nioCore]),
        // Conversations with clients under test, for `backline rehearse`.
        target("RehearsalStage", ["Rehearsal", "SystemErrors", "WebSocketCodec", nioCore, nioPosix]),
        target(
            "RoomService",
            [
                "ByteText", "GeoSearch", "RoomDomain", "RoomLog", "RoomStatistics", "RoomWire", "EventStorage",
                coreMetrics, nioCore, logging,
            ]),
        target("LogMaintenance", ["RoomDomain", "RoomLog", "RoomStatistics", "RoomWire", "EventStorage"]),
        target("PrometheusMetrics", [coreMetrics]),
        target("LogOutput", [nioPosix]),
        target("IdentityTokens", ["ByteText", "RoomWire", .product(name: "JWTKit", package: "jwt-kit")]),
        // The plugin compiles Documentation/openapi.yaml into it.
        .target(
            name: "PushServer",
            dependencies: [
                "ByteText", "RoomDomain", "RoomService", "RoomStatistics", "RoomWire", "WebSocketCodec",
                "HTTPTransport",
                "TLSTransport",
                "PrometheusMetrics", "CMalloc", "IdentityTokens", "SystemErrors", "WebClient",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOHTTP1", package: "swift-nio"), nioCore, nioPosix, logging, coreMetrics,
                serviceLifecycle,
            ],
            swiftSettings: settings, plugins: ["EmbedDescription"]),
        .plugin(name: "EmbedDescription", capability: .buildTool(), dependencies: ["EmbedDescriptionTool"]),
        .executableTarget(
            name: "EmbedDescriptionTool", path: "Plugins/EmbedDescriptionTool", swiftSettings: settings),

        // The program.
        .executableTarget(
            name: "backline",
            dependencies: [
                "PushServer", "PrometheusMetrics", "IdentityTokens", "Rehearsal", "RehearsalStage", "RoomService",
                "RoomDomain", "RoomLog", "RoomStatistics", "RoomWire", "TLSTransport", "EventStorage", "LogMaintenance",
                "LogOutput",
                "SchemaFiles", "PostgresEventStore",
                "SQLiteEventStore", "SystemErrors", "TerminalClient", "WebClient",
                argumentParser, coreMetrics, logging, nioCore, nioPosix, serviceLifecycle, unixSignals,
            ],
            swiftSettings: settings),

        // Programs on the library, for those who write their own.
        .executableTarget(
            name: "NowPlaying", dependencies: ["RoomClient", "RoomClientNIO"], path: "Examples/NowPlaying",
            swiftSettings: settings),

        // What the conformance suite talks to, in both roles.
        target("EchoSupport", ["WebSocketCodec", nioCore], path: "Tests/EchoSupport"),
        .executableTarget(
            name: "EchoServer",
            dependencies: [
                "EchoSupport", "TLSTransport", "WebSocketCodec", argumentParser, nioCore, nioPosix, unixSignals,
            ],
            path: "Tests/EchoServer", swiftSettings: settings),
        .executableTarget(
            name: "EchoClient",
            dependencies: ["EchoSupport", "TLSTransport", "WebSocketCodec", argumentParser, nioCore, nioPosix],
            path: "Tests/EchoClient", swiftSettings: settings),

        // What loads the event log in Benchmarks/event_log.py and room_statistics.py.
        .executableTarget(
            name: "EventLogLoad",
            dependencies: [
                "EventStorage", "PostgresEventStore", "RoomDomain", "RoomLog", "RoomService", "RoomStatistics",
                "RoomWire", "SQLiteEventStore", argumentParser, coreMetrics, logging, nioCore, nioPosix,
            ],
            path: "Benchmarks/EventLogLoad", swiftSettings: settings),

        // What is measured and checked in Benchmarks/nearby.py.
        .executableTarget(
            name: "NearbyLoad",
            dependencies: ["CMalloc", "GeoSearch", "GeoTestSupport", "RandomTestSupport", argumentParser],
            path: "Benchmarks/NearbyLoad", swiftSettings: settings),

        // Tests. The first targets are what several test targets share.
        target("PostgresTestSupport", [], path: "Tests/PostgresTestSupport"),
        target("RandomTestSupport", [], path: "Tests/RandomTestSupport"),
        target(
            "EventStoreConformance", ["EventStorage", "RandomTestSupport"], path: "Tests/EventStoreConformance"),
        target(
            "RoomTestSupport", ["GeoSearch", "RandomTestSupport", "RoomDomain", "RoomWire"],
            path: "Tests/RoomTestSupport"),
        target("SimulatedTime", ["RandomTestSupport", nioCore], path: "Tests/SimulatedTime"),
        target("GeoTestSupport", ["GeoSearch", "RandomTestSupport"], path: "Tests/GeoTestSupport"),
        target(
            "LogTestSupport",
            [
                "EventStorage", "GeoSearch", "RandomTestSupport", "RoomDomain", "RoomLog", "RoomTestSupport",
                "RoomWire",
            ],
            path: "Tests/LogTestSupport"),
        .executableTarget(
            name: "LogFiller", dependencies: ["LogTestSupport", "SQLiteEventStore", argumentParser],
            path: "Tests/LogFiller", swiftSettings: settings),
        tests("ArchitectureTests", []),
        tests(
            "RoomStatisticsTests",
            [
                "EventStorage", "RandomTestSupport", "RoomDomain", "RoomLog", "RoomStatistics", "RoomTestSupport",
                "RoomWire",
            ]),
        tests("ByteTextTests", ["ByteText", "RandomTestSupport"]),
        tests("LogOutputTests", ["LogOutput"]),
        tests("EmbedDescriptionToolTests", ["EmbedDescriptionTool"]),
        tests("EventStorageTests", ["EventStorage", "EventStoreConformance"]),
        tests(
            "LogMaintenanceTests",
            [
                "EventStorage", "LogMaintenance", "LogTestSupport", "PostgresEventStore", "PostgresTestSupport",
                "RandomTestSupport", "RoomDomain", "RoomLog", "RoomTestSupport", "RoomWire", "SQLiteEventStore",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests(
            "PostgresEventStoreTests",
            [
                "EventStorage", "EventStoreConformance", "PostgresEventStore", "PostgresTestSupport",
                "RandomTestSupport", "SchemaFiles",
            ]),
        target(
            "FuzzProperties",
            [
                "ByteText", "HTTPTransport", "RandomTestSupport", "RoomDomain", "RoomWire", "WebSocketCodec", nioCore,
                nioEmbedded,
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Tests/FuzzProperties"),
        tests("FuzzReplayTests", ["FuzzProperties", "RandomTestSupport"]),
        tests("GeoSearchTests", ["GeoSearch", "GeoTestSupport", "RandomTestSupport"]),
        tests(
            "HTTPTransportTests",
            [
                "HTTPTransport", nioCore, nioEmbedded, .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        tests("IdentityTokensTests", ["IdentityTokens"]),
        tests("PrometheusMetricsTests", ["PrometheusMetrics", coreMetrics]),
        tests(
            "PushServerTests",
            [
                "EventStorage", "HTTPTransport", "IdentityTokens", "PrometheusMetrics", "PushServer",
                "RandomTestSupport", "RoomDomain", "RoomService", "RoomWire", "SimulatedTime", "TLSTransport",
                "WebClient",
                "WebSocketCodec",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOHTTP1", package: "swift-nio"), coreMetrics, logging, nioCore, nioEmbedded, nioPosix,
            ]),
        tests("RoomDomainTests", ["GeoSearch", "RandomTestSupport", "RoomDomain", "RoomTestSupport"]),
        tests(
            "RoomServiceTests",
            [
                "EventStorage", "GeoSearch", "PrometheusMetrics", "RandomTestSupport", "RoomDomain", "RoomLog",
                "RoomService", "RoomTestSupport", "RoomWire", "SimulatedTime", nioCore, nioPosix, logging,
            ]),
        tests(
            "RoomLogTests",
            ["EventStorage", "GeoSearch", "RandomTestSupport", "RoomDomain", "RoomLog", "RoomTestSupport", "RoomWire"]),
        .testTarget(
            name: "RoomWireTests",
            dependencies: ["GeoSearch", "RandomTestSupport", "RoomDomain", "RoomTestSupport", "RoomWire"],
            exclude: ["Fixtures"], swiftSettings: settings),
        target(
            "ClientStoreConformance", ["RandomTestSupport", "RoomClient"], path: "Tests/ClientStoreConformance"),
        tests(
            "RoomClientGRDBTests",
            [
                "ClientStoreConformance", "RandomTestSupport", "RoomClient", "RoomClientGRDB",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests(
            "RoomReplicaTests",
            ["GeoSearch", "RandomTestSupport", "RoomDomain", "RoomReplica", "RoomTestSupport", "RoomWire"]),
        target(
            "RehearsalTestSupport", ["RoomDomain", "RoomReplica", "RoomWire"], path: "Tests/RehearsalTestSupport"),
        tests(
            "RehearsalTests",
            ["GeoSearch", "Rehearsal", "RehearsalTestSupport", "RoomDomain", "RoomReplica", "RoomWire"]),
        // RoomClient as a program for `backline rehearse`.
        .executableTarget(
            name: "RehearsedClient",
            dependencies: ["RehearsalTestSupport", "RoomClient", "RoomClientNIO", "RoomReplica", "RoomWire"],
            path: "Tests/Conversations/RehearsedClient", swiftSettings: settings),
        tests("RoomClientTests", ["RoomClient", "RoomDomain", "RoomReplica", "RoomWire"]),
        tests(
            "RoomClientNIOTests",
            ["RoomClient", "RoomClientNIO", "TLSTransport", "WebSocketCodec", nioCore, nioEmbedded, nioPosix]),
        target(
            "RoomSimulation",
            [
                "EventStorage", "LogMaintenance", "RandomTestSupport", "RoomDomain", "RoomLog", "RoomReplica",
                "RoomService", "RoomStatistics", "RoomTestSupport", "RoomWire", "SimulatedTime", nioCore, logging,
            ],
            path: "Tests/RoomSimulation"),
        .executableTarget(
            name: "Simulate", dependencies: ["RoomSimulation", "RoomTestSupport", argumentParser],
            path: "Tests/Simulate", swiftSettings: settings),
        tests("SchemaFilesTests", ["SchemaFiles"]),
        tests("SimulationTests", ["RandomTestSupport", "Simulate", "SimulatedTime", nioCore]),
        tests(
            "SQLiteEventStoreTests",
            [
                "EventStorage", "EventStoreConformance", "RandomTestSupport", "SchemaFiles", "SQLiteEventStore",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests("TerminalClientTests", ["RoomClient", "TerminalClient"]),
        tests(
            "TLSTransportTests", ["RandomTestSupport", "SystemErrors", "TLSTransport", nioCore, nioPosix, nioEmbedded]),
        tests("WebClientTests", ["SystemErrors", "WebClient", nioCore]),
        tests("WebSocketCodecTests", ["RandomTestSupport", "WebSocketCodec", nioCore]),
    ]
)

// Links with libFuzzer only: Scripts/fuzz builds it.
if Context.environment["FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzzing", dependencies: ["FuzzProperties"], path: "Tests/Fuzzing", swiftSettings: settings))
}

// Keeps these test targets and what they need, for bugs that tests find: Scripts/simulate.
if let names = Context.environment["ONLY"] {
    var kept: Set<String> = []
    var needed = names.split(separator: " ").map { String($0) }
    while let name = needed.popLast() {
        guard let target = package.targets.first(where: { $0.name == name }), kept.insert(name).inserted else {
            continue
        }
        for case .byNameItem(let name, _) in target.dependencies { needed.append(name) }
        for case .plugin(let name, _) in target.plugins ?? [] { needed.append(name) }
    }
    package.products = []
    package.targets.removeAll { !kept.contains($0.name) }
}

// Keeps the pure targets, what their tests share, and their tests, for a quick loop: Scripts/check.
if Context.environment["PURE"] != nil {
    let pure: Set = [
        "ByteText", "GeoSearch", "RoomDomain", "RoomWire", "RoomReplica", "Rehearsal", "CZlib", "WebSocketCodec",
        "EventStorage",
        "RoomLog", "SchemaFiles",
    ]
    let shared: Set = [
        "EventStoreConformance", "GeoTestSupport", "RandomTestSupport", "RehearsalTestSupport", "RoomTestSupport",
    ]
    let tests = Set(pure.map { "\($0)Tests" }).union(["ArchitectureTests"])
    let kept = pure.union(shared).union(tests)
    package.products = []
    package.targets.removeAll { !kept.contains($0.name) }
    // Their tests try much at random, which takes long without optimization.
    for target in package.targets where target.type == .regular || target.type == .test {
        target.swiftSettings?.append(.unsafeFlags(["-O"]))
    }
}
