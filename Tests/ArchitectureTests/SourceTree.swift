import Foundation

/// The sources of this package, read as text.
struct SourceTree {
    /// One target: its name and its Swift files' texts by path.
    struct Target {
        let name: String
        let files: [String: String]
        /// The modules that each file imports.
        let importsOfFiles: [String: Set<String>]

        init(name: String, files: [String: String]) {
            self.name = name
            self.files = files
            importsOfFiles = files.mapValues(importedModules)
        }

        /// The modules that the target's files import.
        var imports: Set<String> { importsOfFiles.values.reduce(into: []) { $0.formUnion($1) } }
    }

    /// The package that this file belongs to, read once.
    static var shared: SourceTree { get throws { try read.get() } }
    private static let read = Result { try SourceTree() }

    let targets: [Target]
    /// The text of `Package.swift`.
    let manifest: String

    private init(file: String = #filePath) throws {
        let root = URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let sources = root.appending(path: "Sources")
        let names = try FileManager.default.contentsOfDirectory(atPath: sources.path).filter { !$0.hasPrefix(".") }
        var targets = try names.sorted().map {
            try Target(name: $0, files: Self.files(under: sources.appending(path: $0)))
        }
        targets.append(Target(name: "SchemaFiles", files: try Self.files(under: root.appending(path: "Schema"))))
        self.targets = targets
        manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    }

    private static func files(under folder: URL) throws -> [String: String] {
        var files: [String: String] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init()
        where path.hasSuffix(".swift") {
            files[path] = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
        }
        return files
    }
}

/// The modules that a Swift source imports, with whatever attributes, access levels and kinds stand before them.
func importedModules(in source: String) -> Set<String> {
    let statement =
        #/
        ^\s*(?:@\w+(?:\([^)]*\))?\s+)*
        (?:(?:public|package|internal|fileprivate|private)\s+)?
        import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(?<module>\w+)
        /#
    var modules: Set<String> = []
    for line in source.split(whereSeparator: \.isNewline) {
        if let match = line.prefixMatch(of: statement) {
            modules.insert(String(match.module))
        }
    }
    return modules
}
