/// What the server says on a socket (protocol, section 3): each function gives the JSON of one text message.
///
/// An answer's `re` is the `id` of the message it answers; it is left out where that had none.
package enum ServerMessage {
    /// A message of a type: its members are those that `writeMembers` writes.
    static func message(
        _ type: String, capacity: Int = 256, _ writeMembers: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        writer.beginObject()
        writer.member("type", type)
        writeMembers(&writer)
        writer.endObject()
        return writer.bytes
    }
}
