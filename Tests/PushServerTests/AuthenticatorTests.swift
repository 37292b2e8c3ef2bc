import EventStorage
import IdentityTokens
import Logging
import NIOPosix
import RoomService
import RoomWire
import Synchronization
import Testing

@testable import PushServer

@Suite struct `Sessions of another provider's subjects` {
    @Test func `a subject's hash stands for one issuer and one subject`() {
        let pairs = [("", "ab"), ("a", "b"), ("ab", ""), ("1\na", "b"), ("a", "1\nb"), ("b", "a")]
        let hashes = Set(pairs.map { Authenticator.hash(Identity(issuer: $0.0, subject: $0.1, name: nil)) })
        #expect(hashes.count == pairs.count)
        #expect(hashes.allSatisfy { $0.count == 32 })
    }

    @Test(arguments: [
        ("Ana", "Ana"), ("  Ana ", "Ana"), (nil, "Guest"), ("", "Guest"), ("a\u{7}b", "Guest"),
        (String(repeating: "é", count: 50), String(repeating: "é", count: 40)),
        // Cut between characters, never within one.
        (String(repeating: "a", count: 38) + "👩‍👩‍👧‍👦", String(repeating: "a", count: 38)),
        ("Ana\u{202E}", "Ana"), ("\u{3164}", "Guest"), ("فاطمه\u{200C}زهرا", "فاطمه\u{200C}زهرا"),
    ])
    func `a name is what the provider says, as far as it may be one`(claim: String?, name: String) {
        #expect(Authenticator.name(Identity(issuer: "", subject: "s", name: claim)) == name)
    }

    /// The seconds of a day at whose start a server was started.
    private static let start = 1_732_200_000.0
    /// Tokens that 32 bytes of 7 have signed: one that ends an hour after the start, and one for an hour a day later.
    private static let old =
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEiLCJleHAiOjE3MzIyMDM2MDB9.DcIiF7uit81i2SLw_jkJghhgr2dyncaYJzoFQlAitGc"
    private static let fresh =
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEiLCJuYmYiOjE3MzIyODY0MDAsImV4cCI6MTczMjI5MDAwMH0."
        + "INYsq2LUD5GatGJGnG1f93I5W7pOBobWDoDbjQYcPN0"

    /// The time of events stays at the start, or has run ahead of the machine's.
    @Test(arguments: [0.0, 172_800])
    func `a clock that was a day slow and is corrected judges the next token, whatever time events have`(
        ahead: Double
    ) async throws {
        let wall = Mutex(Self.start)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let rooms = RoomHost(
            store: MemoryEventStore(), settings: RoomHostSettings(),
            loops: [MultiThreadedEventLoopGroup.singleton.next()],
            clock: ServerClock(
                milliseconds: { (Self.start + ahead) * 1_000 }, wall: { wall.withLock { $0 * 1_000 } }),
            logger: logger)
        let verifier = try TokenVerifier(keys: [.secret(Array(repeating: 7, count: 32))])
        let authenticator = Authenticator(rooms: rooms, tokens: verifier, logger: logger)
        func isTaken(_ token: String) async -> Bool {
            do throws(CommandFailure) {
                _ = try await authenticator.session(authorization: "Bearer \(token)", cookies: [])
                return true
            } catch {
                #expect(error.code == .unauthorized)
                return false
            }
        }
        #expect(await isTaken(Self.old))
        #expect(await !isTaken(Self.fresh))
        wall.withLock { $0 += 86_400 }
        #expect(await !isTaken(Self.old))
        #expect(await isTaken(Self.fresh))
    }
}
