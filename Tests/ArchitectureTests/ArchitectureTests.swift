import Testing

@Suite struct ArchitectureTests {
    let tree: SourceTree

    init() throws {
        tree = try SourceTree.shared
    }

    @Test func `every target has its line in the table and every line its target`() {
        #expect(tree.targets.map(\.name).sorted() == importArrows.map(\.target).sorted())
    }

    @Test func `arrows point down only`() {
        var below: Set<String> = []
        for arrow in importArrows {
            #expect(arrow.targets.subtracting(below).isEmpty, "\(arrow.target) points at what is not below it")
            below.insert(arrow.target)
        }
    }

    @Test func `a target imports nothing but what its line allows`() {
        let allowed = Dictionary(uniqueKeysWithValues: importArrows.map { ($0.target, $0.targets.union($0.modules)) })
        for target in tree.targets {
            for (path, imports) in target.importsOfFiles {
                let strangers = imports.subtracting(allowed[target.name, default: []])
                #expect(strangers.isEmpty, "\(target.name)/\(path) imports \(strangers.sorted())")
            }
        }
    }

    @Test func `no line allows what is never imported`() {
        for arrow in importArrows {
            let imports = tree.targets.first { $0.name == arrow.target }?.imports ?? []
            let unused = arrow.targets.union(arrow.modules).subtracting(platformLibraries).subtracting(imports)
            #expect(unused.isEmpty, "\(arrow.target) never imports \(unused.sorted())")
        }
    }

    @Test func `a system library is behind exactly one target`() {
        let owners = [
            "CPostgres": "PostgresEventStore", "COpenSSL": "TLSTransport", "CZlib": "WebSocketCodec",
            "CMalloc": "PushServer",
        ]
        for (library, owner) in owners {
            #expect(tree.targets.filter { $0.imports.contains(library) }.map(\.name) == [owner])
        }
    }

    @Test(arguments: [
        "ByteText", "GeoSearch", "RoomDomain", "RoomWire", "WebSocketCodec", "EventStorage", "RoomLog",
        "SchemaFiles",
    ])
    func `a pure target knows neither Foundation nor threads, sockets or logs`(name: String) throws {
        let target = try #require(tree.targets.first { $0.name == name })
        #expect(!target.files.isEmpty)
        let imports = importedModules(in: target.files.values.map(withoutPortableImports).joined(separator: "\n"))
        #expect(imports.isDisjoint(with: ["Foundation", "Dispatch", "NIOPosix", "Logging"]))
    }

    /// Only decoders of stored rows may take a coordinate for rounded: all others round it.
    @Test func `a rounded location is made without rounding by the readers of the log alone`() {
        var makers: Set<String> = []
        for target in tree.targets {
            for (path, source) in target.files
            where source.contains(/RoundedLocation\(stored:|\.withStored\(|RoundedLocation\.init\(stored:/) {
                makers.insert("\(target.name)/\(path)")
            }
        }
        #expect(makers == Self.readersOfLocations)
    }

    private static let readersOfLocations: Set = [
        "EventStorage/Directory.swift", "PostgresEventStore/PostgresStore+Directory.swift",
        "RoomWire/RoomPartsJSON.swift", "SQLiteEventStore/SQLiteStore+Directory.swift",
    ]

    @Test func `the quick loop keeps every target that a pure target imports`() throws {
        let list = try #require(tree.manifest.firstMatch(of: /let pure: Set = \[(?<names>[^\]]*)\]/))
        let pure = Set(list.names.matches(of: /"(\w+)"/).map { String($0.1) })
        for arrow in importArrows where pure.contains(arrow.target) {
            let left = arrow.targets.subtracting(pure)
            #expect(left.isEmpty, "\(arrow.target) imports \(left.sorted()), which Package.swift leaves out")
        }
    }

    /// Of a package without traits, every app fetches every package.
    @Test func `products of other packages are used for some traits only`() {
        let uses = tree.manifest.matches(of: /\.product\(.*/).map { String($0.0) }
        #expect(uses == [".product(name: name, package: package, condition: .when(traits: traits))"])
    }

    @Test func `imports are found whatever stands before them`() {
        let source = """
            import One
            package import Two
              @preconcurrency import Three
            @_spi(Testing) internal import struct Four.Part
            // import Five
            let text = "import Six"
            @testable import Seven
            """
        #expect(importedModules(in: source) == ["One", "Two", "Three", "Four", "Seven"])
    }
}
