import RoomWire

/// The path of a socket: for any room, or for one, from a position.
struct AskedPath: Sendable {
    /// The room as the path names it; nil: for any.
    let room: String?
    let position: JSONValue?

    /// Nil for a path that no socket has.
    init?(_ path: String) {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if parts[0] == "/v1/socket" {
            (room, position) = (nil, nil)
            return
        }
        let segments = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count == 5, segments[1] == "v1", segments[2] == "rooms", segments[4] == "socket",
            let room = Self.decoded(segments[3])
        else { return nil }
        var epoch: String?
        var seq: Int64?
        for parameter in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let value = Self.decoded(pair[1]) else { return nil }
            switch pair[0] {
            case "epoch": epoch = value
            case "seq":
                guard let number = Int64(value) else { return nil }
                seq = number
            default: break
            }
        }
        guard (epoch == nil) == (seq == nil) else { return nil }
        self.room = room
        if let epoch, let seq {
            position = .object(
                JSONObject([.init(name: "epoch", value: .string(epoch)), .init(name: "seq", value: .integer(seq))]))
        } else {
            position = nil
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
