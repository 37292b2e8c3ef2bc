import FoundationEssentials
import RoomDomain
import RoomWire
import Testing

/// Messages between servers, byte for byte and truncated.
struct NodeNoticeTests {
    private let room = RoomID("0193503f-1234-7abc-8def-0123456789ab") ?? RoomID(UUID())
    private let session = SessionID("0193503f-0000-7000-8000-00000000000b") ?? SessionID(UUID())

    private func parsed(_ text: String) -> NodeEnvelope? {
        NodeEnvelope(parsing: Array(text.utf8))
    }

    @Test func `notices are read as they were written`() {
        let notices: [NodeNotice] = [.moved([room: 57]), .sessionEnded(session), .moved([:])]
        let text = NodeEnvelope.encode(sender: "node-1", notices: notices.map { $0.encoded() })
        #expect(
            String(decoding: text, as: UTF8.self) == #"{"v":1,"from":"node-1","notices":["#
                + #"{"type":"moved","rooms":{"0193503f-1234-7abc-8def-0123456789ab":57}},"#
                + #"{"type":"sessionEnded","session":"0193503f-0000-7000-8000-00000000000b"},"#
                + #"{"type":"moved","rooms":{}}]}"#)
        #expect(NodeEnvelope(parsing: text) == NodeEnvelope(sender: "node-1", notices: notices))
    }

    @Test func `notices of another version of the program are left out`() {
        #expect(parsed(#"{"v":2,"from":"a","notices":[]}"#) == nil)
        let text = #"{"v":1,"from":"a","more":1,"notices":[{"type":"new","x":1},{"type":"moved","rooms":{},"y":2}]}"#
        #expect(parsed(text) == NodeEnvelope(sender: "a", notices: [.moved([:])]))
    }

    @Test(arguments: [
        "", "{", "1", "null", "[]", "{}", #"{"v":1}"#, #"{"v":1,"from":"a"}"#, #"{"v":1,"from":1,"notices":[]}"#,
        #"{"v":"1","from":"a","notices":[]}"#, #"{"v":1,"from":"a","notices":{}}"#,
    ])
    func `a text that is not a message is ignored`(text: String) {
        #expect(parsed(text) == nil)
    }

    @Test(arguments: [
        "1", "null", "{}", #"{"type":1}"#, #"{"type":"moved"}"#, #"{"type":"moved","rooms":[]}"#,
        #"{"type":"moved","rooms":{"x":1}}"#,
        #"{"type":"moved","rooms":{"0193503f-1234-7abc-8def-0123456789ab":"1"}}"#,
        #"{"type":"sessionEnded"}"#, #"{"type":"sessionEnded","session":"x"}"#,
    ])
    func `a notice that lacks something is left out, and those beside it are read`(notice: String) {
        let text = #"{"v":1,"from":"a","notices":[\#(notice),{"type":"moved","rooms":{}}]}"#
        #expect(parsed(text) == NodeEnvelope(sender: "a", notices: [.moved([:])]))
    }
}
