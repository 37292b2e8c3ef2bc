/// The files of the page, and the version that names all of them together.
///
/// In `index.html` and `service-worker.js` the text `{version}` stands for the version.
package struct WebFiles: Sendable {
    /// The first 16 hexadecimal digits of the SHA-256 of all paths and files: it changes with any of them.
    package let version: String
    private let files: [String: WebFile]

    /// The files that were compiled into the program, compressed when this is first read.
    package static let embedded = WebFiles(
        EmbeddedPages.files.map { (path: $0.path, bytes: $0.bytes) })

    /// Makes the files; those without a valid path (``WebPath``) and a known type (``WebFileType``) are left out.
    package init(_ sources: [(path: String, bytes: [UInt8])]) {
        let served = sources.compactMap { source in
            WebPath.isValid(source.path) ? WebFileType(path: source.path).map { (source, type: $0) } : nil
        }
        let version = Self.version(of: served.map(\.0))
        self.version = version
        var files: [String: WebFile] = [:]
        for (source, type) in served {
            let bytes =
                Self.namesVersion(source.path) ? Self.filled(source.bytes, version: version) : source.bytes
            files[source.path] = WebFile(type: type, bytes: bytes)
        }
        self.files = files
    }

    /// The file of a path; nil if there is none.
    package subscript(path path: some StringProtocol) -> WebFile? { files[String(path)] }

    /// The paths, sorted.
    package var paths: [String] { files.keys.sorted() }

    /// The version of files: lengths keep apart what would else run together.
    private static func version(of sources: [(path: String, bytes: [UInt8])]) -> String {
        var all: [UInt8] = []
        for source in sources.sorted(by: { $0.path < $1.path }) {
            all += Array("\(source.path.utf8.count) \(source.path) \(source.bytes.count) ".utf8) + source.bytes
        }
        return WebFile.shortDigest(all)
    }

    /// Whether `{version}` stands for the version in the file of this path.
    static func namesVersion(_ path: String) -> Bool { path == "index.html" || path == "service-worker.js" }

    /// A file's bytes with the version filled in.
    static func filled(_ bytes: [UInt8], version: String) -> [UInt8] {
        let mark = Array("{version}".utf8)
        var filled: [UInt8] = []
        var rest = bytes[...]
        while let range = rest.firstRange(of: mark) {
            filled += rest[..<range.lowerBound]
            filled += version.utf8
            rest = rest[range.upperBound...]
        }
        return filled + rest
    }
}
