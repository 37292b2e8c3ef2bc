/// Bytes that a stream's events refer to by a name, stored beside the events.
///
/// A name stands for the same bytes for ever: writers derive it from the bytes.
package struct Attachment: Hashable, Sendable {
    /// The name, unique in the stream.
    package var name: String
    /// The bytes.
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// A change of one attachment, written in the transaction of the events that cause it.
///
/// An attachment that becomes needed is always written with its bytes, whether or not the store has it. A deletion of
/// unneeded attachments at the same time therefore loses nothing.
package struct AttachmentChange: Hashable, Sendable {
    /// The attachment's name.
    package var name: String
    /// The bytes to write; nil leaves them as they are, and does nothing if there is no such attachment.
    package var bytes: [UInt8]?
    /// The time since which no event needs the attachment, in milliseconds since the Unix epoch; nil if it is needed.
    package var unneededSince: Int64?

    package init(name: String, bytes: [UInt8]?, unneededSince: Int64? = nil) {
        self.name = name
        self.bytes = bytes
        self.unneededSince = unneededSince
    }
}

extension [AttachmentChange] {
    /// Adds changes that come after these, so that each name still appears once.
    package mutating func join(_ later: [AttachmentChange]) {
        guard !later.isEmpty else { return }
        var places: [String: Int] = [:]
        for index in indices { places[self[index].name] = index }
        for change in later {
            if let place = places[change.name] {
                self[place].bytes = change.bytes ?? self[place].bytes
                self[place].unneededSince = change.unneededSince
            } else {
                places[change.name] = count
                append(change)
            }
        }
    }
}
