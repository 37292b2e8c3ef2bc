/// The modules that one target may import: the layers of `Documentation/Architecture.md`.
struct ImportArrow {
    let target: String
    /// Targets of this package.
    let targets: Set<String>
    /// Modules of other packages and of the toolchain.
    let modules: Set<String>
}

/// The names of the C library on the supported platforms.
let platformLibraries: Set = ["Glibc", "Musl", "Darwin"]

/// Foundation under its names on Linux and on Apple's platforms; see `PortableImportTests`.
private let foundation: Set = ["Foundation", "FoundationEssentials"]

/// Every target, listed before all targets that may import it.
let importArrows: [ImportArrow] = {
    let platform = platformLibraries
    func arrow(_ target: String, _ targets: Set<String> = [], _ modules: Set<String> = []) -> ImportArrow {
        ImportArrow(target: target, targets: targets, modules: modules)
    }
    return [
        // System libraries.
        arrow("CPostgres"),
        arrow("COpenSSL"),
        arrow("CZlib"),
        arrow("CMalloc"),

        // Pure.
        arrow("ByteText", [], foundation),
        // The C library, for the cosine.
        arrow("GeoSearch", ["ByteText"], platform.union(foundation)),
        // The standard library by name, for Unicode's normalization; Synchronization, for keys that are made once.
        arrow("RoomDomain", ["ByteText", "GeoSearch"], foundation.union(["Swift", "Synchronization"])),
        arrow("RoomWire", ["ByteText", "GeoSearch", "RoomDomain"], foundation),
        arrow("RoomReplica", ["GeoSearch", "RoomDomain", "RoomWire"]),
        arrow("Rehearsal", ["RoomWire"]),
        arrow(
            "RoomClient", ["GeoSearch", "RoomDomain", "RoomReplica", "RoomWire"],
            foundation.union(["Observation", "Synchronization"])),
        arrow("RoomClientTesting", ["Rehearsal", "RoomClient", "RoomWire"], ["Observation", "Synchronization"]),
        arrow("WebSocketCodec", ["ByteText", "CZlib"], ["NIOCore"]),
        arrow("EventStorage", ["ByteText", "GeoSearch"], ["FoundationEssentials"]),
        arrow("RoomLog", ["ByteText", "RoomDomain", "RoomWire", "EventStorage"], ["FoundationEssentials"]),
        arrow("RoomStatistics", ["EventStorage", "RoomDomain"], ["FoundationEssentials"]),
        arrow("SchemaFiles"),

        // Storage.
        arrow("SystemCalls", [], platform),
        arrow(
            "PostgresEventStore", ["ByteText", "EventStorage", "SchemaFiles", "SystemCalls", "CPostgres"],
            platform.union(["FoundationEssentials", "Synchronization"])),
        arrow(
            "SQLiteEventStore", ["EventStorage", "SchemaFiles", "SystemCalls"],
            ["GRDB", "GRDBSQLite", "Foundation", "Synchronization"]),
        // Security: the Keychain, on Apple's platforms.
        arrow("RoomClientGRDB", ["RoomClient"], ["GRDB", "Foundation", "Security", "Synchronization"]),

        // Shells.
        arrow("HTTPTransport", ["WebSocketCodec"], ["NIOCore", "NIOHTTP1"]),
        arrow("TLSTransport", ["COpenSSL", "SystemCalls"], platform.union(["NIOCore", "Synchronization"])),
        arrow(
            "RoomClientNIO", ["RoomClient", "TLSTransport", "WebSocketCodec"],
            platform.union(["NIOCore", "NIOHTTP1", "NIOPosix", "Synchronization"])),
        // ArgumentParser, because its commands are registered by the program as they are.
        arrow(
            "TerminalClient", ["RoomClient", "RoomClientNIO", "SystemCalls"],
            platform.union(["ArgumentParser", "Dispatch", "FoundationEssentials", "Observation", "Synchronization"])),
        arrow(
            "RehearsalStage", ["Rehearsal", "SystemCalls", "WebSocketCodec"],
            platform.union(["NIOCore", "NIOPosix"])),
        arrow(
            "RoomService",
            ["ByteText", "GeoSearch", "RoomDomain", "RoomLog", "RoomStatistics", "RoomWire", "EventStorage"],
            ["CoreMetrics", "FoundationEssentials", "Logging", "NIOCore", "Synchronization"]),
        arrow(
            "LogMaintenance", ["RoomDomain", "RoomLog", "RoomStatistics", "RoomWire", "EventStorage"],
            ["FoundationEssentials"]),
        arrow(
            "WebClient", ["ByteText", "SystemCalls", "TLSTransport", "WebSocketCodec"], platform.union(["NIOCore"])),
        arrow("IdentityTokens", ["ByteText", "RoomWire", "TLSTransport"]),
        arrow("PrometheusMetrics", [], platform.union(["CoreMetrics", "Synchronization"])),
        arrow("LogOutput", [], platform.union(["NIOPosix", "Synchronization"])),
        arrow(
            "PushServer",
            [
                "ByteText", "RoomDomain", "RoomStatistics", "RoomWire", "RoomService", "WebSocketCodec",
                "HTTPTransport",
                "TLSTransport",
                "PrometheusMetrics", "CMalloc", "IdentityTokens", "SystemCalls", "WebClient",
            ],
            platform.union([
                "CoreMetrics", "Hummingbird", "HummingbirdCore", "HTTPTypes", "Logging", "NIOCore", "NIOHTTP1",
                "NIOPosix",
                "ServiceLifecycle",
                "Synchronization",
            ])),

        // The program: the only place that chooses a store.
        arrow(
            "backline",
            [
                "EventStorage", "SchemaFiles", "PostgresEventStore", "SQLiteEventStore", "TLSTransport", "RoomService",
                "PushServer", "PrometheusMetrics", "LogMaintenance", "LogOutput", "RoomDomain", "RoomLog",
                "RoomStatistics", "RoomWire", "IdentityTokens", "SystemCalls", "WebClient", "Rehearsal",
                "RehearsalStage", "TerminalClient",
            ],
            platform.union([
                "ArgumentParser", "CoreMetrics", "FoundationEssentials", "Logging", "NIOCore", "NIOPosix",
                "ServiceLifecycle",
                "UnixSignals",
            ])),
    ]
}()
