import FoundationEssentials
import NIOCore
import RoomDomain
import Testing

@testable import RoomService

@Suite struct `Shares of signals` {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private static let ana = SessionID(UUID())

    /// Sends 40 signals of 64 KiB together within two seconds; returns how many are accepted.
    private static func negotiate(_ shares: SignalShares, with peer: SessionID) -> Int {
        let sizes = Array(repeating: 20_000, count: 2) + Array(repeating: 668, count: 38)
        return sizes.enumerated().count { index, size in
            shares.charge(size, to: ana, for: peer, at: start + .milliseconds(50 * Int64(index))) == nil
        }
    }

    @Test func `a negotiation fits for eight pairs at once`() {
        let shares = SignalShares(perSecond: RoomHostSettings().shares.maximumSignalsPerSecond)
        for _ in 0..<8 { #expect(Self.negotiate(shares, with: SessionID(UUID())) == 40) }
    }

    @Test func `a pair's share is less than its sender's, and a refusal says when to try again`() throws {
        let shares = SignalShares(perSecond: 40)
        let (ben, cyd) = (SessionID(UUID()), SessionID(UUID()))
        var let_ = 0
        while shares.charge(0, to: Self.ana, for: ben, at: Self.start) == nil { let_ += 1 }
        #expect(let_ == 50)
        // A refused signal is not charged to the sender.
        let wait = try #require(shares.charge(0, to: Self.ana, for: ben, at: Self.start))
        for _ in 0..<50 { #expect(shares.charge(0, to: Self.ana, for: cyd, at: Self.start) == nil) }
        let later = Self.start + .milliseconds(Int64(wait))
        #expect(shares.charge(0, to: Self.ana, for: ben, at: later) == nil)
    }

    @Test func `long signals cost more`() {
        let shares = SignalShares(perSecond: 200)
        let ben = SessionID(UUID())
        // 250 at once for a pair, 65 each; the last one may overdraw.
        let outcomes = (0..<6).map { _ in shares.charge(65_536, to: Self.ana, for: ben, at: Self.start) == nil }
        #expect(outcomes == [true, true, true, true, false, false])
    }

    @Test func `without a limit nothing is refused`() {
        let shares = SignalShares(perSecond: 0)
        for _ in 0..<2_000 { #expect(shares.charge(65_536, to: Self.ana, for: Self.ana, at: Self.start) == nil) }
    }
}

@Suite struct `Signals on their way` {
    private let ben = SessionID(UUID())

    @Test func `waiting signals are charged until they are sent`() {
        let backlog = SignalBacklog(maximum: 100)
        var charges = [backlog.charge(60, to: ben), backlog.charge(40, to: ben)]
        #expect(charges.allSatisfy { $0 != nil } && backlog.count(of: ben) == 100)
        #expect(backlog.charge(1, to: ben) == nil)
        #expect(backlog.charge(1, to: SessionID(UUID())) != nil)
        charges.removeFirst()
        #expect(backlog.count(of: ben) == 40)
        #expect(backlog.charge(60, to: ben) != nil)
        charges.removeAll()
        #expect(backlog.count(of: ben) == 0)
    }

    @Test func `one signal may always be on its way, however long`() {
        let backlog = SignalBacklog(maximum: 100)
        let long = backlog.charge(1_000, to: ben)
        #expect(long != nil)
        #expect(backlog.charge(1, to: ben) == nil)
    }
}
