import RoomDomain
import RoomWire
import Testing

@Suite struct PoolCursorTests {
    private static let places: [PoolPlace] = [
        .title(Array("blue monday".utf8), Sample.track(7)), .title([], Sample.track(.max)),
        .title([0xFF, 0], Sample.track(1)),
        .votes(3, requestedSeq: 57, Sample.track(2)), .noVotes(Array("\u{E9}".utf8), Sample.track(1)),
        .added(Sample.track(9)),
    ]

    @Test(arguments: places) func `a cursor is read as the position from which it was made`(place: PoolPlace) {
        #expect(PoolPlace(cursor: place.cursor) == place)
        #expect(place.cursor.utf8.allSatisfy { $0 == UInt8(ascii: ".") || ($0 | 0x20).isLetterOrDigit })
    }

    @Test(
        arguments: [
            "", ".", "a", "a.", "a.0", "a.-1", "a.x", "a.1.2", "a.9223372036854775808", "b.1", "v.1.2", "v.1.2.3.4",
            "v.0.2.3", "v.1..3", "t.1", "t.1.6", "t.1.zz", "t.1.AB", "t.x.61", "t.0.61", "n.1.61.61", "t.1.61 ",
            "q.0193",
        ]) func `a text that is not a cursor is refused`(text: String)
    {
        #expect(PoolPlace(cursor: text) == nil)
    }

    @Test func `a truncated cursor does not trap`() {
        for place in Self.places {
            let text = place.cursor
            for length in 0...text.count { _ = PoolPlace(cursor: String(text.prefix(length))) }
        }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
