import HTTPTypes
import Hummingbird
import RoomWire

/// The only accepted form of a path.
///
/// The router reads `//metrics` and `/metrics/` as `/metrics`; a proxy that hides a path from clients does not know
/// those forms.
enum PathRule {
    /// Whether a path has no empty segment, no slash at its end unless it is `/`, no segment `.` or `..`, and no encoded
    /// slash.
    static func isPlain(_ path: some StringProtocol) -> Bool {
        guard path.first == "/" else { return false }
        guard path.count > 1 else { return true }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
            guard !segment.isEmpty else { return false }
            let text = segment.lowercased()
            guard !text.contains("%2f"), !text.contains("%5c") else { return false }
            let dots = text.replacing("%2e", with: ".")
            return dots != "." && dots != ".."
        }
    }

    /// The path of a room's page, for the same path with a slash at its end; nil for any other path.
    ///
    /// People copy links with such a slash.
    static func page<Path: StringProtocol>(behindSlash path: Path) -> Path.SubSequence? {
        guard path.last == "/" else { return nil }
        let page = path.dropLast()
        return isPlain(page) && Routes.room.matches(page) ? page : nil
    }
}

/// Answers 404 to paths that are not plain, and leads to a room's page from its path with a slash.
struct PathMiddleware: RouterMiddleware {
    typealias Context = APIContext

    /// Whether rooms have pages here.
    let hasPages: Bool

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        if PathRule.isPlain(path) { return try await next(request, context) }
        guard hasPages, request.method == .get || request.method == .head, let page = PathRule.page(behindSlash: path)
        else { throw CommandFailure(.notFound, "there is nothing at this path") }
        let query = request.uri.query.map { "?\($0)" } ?? ""
        return Response(status: .permanentRedirect, headers: [.location: "\(page)\(query)"])
    }
}
