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

/// A product of another package, for targets that need one of these traits.
///
/// Every product has traits: an app that depends on this package without them fetches no other package.
func product(_ name: String, _ package: String, for traits: Set<String>) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: traits))
}

let nioCore = product("NIOCore", "swift-nio", for: ["Server", "NIOClient"])
let nioPosix = product("NIOPosix", "swift-nio", for: ["Server", "NIOClient"])
let nioHTTP1 = product("NIOHTTP1", "swift-nio", for: ["Server", "NIOClient"])
let nioEmbedded = product("NIOEmbedded", "swift-nio", for: ["Server"])
let grdb = product("GRDB", "GRDB.swift", for: ["Server", "Persistence"])
let grdbSQLite = product("GRDBSQLite", "GRDB.swift", for: ["Server"])
let logging = product("Logging", "swift-log", for: ["Server"])
let inMemoryLogging = product("InMemoryLogging", "swift-log", for: ["Server"])
let coreMetrics = product("CoreMetrics", "swift-metrics", for: ["Server"])
let argumentParser = product("ArgumentParser", "swift-argument-parser", for: ["Server"])
let unixSignals = product("UnixSignals", "swift-service-lifecycle", for: ["Server"])
let serviceLifecycle = product("ServiceLifecycle", "swift-service-lifecycle", for: ["Server"])
let hummingbird = product("Hummingbird", "hummingbird", for: ["Server"])
let hummingbirdCore = product("HummingbirdCore", "hummingbird", for: ["Server"])
let httpTypes = product("HTTPTypes", "swift-http-types", for: ["Server"])

