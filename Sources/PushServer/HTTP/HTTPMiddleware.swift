import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RoomService
import RoomWire

/// Turns every error into a problem (RFC 9457), and tells a wrong method from a wrong path.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let routes: [Route]
    let logger: Logger

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await next(request, context)
            try context.memory.charge(response)
            return response
        } catch let failure as CommandFailure {
            return Self.response(failure)
        } catch let violation as MessageViolation {
            return Self.response(CommandFailure(violation.code, violation.message))
        } catch let error as HTTPError where error.status == .notFound {
            guard PathRule.isPlain(request.uri.path),
                let route = routes.first(where: { $0.matches(request.uri.path) })
            else {
                return Self.response(CommandFailure(.notFound, "there is nothing at this path"))
            }
            var response = Self.response(CommandFailure(.methodNotAllowed, "allowed here: \(route.allow)"))
            response.headers[.allow] = route.allow
            return response
        } catch let error as HTTPError where error.status.kind == .clientError {
            return Self.response(CommandFailure(.badRequest, "the request cannot be read"))
        } catch let error as HTTPParserError {
            // The reader of requests has answered this and closed the connection.
            throw error
        } catch  where error is CancellationError || error is ChannelError || error is IOError {
            logger.debug("A request broke off", metadata: ["fault": "\(error)"])
            throw error
        } catch {
            // Not the path itself: it may have the code of a room that is on no list.
            let route = routes.first { $0.matches(request.uri.path) }?.path ?? "none"
            logger.error("A request failed", metadata: ["fault": "\(error)", "route": "\(route)"])
            return Self.response(CommandFailure(.internal))
        }
    }

    private static func response(_ failure: CommandFailure) -> Response {
        var response = Response.json(
            HTTPResponse.Status(code: failure.code.httpStatus), failure.problem, type: "application/problem+json")
        for field in failure.fields {
            if let name = HTTPField.Name(field.name) { response.headers[name] = field.value }
        }
        return response
    }
}

/// Refuses a request if its address sends too many, or if it came through a proxy while too many others of the same
/// client are being answered.
///
/// A direct connection was counted before its first request.
struct AddressMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let addresses: AddressLimit
    let admission: Admission

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        try admission.request(from: context.peer, forwardedFor: request.forwardedFor)
        let ticket = addresses.admit(through: context.peer, forwardedFor: request.forwardedFor)
        guard ticket?.isOverLimit != true else {
            throw CommandFailure(.rateLimited, "too many connections from this address")
        }
        defer { withExtendedLifetime(ticket) {} }
        return try await next(request, context)
    }
}

extension Request {
    /// The addresses that proxies name as the request's origin.
    var forwardedFor: [String] { values(of: TrustedProxies.field) }

    /// The values of a field, in their order.
    fileprivate func values(of field: String) -> [String] {
        // The library keeps the field Host apart.
        if field == "Host" { return [head.authority].compactMap { $0 } }
        return HTTPField.Name(field).map { headers[values: $0] } ?? []
    }
}

/// Refuses requests that want or contain anything other than JSON.
struct JSONOnlyMiddleware: RouterMiddleware {
    typealias Context = APIContext

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard MediaRange.permitJSON(request.headers[values: .accept]) else {
            throw CommandFailure(.notAcceptable, "answers are application/json")
        }
        if request.method == .post || request.method == .patch || request.method == .put {
            let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
                .filter { $0 != " " && $0 != "\t" }
            guard type == "application/json" else {
                throw CommandFailure(.unsupportedMediaType, "bodies are application/json")
            }
        }
        return try await next(request, context)
    }
}

/// Refuses a request that changes something and comes from a page of another origin.
struct OriginMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let settings: RoomServerSettings
    let foreignOrigins: ForeignOriginLog

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        if request.method != .get, request.method != .head {
            do throws(ForeignOrigin) {
                try OriginRule(settings, for: PeerAddress(context.peer)).check { request.values(of: $0) }
            } catch {
                foreignOrigins.note(error)
                throw error.failure
            }
        }
        return try await next(request, context)
    }
}

/// Finds the session behind a request; without one, no handler behind this one is reached.
struct SessionMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let authenticator: Authenticator
    let admission: Admission

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let authorization = request.headers[.authorization]
        let cookies = request.headers[values: .cookie]
        let session = try await authenticator.session(authorization: authorization, cookies: cookies)
        try admission.request(of: session.id)
        context.authenticated = session
        var response = try await next(request, context)
        // The cookie lasts as long as its session, whose end has just been extended.
        if session.wasExtended, authorization == nil, response.headers[.setCookie] == nil,
            let token = Authentication.token(authorization: nil, cookies: cookies)
        {
            response.headers[.setCookie] = Authentication.cookie(
                token: token, lifetimeMs: authenticator.rooms.settings.sessionLifetimeMs)
        }
        return response
    }
}

/// Adds the fields of a route's policy to its answers, unless they have them.
///
/// Problems have the fields of data, which each connection adds to its answers.
struct PolicyMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let fields: SecurityFields

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        fields.add(to: &response.headers)
        return response
    }
}

/// The preference for JSON in a request's `Accept` (RFC 9110 §12.5.1).
enum MediaRange {
    /// Whether `application/json` or `application/problem+json` is acceptable; the most specific range decides.
    static func permitJSON(_ fields: [String]) -> Bool {
        var best: (specificity: Int, isWanted: Bool)?
        let ranges = fields.flatMap { $0.split(separator: ",") }
        for range in ranges {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let type = parts.first, let specificity = specificities[type] else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 1 } ?? 1
            // Answers are of both kinds of JSON, so refusing the kind for problems does not refuse the other.
            if type == "application/problem+json", quality == 0 { continue }
            if specificity >= best?.specificity ?? 0 { best = (specificity, quality > 0) }
        }
        guard let best else { return ranges.isEmpty }
        return best.isWanted
    }

    private static let specificities = [
        "*/*": 1, "application/*": 2, "application/problem+json": 3, "application/json": 4,
    ]
}
