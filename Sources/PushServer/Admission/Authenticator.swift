import IdentityTokens
import Logging
import RoomDomain
import RoomService
import RoomWire
import TLSTransport

/// Finds the session behind a request, by a token of this server or of another identity provider.
struct Authenticator: Sendable {
    /// The name of a person for whom the provider gives no name that can be shown.
    private static let defaultName = "Guest"

    let rooms: RoomHost
    /// Verifies the tokens of another provider; nil if only this server's tokens are accepted.
    let tokens: TokenVerifier?
    let logger: Logger

    /// The session behind a request's fields, if it is known without asking the store; nil also if there is none.
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
            identity = try tokens.identity(of: token, at: rooms.clock.wallMilliseconds)
        } catch {
            logger.debug("A JSON Web Token was refused", metadata: ["reason": "\(error)"])
            throw CommandFailure(.unauthorized, "the token is not accepted")
        }
        return try await found {
            try await rooms.sessions.session(of: Self.hash(identity), name: Self.name(identity))
        }
    }

    /// Returns the result of `find`, and turns an error of the store into a failure.
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

    /// The value that a session's row holds in place of a token's hash: the same on every server, and the hash of no
    /// token.
    static func hash(_ identity: Identity) -> [UInt8] {
        // The lengths ensure that no two pairs of texts give the same bytes.
        let text = "backline subject 1\n\(identity.issuer.utf8.count)\n\(identity.issuer)\(identity.subject)"
        return SHA256Digest(hashing: Array(text.utf8)).bytes
    }

    /// The name of a new session: the provider's name for the person, cut to the longest allowed name.
    static func name(_ identity: Identity) -> String {
        let scalars = (identity.name ?? "").unicodeScalars.drop { $0.properties.isWhitespace }
        // Cuts between whole characters: half of an emoji or of a syllable may be no valid name.
        var (start, count) = ("", 0)
        for character in Substring(scalars) {
            count += character.unicodeScalars.count
            guard count <= RoomLimits.memberName.upperBound else { break }
            start.append(character)
        }
        return (try? NameRule.accepted(start, length: RoomLimits.memberName)) ?? defaultName
    }
}
