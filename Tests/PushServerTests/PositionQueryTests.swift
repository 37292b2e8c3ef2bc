import RoomWire
import Testing

@testable import PushServer

@Suite struct PositionQueryTests {
    private func position(_ query: String?) throws(CommandFailure) -> Position? {
        try Position(query: query.map { $0[...] })
    }

    @Test(arguments: [nil, "", "&", "x=1", "Epoch=e&SEQ=1", "epochs=e", "x=%20&y"])
    func `a query without the parameters is no position`(query: String?) throws {
        #expect(try position(query) == nil)
    }

    @Test(arguments: [
        ("epoch=e1&seq=7", "e1", 7), ("seq=0&epoch=e1", "e1", 0),
        ("x=y&epoch=a=b&seq=9007199254740991&", "a=b", (1 << 53) - 1),
        ("%65poch=%C3%A9+%20&s%65q=%31", "é+ ", 1),
    ])
    func `a position is read`(query: String, epoch: String, seq: Int) throws {
        #expect(try position(query) == Position(epoch: epoch, seq: seq))
    }

    @Test(arguments: [
        "epoch=e1", "seq=7", "epoch=&seq=7", "epoch&seq=7", "epoch=e1&seq=", "epoch=e1&seq", "epoch=e1&seq=-1",
        "epoch=e1&seq=+7", "epoch=e1&seq=07", "epoch=e1&seq=7.0", "epoch=e1&seq=7x", "epoch=e1&seq=9007199254740992",
        "epoch=e1&seq=99999999999999999999", "epoch=e1&epoch=e1&seq=7", "epoch=e1&seq=7&seq=7",
        "epoch=e1&seq=7&s%65q=7",
        "epoch=%&seq=7", "epoch=%4&seq=7", "epoch=%4g&seq=7", "epoch=%FF&seq=7", "epoch=%ED%A0%80&seq=7", "x=%",
        "epoch=e1&seq=\u{0661}",
    ])
    func `anything else is refused`(query: String) {
        #expect(throws: CommandFailure.self) { try position(query) }
        do throws(CommandFailure) {
            _ = try position(query)
        } catch {
            #expect(error.code == .badRequest)
        }
    }
}
