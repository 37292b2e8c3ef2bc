import HTTPTypes
import Hummingbird
import RoomDomain
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

    /// As far as a path is looked at for a room: nothing behind that belongs to a name.
    private static let longestName = 128

    /// The path of the room's page, `/r/{code}`, for a path that names the room in another way; nil for any other path,
    /// and for the page's own.
    ///
    /// People paste links with what stood behind them, in upper case and with a slash; they also type the code alone,
    /// which counts where it is exactly one and begins no other route. What is no code is left to the page to say.
    static func roomPage(for path: some StringProtocol) -> String? {
        let text = String(decoding: path.utf8.prefix(longestName), as: UTF8.self)
        let page: String
        if text.prefix(Routes.roomPrefix.count).lowercased() == Routes.roomPrefix {
            let name = path.dropFirst(Routes.roomPrefix.count)
            page =
                Routes.roomPrefix
                + (PastedRoom(text)?.reference.text ?? String(name.last == "/" ? name.dropLast() : name))
        } else if let code = RoomCode(String(text.dropFirst())), !code.isReserved, text.first == "/",
            !Routes.all.contains(where: { $0.segments.first == text.dropFirst() })
        {
            page = Routes.roomPrefix + code.description
        } else {
            return nil
        }
        return page != path && isPlain(page) && Routes.room.matches(page) ? page : nil
    }
}

/// Answers 404 to paths that are not plain, and leads to a room's page from paths that name the room in another way.
struct PathMiddleware: RouterMiddleware {
    typealias Context = APIContext

    /// Whether rooms have pages here.
    let hasPages: Bool

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        if hasPages, request.method == .get || request.method == .head, let page = PathRule.roomPage(for: path) {
            let query = request.uri.query.map { "?\($0)" } ?? ""
            return Response(status: .permanentRedirect, headers: [.location: "\(page)\(query)"])
        }
        guard PathRule.isPlain(path) else { throw CommandFailure(.notFound, "there is nothing at this path") }
        return try await next(request, context)
    }
}
