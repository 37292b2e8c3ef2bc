import EventStorage
import FoundationEssentials
import NIOCore
import Testing

@testable import RoomService

/// When a room's appends let those of other servers in.
@Suite struct AppendsUnderWayTests {
    private static let start = RoomParts.start

    /// What comes after an append, with another one waiting.
    private func next(of appends: borrowing AppendsUnderWay) -> AppendQueue.Next? {
        let append = StreamAppend(stream: UUID(), expected: .start, events: [])
        _ = appends.queue?.add(append, commands: 1)
        _ = appends.queue?.begin()
        _ = appends.queue?.add(append, commands: 1)
        defer { _ = appends.queue?.begin().map { _ in appends.queue?.end(.success(.appended)) } }
        return appends.queue?.end(.success(.appended))
    }

    @Test func `a queue rests once in a while if there are other servers`() {
        var appends = AppendsUnderWay()
        _ = appends.begin(AppendQueue { _, _ in }, at: Self.start)
        let late = Self.start + AppendsUnderWay.busyTime + .nanoseconds(1)
        var asked = 0
        func hasPeers(_ has: Bool) -> Bool {
            asked += 1
            return has
        }
        appends.letOthersIn(at: Self.start + AppendsUnderWay.busyTime, hasPeers: hasPeers(true))
        #expect(asked == 0, "it has not been busy for long")
        #expect(next(of: appends) == .append)
        appends.letOthersIn(at: late, hasPeers: hasPeers(false))
        #expect(next(of: appends) == .append)
        appends.letOthersIn(at: late, hasPeers: hasPeers(true))
        #expect(next(of: appends) == .rest)
        appends.letOthersIn(at: late + .milliseconds(1), hasPeers: hasPeers(true))
        #expect(next(of: appends) == .append, "it has just rested")
    }

    @Test func `a queue that has ended is not the present one`() {
        var appends = AppendsUnderWay()
        let first = appends.begin(AppendQueue { _, _ in }, at: Self.start)
        #expect(appends.has(first) && appends.queue === first)
        appends.end()
        #expect(!appends.has(first) && appends.queue == nil)
        let second = appends.begin(AppendQueue { _, _ in }, at: Self.start)
        #expect(appends.has(second) && !appends.has(first))
    }

    @Test func `a queue that was overtaken begins no append`() {
        var appends = AppendsUnderWay()
        let queue = appends.begin(AppendQueue { _, _ in }, at: Self.start)
        _ = queue.add(StreamAppend(stream: UUID(), expected: .start, events: []), commands: 1)
        appends.overtake()
        #expect(queue.begin() == nil)
    }
}
