import Testing

/// Imports of the targets that apps for Apple's platforms are built with, where nothing builds this project.
@Suite struct PortableImportTests {
    /// Apple's platforms do not ship `FoundationEssentials`, and Linux starts faster without `Foundation`.
    @Test(arguments: [
        "ByteText", "GeoSearch", "RoomDomain", "RoomWire", "RoomReplica", "RoomClient", "Rehearsal",
        "RoomClientTesting",
    ])
    func `Foundation is imported under the name that the platform has for it`(name: String) throws {
        let target = try #require(try SourceTree.shared.targets.first { $0.name == name })
        #expect(!target.files.isEmpty)
        for (path, source) in target.files {
            let others = importedModules(in: withoutPortableImports(source))
                .intersection(["Foundation", "FoundationEssentials"])
            #expect(others.isEmpty, "\(name)/\(path) imports \(others.sorted()) on every platform")
        }
    }

    @Test func `imports that each platform has are left out`() {
        let source = """
            import One

            #if canImport(FoundationEssentials)
                package import FoundationEssentials
            #else
                package import Foundation
            #endif
            #if canImport(Darwin)
                internal import Foundation
            #else
                @_spi(_Unicode) internal import Swift
            #endif
            """
        #expect(importedModules(in: withoutPortableImports(source)) == ["One", "Swift"])
    }

    @Test(arguments: [
        "import Foundation", "import FoundationEssentials",
        """
        #if canImport(FoundationEssentials)
            package import FoundationEssentials
        #else
            import Foundation
        #endif
        """,
        """
        #if os(Linux)
            import FoundationEssentials
        #endif
        """,
    ])
    func `an import without a condition, or with another, is not left out`(source: String) {
        #expect(!importedModules(in: withoutPortableImports(source)).isEmpty)
    }
}

/// A source without the imports of Foundation, at one access level, under the names of both platforms, and without those
/// of Apple's platforms alone.
func withoutPortableImports(_ source: String) -> String {
    let both =
        /#if canImport\(FoundationEssentials\)\n( +(?:\w+ )?import )FoundationEssentials\n#else\n\1Foundation\n#endif/
    let apple = /(#if canImport\(Darwin\).*\n)(?: +(?:\w+ )?import \w+\n)+/
    return source.replacing(both, with: "").replacing(apple) { String($0.1) }
}
