import NIOCore
import Testing

@testable import WebClient

@Suite struct WebFilesTests {
    private func bytes(_ file: WebFile?) -> [UInt8]? { file.map { Array(buffer: $0.identity.bytes) } }

    @Test func `every file of the program has a path and a type that are served`() {
        #expect(!EmbeddedPages.files.isEmpty)
        for file in EmbeddedPages.files {
            #expect(WebPath.isValid(file.path), "\(file.path)")
            #expect(WebFileType(path: file.path) != nil, "\(file.path)")
        }
        #expect(WebFiles.embedded.paths == EmbeddedPages.files.map(\.path).sorted())
    }

    @Test func `the program has a first page and nothing that only the type checker reads`() {
        #expect(WebFiles.embedded[path: "index.html"]?.mediaType == "text/html; charset=utf-8")
        #expect(!WebFiles.embedded.paths.contains { $0.hasSuffix(".ts") || $0.hasSuffix(".json") })
    }

    @Test func `the version is the beginning of a SHA-256 and changes with any path and byte`() {
        let first = WebFiles([("a.js", [1, 2]), ("b.js", [3])])
        #expect(first.version.count == 16 && first.version.allSatisfy { "0123456789abcdef".contains($0) })
        #expect(WebFiles([("b.js", [3]), ("a.js", [1, 2])]).version == first.version)
        for others: [(String, [UInt8])] in [
            [("a.js", [1, 2]), ("b.js", [4])], [("a.js", [1]), ("b.js", [2, 3])], [("a.js", [1, 2]), ("c.js", [3])],
            [("a.js", [1, 2])], [("a.js", [1, 2]), ("b.js", [3]), ("c.js", [])], [],
        ] {
            #expect(WebFiles(others.map { (path: $0.0, bytes: $0.1) }).version != first.version)
        }
    }

    @Test func `the page and its worker name the version, other files do not`() {
        let text = Array("{version} and {version}, not {versions".utf8)
        let files = WebFiles([("index.html", text), ("service-worker.js", text), ("main.js", text)])
        let filled = Array("\(files.version) and \(files.version), not {versions".utf8)
        #expect(bytes(files[path: "index.html"]) == filled)
        #expect(bytes(files[path: "service-worker.js"]) == filled)
        #expect(bytes(files[path: "main.js"]) == text)
    }

    @Test func `each form has a strong tag of its own that changes with the bytes`() throws {
        let long = [UInt8](repeating: 65, count: 1_000)
        let file = WebFile(type: .js, bytes: long)
        let gzip = try #require(file.gzip)
        #expect(gzip.bytes.readableBytes < 100)
        #expect(file.identity.entityTag.wholeMatch(of: /"[0-9a-f]{16}"/) != nil)
        #expect(gzip.entityTag == "\(file.identity.entityTag.dropLast())-gzip\"")
        #expect(WebFile(type: .js, bytes: long + [65]).identity.entityTag != file.identity.entityTag)
        #expect(WebFile(type: .js, bytes: long).gzip?.bytes == gzip.bytes)
    }

    @Test func `a file that gzip does not shorten has one form`() {
        #expect(WebFile(type: .js, bytes: Array("1".utf8)).gzip == nil)
        #expect(WebFile(type: .js, bytes: []).gzip == nil)
        #expect(WebFile(type: .png, bytes: [UInt8](repeating: 0, count: 1_000)).gzip == nil)
    }

    @Test func `embedded text and bytes are what was written`() {
        #expect(EmbeddedFile("a.js", text: "é\u{0}\n").bytes == [0xC3, 0xA9, 0, 10])
        #expect(EmbeddedFile("a.png", base64: "iVBO//4=").bytes == [0x89, 0x50, 0x4E, 0xFF, 0xFE])
    }

    @Test func `a worker without a page removes itself`() throws {
        let script = String(decoding: try #require(bytes(DepartingWorker.file)), as: UTF8.self)
        #expect(script.contains("caches.delete") && script.contains("unregister()"))
        #expect(DepartingWorker.file.mediaType == "text/javascript; charset=utf-8")
    }

    @Test(arguments: [
        ("index.html", true), ("view/a-b_c.2.js", true), ("a/b/c/d/e/f/g/h.js", true), ("", false), ("/", false),
        ("/a.js", false), ("a.js/", false), ("a//b.js", false), (".a.js", false), ("a/.b/c.js", false),
        ("..", false), ("a/../b.js", false), ("a\\b.js", false), ("a%2eb.js", false), ("a b.js", false),
        ("a\u{0}.js", false), ("é.js", false), ("a/b/c/d/e/f/g/h/i.js", false), ("a:b.js", false), ("~.js", false),
    ])
    func `a path consists of plain names`(path: String, isValid: Bool) {
        #expect(WebPath.isValid(path) == isValid)
    }

    @Test func `a path has at most 256 characters`() {
        #expect(WebPath.isValid(String(repeating: "a", count: 256)))
        #expect(!WebPath.isValid(String(repeating: "a", count: 257)))
    }

    @Test(arguments: [
        ("a.html", "text/html; charset=utf-8"), ("a/b.js", "text/javascript; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"), ("a.svg", "image/svg+xml"), ("a.png", "image/png"),
        ("a.jpg", "image/jpeg"), ("a.webp", "image/webp"), ("a.ico", "image/vnd.microsoft.icon"),
        ("a.woff2", "font/woff2"), ("a.webmanifest", "application/manifest+json"), ("tsconfig.json", nil),
        ("browser.d.ts", nil), ("a.JS", nil), ("a", nil), ("js", nil), ("a.", nil), ("a.js.map", nil), ("a.b/js", nil),
    ])
    func `the end of a name decides the type`(path: String, type: String?) {
        #expect(WebFileType(path: path)?.mediaType == type)
    }
}
