import EventStorage
import FoundationEssentials
import RoomDomain
import RoomWire

/// One line of an exported log: a JSON object with one member, whose name is the line's kind.
///
/// The first line is the header. Each room's line is followed by its events, its remembered keys and the waveforms of its
/// tracks. Then come creation keys and sessions. The last line holds the counts, so that a truncated file is detected.
enum ArchiveLine: Equatable {
    /// The header: the format of the export, and the release that wrote it.
    case header(format: Int64, version: String)
    /// A room's head; its directory row and memberships follow from its events.
    case room(ArchivedRoom)
    /// An event of the room before it.
    case event(StoredEvent)
    /// A remembered keyed command of the room before it.
    case key(CommandKey)
    /// A waveform that a track of the room before it has.
    case waveform(Waveform)
    case creation(CreationKey)
    case session(SessionRecord)
    case end(ArchiveCounts)

    /// The format that this program writes.
    static let format: Int64 = 2
    /// The formats that this program reads: format 1 has no waveforms.
    static let readableFormats: ClosedRange<Int64> = 1...2
}

/// The data about a room that precede its events in an export.
struct ArchivedRoom: Hashable, Sendable {
    var id: UUID
    var head: StreamHead
    var checksum: Int64?
}

/// The numbers of an export's rows.
package struct ArchiveCounts: Hashable, Sendable {
    package var rooms = 0
    package var events = 0
    package var keys = 0
    package var waveforms = 0
    package var creations = 0
    package var sessions = 0

    package init() {}
}

// MARK: - Writing

extension ArchiveLine {
    /// The line without its line feed.
    func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        write(to: &writer)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    /// Writes the member and leaves its object open.
    private func write(to writer: inout JSONWriter) {
        switch self {
        case .header(let format, let version):
            writer.begin("backline")
            writer.member("format", format)
            writer.member("version", version)
        case .room(let room):
            writer.begin("room")
            writer.member("id", room.id)
            writer.member("epoch", room.head.epoch)
            writer.member("seq", room.head.version.seq)
            writer.member("keyed", room.head.version.keyed)
            writer.member("checksum", room.checksum.map(hexadecimal))
        case .event(let event):
            writer.begin("event")
            writer.member("seq", event.seq)
            writer.member("at", event.at)
            writer.member("type", event.type)
            writer.member("payload", raw: event.payload.withoutLineBreaks)
            writer.member("checksum", event.checksum.map(hexadecimal))
        case .key(let key):
            writer.begin("key")
            writer.member("ordinal", key.ordinal)
            writer.member("session", key.session)
            writer.member("key", key.key)
            writer.member("fingerprint", hexadecimal(key.fingerprint))
            writer.member("seq", key.seq)
            writer.member("result", raw: key.result?.withoutLineBreaks)
            writer.member("checksum", key.checksum.map(hexadecimal))
        case .waveform(let waveform):
            writer.begin("waveform")
            writer.member("name", waveform.name.description)
            writer.member("data", waveform.text)
        case .creation(let creation):
            writer.begin("creation")
            writer.member("session", creation.session)
            writer.member("key", creation.key)
            writer.member("room", creation.stream)
            writer.member("fingerprint", hexadecimal(creation.fingerprint))
            writer.member("at", creation.at)
        case .session(let session):
            writer.begin("session")
            writer.member("id", session.id)
            writer.member("tokenHash", session.tokenHash.map { hexadecimal(Int64($0)).suffix(2) }.joined())
            writer.member("name", session.name)
            writer.member("createdAt", session.createdAt)
            writer.member("expiresAt", session.expiresAt)
            writer.member("hasEnded", session.hasEnded)
        case .end(let counts):
            writer.begin("end")
            writer.member("rooms", counts.rooms)
            writer.member("events", counts.events)
            writer.member("keys", counts.keys)
            writer.member("waveforms", counts.waveforms)
            writer.member("creations", counts.creations)
            writer.member("sessions", counts.sessions)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func begin(_ kind: StaticString) {
        self.name(kind)
        self.beginObject()
    }
}

extension [UInt8] {
    /// The JSON text on one line: line breaks in it are always white space.
    fileprivate var withoutLineBreaks: [UInt8] {
        contains { $0 == 0x0A || $0 == 0x0D } ? map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } : self
    }
}

// MARK: - Reading

/// The reason why a line is not a line of an export.
struct ArchiveLineFault: Error, Equatable {
    /// A description of the fault.
    let message: String
}

extension ArchiveLine {
    /// The allowed names of fields in lines.
    private static let fields: Set<String> = [
        "format", "version", "id", "epoch", "seq", "keyed", "checksum", "at", "type", "payload", "ordinal", "session",
        "key", "fingerprint", "result", "room", "tokenHash", "name", "createdAt", "expiresAt", "hasEnded", "rooms",
        "events", "keys", "creations", "sessions", "data", "waveforms",
    ]

