import NIOCore
import Testing

@testable import PushServer

@Suite struct `Message budget` {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test func `five seconds' worth may come at once, then the rate`() {
        var budget = MessageBudget(perSecond: 10, at: Self.start)
        for _ in 0..<50 { #expect(budget.take(perSecond: 10, at: Self.start) == .accepted) }
        guard case .refused = budget.take(perSecond: 10, at: Self.start) else {
            Issue.record("the 51st message was not refused")
            return
        }
        let later = Self.start + .seconds(1)
        for _ in 0..<10 { #expect(budget.take(perSecond: 10, at: later) == .accepted) }
        #expect(budget.take(perSecond: 10, at: later) != .accepted)
    }

    @Test func `a client that waits as long as told may send a second's worth`() {
        var budget = MessageBudget(perSecond: 10, at: Self.start)
        while budget.take(perSecond: 10, at: Self.start) == .accepted {}
        guard case .refused(let wait) = budget.take(perSecond: 10, at: Self.start) else {
            Issue.record("not refused")
            return
        }
        let later = Self.start + .milliseconds(Int64(wait))
        for _ in 0..<10 { #expect(budget.take(perSecond: 10, at: later) == .accepted) }
    }

    @Test func `a client that goes on after a second's worth of refusals is closed`() {
        var budget = MessageBudget(perSecond: 10, at: Self.start)
        for _ in 0..<50 { _ = budget.take(perSecond: 10, at: Self.start) }
        for _ in 0..<10 {
            let verdict = budget.take(perSecond: 10, at: Self.start)
            #expect(verdict != .accepted && verdict != .exceeded)
        }
        #expect(budget.take(perSecond: 10, at: Self.start) == .exceeded)
    }

    @Test func `refusals are forgotten once the rate has been kept`() {
        var budget = MessageBudget(perSecond: 10, at: Self.start)
        var now = Self.start
        for _ in 0..<100 {
            while budget.take(perSecond: 10, at: now) == .accepted {}
            now = now + .seconds(2)
        }
        #expect(budget.take(perSecond: 10, at: now) == .accepted)
    }

    @Test func `a long message counts as several, and may overdraw once`() {
        var budget = MessageBudget(perSecond: 10, at: Self.start)
        #expect(budget.take(65, perSecond: 10, at: Self.start) == .accepted)
        guard case .refused(let wait) = budget.take(1, perSecond: 10, at: Self.start) else {
            Issue.record("not refused")
            return
        }
        // The overdraft must be repaid as well.
        #expect(wait >= 2_500)
        #expect(budget.take(1, perSecond: 10, at: Self.start + .milliseconds(Int64(wait))) == .accepted)
    }

    @Test func `no limit accepts everything`() {
        var budget = MessageBudget(perSecond: 0, at: Self.start)
        for _ in 0..<1_000 { #expect(budget.take(perSecond: 0, at: Self.start) == .accepted) }
    }
}
