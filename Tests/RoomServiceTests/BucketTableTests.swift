import NIOCore
import Testing

@testable import RoomService

@Suite struct `Allowances by key` {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private static func table(_ allowance: Allowance?, capacity: Int = 100) -> BucketTable<Int> {
        BucketTable(allowance, capacity: capacity, at: start)
    }

    @Test func `five times as many may come at once, then the rate`() {
        let table = Self.table(Allowance(perSecond: 10))
        for _ in 0..<50 { #expect(table.take(1, at: Self.start) == nil) }
        #expect(table.take(1, at: Self.start) == 1_100)
        for _ in 0..<10 { #expect(table.take(1, at: Self.start + .seconds(1)) == nil) }
        #expect(table.take(1, at: Self.start + .seconds(1)) != nil)
    }

    @Test func `a use costs what it is said to cost, and the last one may overdraw`() {
        let table = Self.table(Allowance(perSecond: 10))
        #expect(table.take(1, 49, at: Self.start) == nil)
        #expect(table.wait(1, at: Self.start) == nil)
        #expect(table.take(1, 30, at: Self.start) == nil)
        #expect(table.wait(1, at: Self.start) == 4_000)
        #expect(table.take(1, 1, at: Self.start) == 4_000)
        #expect(table.take(1, 1, at: Self.start + .seconds(4)) == nil)
    }

    @Test func `a charge is taken even if nothing is left`() {
        let table = Self.table(Allowance(perSecond: 10))
        #expect(table.isFull(1, at: Self.start))
        table.charge(1, 70, at: Self.start)
        #expect(!table.isFull(1, at: Self.start))
        #expect(table.wait(1, at: Self.start) == 3_100)
        table.charge(1, at: Self.start)
        #expect(table.wait(1, at: Self.start + .seconds(2)) != nil)
        #expect(table.wait(1, at: Self.start + .milliseconds(2_200)) == nil)
        #expect(table.isFull(1, at: Self.start + .seconds(8)))
        // Asking does not add a key.
        #expect(table.wait(2, at: Self.start) == nil)
        #expect(table.count == 1)
    }

    @Test func `what is overdrawn is remembered until it is paid for, however many others come`() {
        let table = Self.table(Allowance(perSecond: 10))
        table.charge(1, 350, at: Self.start)
        table.charge(2, 50, at: Self.start)
        // A turn each five seconds, which is what an empty bucket takes to fill.
        for second in Int64(0)..<30 {
            #expect(table.wait(1, at: Self.start + .seconds(second)) != nil, "after \(second) s")
            table.charge(3, at: Self.start + .seconds(second))
        }
        #expect(table.wait(1, at: Self.start + .seconds(31)) == nil)
        #expect(table.count == 2)
    }

    @Test func `an allowance by the minute may be used at once`() {
        let table = Self.table(Allowance(perMinute: 6, minutesAtOnce: 1))
        let taken = (0..<8).map { _ in table.take(1, at: Self.start) == nil }
        #expect(taken == [true, true, true, true, true, true, false, false])
        #expect(table.take(1, at: Self.start + .seconds(10)) == nil)
        #expect(table.take(1, at: Self.start + .seconds(10)) != nil)
    }

    @Test func `each key has its own allowance`() {
        let table = Self.table(Allowance(perSecond: 1))
        for key in 0..<3 {
            let taken = (0..<6).map { _ in table.take(key, at: Self.start) == nil }
            #expect(taken == [true, true, true, true, true, false])
        }
    }

    @Test func `an allowance by the minute comes back in a minute`() {
        let table = Self.table(Allowance(perMinute: 1))
        for _ in 0..<5 { #expect(table.take(1, at: Self.start) == nil) }
        guard let wait = table.take(1, at: Self.start) else {
            Issue.record("the sixth was not refused")
            return
        }
        #expect((60_000...62_000).contains(wait))
        #expect(table.take(1, at: Self.start + .milliseconds(Int64(wait))) == nil)
        #expect(table.take(1, at: Self.start + .milliseconds(Int64(wait))) != nil)
    }

    @Test func `an unused bucket is forgotten once it is full, and no sooner`() {
        let table = Self.table(Allowance(perSecond: 10))
        for _ in 0..<50 { _ = table.take(1, at: Self.start) }
        // Turned over once: the key and its use are remembered.
        #expect(table.take(2, at: Self.start + .seconds(5)) == nil)
        #expect(table.count == 2)
        _ = table.take(2, at: Self.start + .seconds(10))
        #expect(table.count == 1)
        for _ in 0..<50 { #expect(table.take(1, at: Self.start + .seconds(10)) == nil) }
    }

    @Test func `a key that goes on keeps its bucket however often the table turns`() {
        let table = Self.table(Allowance(perSecond: 1))
        var taken = 0
        for tenths in 0..<1_000 where table.take(1, at: Self.start + .milliseconds(Int64(tenths * 100))) == nil {
            taken += 1
        }
        #expect((100...105).contains(taken))
    }

    @Test func `many keys do not make it grow`() {
        let table = Self.table(Allowance(perSecond: 1))
        for key in 0..<10_000 {
            _ = table.take(key, at: Self.start)
            #expect(table.count <= 200)
        }
    }

    @Test func `a clock that another thread read earlier does not reduce an allowance`() {
        let table = Self.table(Allowance(perSecond: 1))
        for _ in 0..<5 { _ = table.take(1, at: Self.start + .seconds(1)) }
        #expect(table.take(1, at: Self.start) != nil)
        #expect(table.take(1, at: Self.start + .seconds(2)) == nil)
    }

    @Test func `without an allowance nothing is counted`() {
        let table = Self.table(nil)
        for _ in 0..<1_000 { #expect(table.take(1, at: Self.start) == nil) }
        #expect(table.count == 0)
    }
}
