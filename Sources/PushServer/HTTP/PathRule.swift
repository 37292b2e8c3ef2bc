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
}

/// Answers 404 to paths that are not plain.
struct PathMiddleware: RouterMiddleware {
    typealias Context = APIContext

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard PathRule.isPlain(request.uri.path) else {
            throw CommandFailure(.notFound, "there is nothing at this path")
        }
        return try await next(request, context)
    }
}