    /// Reads a line without its line feed.
    init(parsing line: ArraySlice<UInt8>) throws(ArchiveLineFault) {
        let value: JSONValue
        do throws(JSONViolation) {
            value = try JSONValue(parsing: line)
        } catch {
            throw ArchiveLineFault(message: "it is not JSON text: \(error)")
        }
        guard let members = value.object?.members, members.count == 1, let object = members[0].value.object else {
            throw ArchiveLineFault(message: "it is not a JSON object with an object as its only member")
        }
        let fields = ArchiveFields(object: object)
        // A damaged name must not make an optional field look absent.
        if let stranger = object.members.first(where: { !Self.fields.contains($0.name) }) {
            throw ArchiveLineFault(message: "this program does not know the field \"\(stranger.name)\"")
        }
        switch members[0].name {
        case "backline": self = .header(format: try fields.integer("format"), version: try fields.string("version"))
        case "room":
            self = .room(
                ArchivedRoom(
                    id: try fields.uuid("id"),
                    head: StreamHead(
                        epoch: try fields.string("epoch"),
                        version: StreamVersion(seq: try fields.count("seq"), keyed: try fields.count("keyed"))),
                    checksum: try fields.bitsIfPresent("checksum")))
        case "event":
            self = .event(
                StoredEvent(
                    seq: try fields.count("seq"), at: try fields.integer("at"), type: try fields.string("type"),
                    payload: try fields.json("payload"), checksum: try fields.bitsIfPresent("checksum")))
        case "key":
            self = .key(
                CommandKey(
                    ordinal: try fields.count("ordinal"), session: try fields.uuid("session"),
                    key: try fields.string("key"), fingerprint: try fields.bits("fingerprint"),
                    seq: try fields.count("seq"), result: object["result"] == nil ? nil : try fields.json("result"),
                    checksum: try fields.bitsIfPresent("checksum")))
        case "waveform":
            guard let waveform = Waveform(text: try fields.string("data")) else {
                throw ArchiveLineFault(message: "data must be \(Waveform.byteCount) bytes in base64url")
            }
            guard waveform.name.description == (try fields.string("name")) else {
                throw ArchiveLineFault(message: "the data must have the hash \(waveform.name), which is their name")
            }
            self = .waveform(waveform)
        case "creation":
            self = .creation(
                CreationKey(
                    session: try fields.uuid("session"), key: try fields.string("key"),
                    stream: try fields.uuid("room"), fingerprint: try fields.bits("fingerprint"),
                    at: try fields.integer("at")))
        case "session":
            self = .session(
                SessionRecord(
                    id: try fields.uuid("id"), tokenHash: try fields.octets("tokenHash"),
                    name: try fields.string("name"), createdAt: try fields.integer("createdAt"),
                    expiresAt: try fields.integer("expiresAt"), hasEnded: try fields.bool("hasEnded")))
        case "end":
            var counts = ArchiveCounts()
            counts.rooms = try fields.count("rooms")
            counts.events = try fields.count("events")
            counts.keys = try fields.count("keys")
            // Format 1 does not count them.
            counts.waveforms = object["waveforms"] == nil ? 0 : try fields.count("waveforms")
            counts.creations = try fields.count("creations")
            counts.sessions = try fields.count("sessions")
            self = .end(counts)
        case let kind: throw ArchiveLineFault(message: "this program does not know lines of the kind \"\(kind)\"")
        }
    }
}

/// The fields of a line, by name and type.
private struct ArchiveFields {
    let object: JSONObject

    private func require<Value>(
        _ name: String, _ expected: String, _ value: Value?
    ) throws(ArchiveLineFault) -> Value {
        guard let value else { throw ArchiveLineFault(message: "\(name) must be \(expected)") }
        return value
    }

    func string(_ name: String) throws(ArchiveLineFault) -> String {
        try require(name, "a string", object[name]?.string)
    }

    func integer(_ name: String) throws(ArchiveLineFault) -> Int64 {
        try require(name, "an integer", object[name]?.integer)
    }

    func count(_ name: String) throws(ArchiveLineFault) -> Int {
        try require(name, "an integer from 0 on", object[name]?.integer.flatMap { $0 < 0 ? nil : Int($0) })
    }

    func bool(_ name: String) throws(ArchiveLineFault) -> Bool {
        try require(name, "true or false", object[name]?.bool)
    }

    func uuid(_ name: String) throws(ArchiveLineFault) -> UUID {
        let text = object[name]?.string ?? ""
        // UUID's own initializer accepts more than UUIDs.
        let uuid = UUID(uuidString: text).flatMap { $0.uuidString == text.uppercased() ? $0 : nil }
        return try require(name, "a UUID", uuid)
    }

    /// 64 bits in hexadecimal.
    func bits(_ name: String) throws(ArchiveLineFault) -> Int64 {
        try require(
            name, "16 hexadecimal digits",
            object[name]?.string.flatMap { $0.utf8.count == 16 ? UInt64($0, radix: 16) : nil }.map {
                Int64(bitPattern: $0)
            })
    }

    func bitsIfPresent(_ name: String) throws(ArchiveLineFault) -> Int64? {
        object[name] == nil ? nil : try bits(name)
    }

    /// 32 bytes in hexadecimal.
    func octets(_ name: String) throws(ArchiveLineFault) -> [UInt8] {
        let digits = Array((object[name]?.string ?? "").utf8)
        let octets = stride(from: 0, to: digits.count - 1, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
        }
        return try require(name, "64 hexadecimal digits", digits.count == 64 && octets.count == 32 ? octets : nil)
    }

    /// The text of a JSON value.
    func json(_ name: String) throws(ArchiveLineFault) -> [UInt8] {
        let value = try require(name, "there", object[name])
        var writer = JSONWriter(capacity: 128)
        writer.value(value)
        return writer.bytes
    }
}
