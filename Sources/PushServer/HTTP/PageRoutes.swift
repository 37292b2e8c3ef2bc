import HTTPTypes
import Hummingbird
import NIOPosix
import RoomWire
import WebClient

/// The page's files.
///
/// The path of a request is used as it was sent, without decoding: no file has a path that needs an encoding.
struct PageRoutes: Sendable {
    private let source: WebSource
    /// The compiled files, if they are what is served.
    private let files: WebFiles?

    init(_ source: WebSource) {
        self.source = source
        files =
            switch source {
            case .none, .folder: nil
            case .embedded: .embedded
            }
    }

    /// Whether there is a page.
    var hasPage: Bool {
        switch source {
        case .none: false
        case .embedded, .folder: true
        }
    }

    /// `index.html`, the same for every path of the page.
    func page(_ request: Request, _ context: APIContext) async throws -> Response {
        try await answer("index.html", to: request, context)
    }

    /// A file that keeps its path in all versions.
    func file(_ request: Request, _ context: APIContext) async throws -> Response {
        try await answer(String(request.uri.path.dropFirst()), to: request, context)
    }

    /// The service worker; without a page, one that removes itself.
    func serviceWorker(_ request: Request, _ context: APIContext) async throws -> Response {
        guard hasPage else { return try Self.answer(DepartingWorker.file, to: request, context) }
        return try await file(request, context)
    }

    /// A file of this version; `/assets/{version}/{+path}`.
    func asset(_ request: Request, _ context: APIContext) async throws -> Response {
        let parts = request.uri.path.split(separator: "/", maxSplits: 2)
        guard parts.count == 3, hasVersion(parts[1]) else { throw Self.nothing }
        var answer = try await answer(String(parts[2]), to: request, context)
        // A folder's files change under the same path.
        if files == nil { answer.headers[.cacheControl] = AnswerPolicy.page(.revalidated).cacheControl }
        return answer
    }

    /// Whether the page has a version; a folder has had any.
    private func hasVersion(_ text: Substring) -> Bool {
        if let files { return text == files.version }
        return text.utf8.count == 16 && text.allSatisfy { "0123456789abcdef".contains($0) }
    }

    private static let nothing = CommandFailure(.notFound, "there is nothing at this path")

    private func answer(_ path: String, to request: Request, _ context: APIContext) async throws -> Response {
        switch source {
        case .none: throw Self.nothing
        case .embedded:
            guard let file = files?[path: path] else { throw Self.nothing }
            return try Self.answer(file, to: request, context)
        case .folder(let folder):
            return try Self.answer(try await Self.file(at: path, in: folder), to: request, context)
        }
    }

    /// Reads a file beside the event loops, since that blocks.
    private static func file(at path: String, in folder: WebFolder) async throws(CommandFailure) -> WebFile {
        do {
            return try await NIOThreadPool.singleton.runIfActive { try folder.file(at: path) }
        } catch WebFolder.Fault.notFound {
            throw nothing
        } catch {
            throw CommandFailure(ErrorCode.unavailable, "the file is being changed")
        }
    }

    /// The form of a file that the request accepts, unless the client has it already (RFC 9110 §13.1.2).
    private static func answer(_ file: WebFile, to request: Request, _ context: APIContext) throws -> Response {
        let prefersGzip = ContentCoding.prefersGzip(request.headers[values: .acceptEncoding])
        let gzip = prefersGzip ? file.gzip : nil
        let form = gzip ?? file.identity
        var headers: HTTPFields = [
            .contentType: file.mediaType, .eTag: form.entityTag, .vary: "Accept-Encoding",
            .contentLength: "\(form.bytes.readableBytes)",
        ]
        if gzip != nil { headers[.contentEncoding] = "gzip" }
        guard !EntityTag.matches(form.entityTag, request.headers[values: .ifNoneMatch]) else {
            headers[.contentType] = nil
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: form.bytes))
    }
}
