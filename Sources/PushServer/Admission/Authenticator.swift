import IdentityTokens
import Logging
import RoomDomain
import RoomService
import RoomWire
import TLSTransport

/// Finds the session behind a request: by a token of ours, or by one of another identity provider.
struct Authenticator: Sendable {
    /// What somebody is called whom the provider gives no name that can be shown.
    private static let defaultName = "Guest"

    let rooms: RoomHost
    /// Checks the tokens of another provider; nil: only ours are taken.
    let tokens: TokenVerifier?
    let logger: Logger

    /// The session behind a request's fields, where it is known without asking the store; nil also where there is none.
    func rememberedSession(authorization: String?, cookies: [String]) -> Session? {
        Authentication.token(authorization: authorization, cookies: cookies).flatMap {
            rooms.sessions.remembered(tokenHash: Authentication.hash($0))
        }
    }

    /// The session behind a request's fields.
    func session(authorization: String?, cookies: [String]) async throws(CommandFailure) -> Session {
        if let token = Authentication.token(authorization: authorization, cookies: cookies) {
            return try await found {
                try await rooms.sessions.authenticate(tokenHash: Authentication.hash(token))
            }
        }
        guard let tokens, let token = authorization.flatMap(Authentication.bearer) else {
            throw CommandFailure(.unauthorized)
        }
        let identity: Identity
        do throws(TokenViolation) {
            identity = try tokens.identity(of: token, at: rooms.clock.milliseconds)
        } catch {
            logger.debug("A JSON Web Token was refused", metadata: ["reason": "\(error)"])
            throw CommandFailure(.unauthorized, "the token is not accepted")
        }
        return try await found {
            try await rooms.sessions.session(of: Self.hash(identity), name: Self.name(identity))
        }
    }

    /// What `find` gives; what it throws is the store's.
    private func found(_ find: () async throws -> Session?) async throws(CommandFailure) -> Session {
        let session: Session?
        do {
            session = try await find()
        } catch {
            throw CommandFailure(ErrorCode.unavailable)
        }
        guard let session else { throw CommandFailure(.unauthorized, "the session is unknown or has ended") }
        return session
    }

    /// What stands in a session's row in the place of a token's hash: the same on every server, and nobody's token's.
    static func hash(_ identity: Identity) -> [UInt8] {
        // Lengths, so that no two pairs of texts give the same bytes.
        let text = "backline subject 1\n\(identity.issuer.utf8.count)\n\(identity.issuer)\(identity.subject)"
        return SHA256Digest(hashing: Array(text.utf8)).bytes
    }

    /// The name of a new session: what the provider says, as much of it as a name may have.
    static func name(_ identity: Identity) -> String {
        let scalars = (identity.name ?? "").unicodeScalars.drop { $0.properties.isWhitespace }
        // Whole characters: half of an emoji or of a syllable may be no name.
        var (start, count) = ("", 0)
        for character in Substring(scalars) {
            count += character.unicodeScalars.count
            guard count <= RoomLimits.memberName.upperBound else { break }
            start.append(character)
        }
        return NameRule.accepted(start, length: RoomLimits.memberName) ?? defaultName
    }
}