func target(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "Backline",
    // The libraries for apps are made for Apple's platforms too, the server for Linux.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .executable(name: "backline", targets: ["backline"]),
        .library(name: "RoomClient", targets: ["RoomClient"]),
        .library(name: "RoomClientNIO", targets: ["RoomClientNIO"]),
        .library(name: "RoomClientGRDB", targets: ["RoomClientGRDB"]),
        .library(name: "RoomClientTesting", targets: ["RoomClientTesting"]),
    ],
    traits: [
        .trait(name: "Server", description: "The server, its tools and all tests."),
        .trait(name: "NIOClient", description: "RoomClientNIO: the client's transport for Linux, on SwiftNIO."),
        .trait(name: "Persistence", description: "RoomClientGRDB: rooms and commands kept on the device, by GRDB."),
        .default(enabledTraits: ["Server", "NIOClient", "Persistence"]),
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
        target("SystemCalls", []),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        target(
            "PostgresEventStore", ["ByteText", "EventStorage", "SchemaFiles", "SystemCalls", "CPostgres"]),
        target("SQLiteEventStore", ["EventStorage", "SchemaFiles", "SystemCalls", grdb, grdbSQLite]),
        target("RoomClientTesting", ["Rehearsal", "RoomClient", "RoomWire"]),
        target("RoomClientGRDB", ["RoomClient", grdb]),

        // Shells.
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CMalloc"),
        target("TLSTransport", ["COpenSSL", "SystemCalls", nioCore]),
        // The plugin compiles the files of `Pages` into it.
        .target(
            name: "WebClient", dependencies: ["ByteText", "SystemCalls", "TLSTransport", "WebSocketCodec", nioCore],
            exclude: ["Pages"], swiftSettings: settings, plugins: ["EmbedFiles"]),
        .plugin(name: "EmbedFiles", capability: .buildTool(), dependencies: ["EmbedFilesTool"]),
        .executableTarget(name: "EmbedFilesTool", path: "Plugins/EmbedFilesTool", swiftSettings: settings),
        target(
            "RoomClientNIO",
            ["RoomClient", "TLSTransport", "WebSocketCodec", nioCore, nioHTTP1, nioPosix]),
        // The commands of a terminal: watch, vote and others.
        target("TerminalClient", ["RoomClient", "RoomClientNIO", "SystemCalls", argumentParser]),
        target("HTTPTransport", ["WebSocketCodec", nioCore, nioHTTP1]),
        // Conversations with clients under test, for `backline rehearse`.
        target("RehearsalStage", ["Rehearsal", "SystemCalls", "WebSocketCodec", nioCore, nioPosix]),
        target(
            "RoomService",
            [
                "ByteText", "GeoSearch", "RoomDomain", "RoomLog", "RoomStatistics", "RoomWire", "EventStorage",
                coreMetrics, nioCore, logging,
            ]),
        target("LogMaintenance", ["RoomDomain", "RoomLog", "RoomStatistics", "RoomWire", "EventStorage"]),
        target("PrometheusMetrics", [coreMetrics]),
        target("LogOutput", [nioPosix]),
        target("IdentityTokens", ["ByteText", "RoomWire", "TLSTransport"]),
        // The plugin compiles Documentation/openapi.yaml into it.
        .target(
            name: "PushServer",
            dependencies: [
                "ByteText", "RoomDomain", "RoomService", "RoomStatistics", "RoomWire", "WebSocketCodec",
                "HTTPTransport",
                "TLSTransport",
                "PrometheusMetrics", "CMalloc", "IdentityTokens", "SystemCalls", "WebClient",
                hummingbird, hummingbirdCore, httpTypes, nioCore, nioHTTP1, nioPosix, logging, coreMetrics,
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
                "SQLiteEventStore", "SystemCalls", "TerminalClient", "WebClient",
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

        // What loads the servers in Tests/EndToEnd/chaos_apps.py.
        .executableTarget(
            name: "ChaosApp", dependencies: ["RoomClient", "RoomClientGRDB", "RoomClientNIO", argumentParser],
            path: "Tests/ChaosApp", swiftSettings: settings),

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

        // What is measured in Benchmarks/room_client.py.
        .executableTarget(
            name: "RoomClientLoad",
            dependencies: [
                "CMalloc", "RandomTestSupport", "RoomClient", "RoomDomain", "RoomReplica", "RoomWire", argumentParser,
            ],
            path: "Benchmarks/RoomClientLoad", swiftSettings: settings),

        // Tests. The first targets are what several test targets share.
        .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
        target("PostgresTestSupport", ["CSpawn"], path: "Tests/PostgresTestSupport"),
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
                "RandomTestSupport", "RoomDomain", "RoomLog", "RoomTestSupport", "RoomWire", "SQLiteEventStore", grdb,
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
                nioEmbedded, nioHTTP1,
            ],
            path: "Tests/FuzzProperties"),
        tests("FuzzReplayTests", ["FuzzProperties", "RandomTestSupport"]),
        tests("GeoSearchTests", ["GeoSearch", "GeoTestSupport", "RandomTestSupport"]),
        tests(
            "HTTPTransportTests",
            ["HTTPTransport", nioCore, nioEmbedded, nioHTTP1]),
        tests("IdentityTokensTests", ["IdentityTokens"]),
        tests("PrometheusMetricsTests", ["PrometheusMetrics", coreMetrics]),
        tests(
            "PushServerTests",
            [
                "EventStorage", "HTTPTransport", "IdentityTokens", "PrometheusMetrics", "PushServer",
                "RandomTestSupport", "RoomDomain", "RoomService", "RoomTestSupport", "RoomWire", "SimulatedTime",
                "TLSTransport", "WebClient", "WebSocketCodec",
                hummingbird, httpTypes, coreMetrics, inMemoryLogging, logging, nioCore, nioEmbedded, nioHTTP1, nioPosix,
            ]),
        tests("RoomDomainTests", ["GeoSearch", "RandomTestSupport", "RoomDomain", "RoomTestSupport"]),
        tests(
            "RoomServiceTests",
            [
                "EventStorage", "GeoSearch", "PrometheusMetrics", "RandomTestSupport", "RoomDomain", "RoomLog",
                "RoomService", "RoomTestSupport", "RoomWire", "SimulatedTime", nioCore, nioPosix, inMemoryLogging,
                logging,
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
                "ClientStoreConformance", "RandomTestSupport", "RoomClient", "RoomClientGRDB", "RoomClientTesting",
                grdb,
            ]),
        tests(
            "RoomClientTestingTests", ["RandomTestSupport", "RehearsedAppSupport", "RoomClient", "RoomClientTesting"]),
        tests(
            "RoomReplicaTests",
            ["GeoSearch", "RandomTestSupport", "RoomDomain", "RoomReplica", "RoomTestSupport", "RoomWire"]),
        target(
            "RehearsalTestSupport", ["RoomDomain", "RoomReplica", "RoomWire"], path: "Tests/RehearsalTestSupport"),
        tests(
            "RehearsalTests",
            ["GeoSearch", "Rehearsal", "RehearsalTestSupport", "RoomDomain", "RoomReplica", "RoomWire"]),
        // An app on RoomClient that does what conversations say, and the same as a program for `backline rehearse`.
        target(
            "RehearsedAppSupport", ["RehearsalTestSupport", "RoomClient", "RoomReplica", "RoomWire"],
            path: "Tests/RehearsedAppSupport"),
        .executableTarget(
            name: "RehearsedClient",
            dependencies: ["RehearsedAppSupport", "RoomClientNIO"],
            path: "Tests/Conversations/RehearsedClient", swiftSettings: settings),
        tests(
            "RoomClientTests",
            [
                "ClientStoreConformance", "RandomTestSupport", "RoomClient", "RoomDomain", "RoomReplica",
                "RoomTestSupport", "RoomWire",
            ]),
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
                grdb,
            ]),
        tests("TerminalClientTests", ["RoomClient", "RoomTestSupport", "TerminalClient", argumentParser]),
        tests(
            "TLSTransportTests", ["RandomTestSupport", "SystemCalls", "TLSTransport", nioCore, nioPosix, nioEmbedded]),
        tests("WebClientTests", ["SystemCalls", "WebClient", nioCore]),
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
        "RoomLog", "RoomStatistics", "SchemaFiles",
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
